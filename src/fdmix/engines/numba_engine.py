"""The fast engine for CPUs, in float32. Its results are the same bits on any number of threads.

For this, every accumulator (a block of H, a row of P' H, a part of L) belongs to one task, the cut of the work into
tasks does not depend on the number of threads, and matrix products inside a task run on one thread.

Constants come from the measurements in docs/evidence/performance.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.engines.buffers import Buffers, padded
from fdmix.engines.contract import LARGEST_FACTOR, Engine, Expectation, State
from fdmix.engines.dense_tiles import add_dense_tiles
from fdmix.engines.tiling import Tiling, dense_block_of
from fdmix.kernels import dense_pass, em_step, sparse_pass
from fdmix.kernels.sparse_pass import STRIP
from fdmix.mixture.mixture import Mixture
from fdmix.moments.pair_matrix import PairMatrix, as_pair_matrix
from fdmix.runtime.memory import give_back_freed
from fdmix.runtime.threads import Workers, one_blas_thread

ROWS = 256  # words in one task of the EM step
CHUNK = 512  # words in one matrix product; 1,024 and 2,640 are no faster
JOINT_ROWS = 96  # topics in one matrix product of the dense pass's P' H
SPARSE_JOINT_ROWS = 32  # topics in one task of the sparse pass's P' H
STRIPS_AT_A_TIME = 16  # strips whose parts are held in memory at once by the sparse pass
SUM_TASKS = 8  # tasks that add up these parts
SPARSE_SHARE = 0.14  # share of non-zero topic entries below which the sparse pass is faster than the dense one
# Below these sizes, threads cost more than they save:
SMALL_PASS = 3e7  # multiply-adds of a dense pass
SMALL_SPARSE_PASS = 100_000  # pairs of a sparse pass
SMALL_STEP = 100_000  # topic entries of an EM step
TWO_TILINGS = 10_000_000  # stored pairs up to which the tilings of both passes are kept; they take about 200 MB


@dataclass(frozen=True, eq=False)
class _NumbaState(State):
    """P, padded, with words by falling frequency; alpha in float64; and the number of non-zero entries of P."""

    n_active: int


class NumbaEngine(Engine):
    """Passes by compiled loops: a dense pass, and a sparse one once few topic entries are left."""

    def __init__(self, mhat: PairMatrix | sp.csr_array, n_topics: int, n_threads: int | None = None) -> None:
        self.workers = Workers(n_threads)
        self.buffers = Buffers()
        self.n_words, self.n_topics = mhat.shape[0], n_topics
        self.pairs = as_pair_matrix(mhat)
        self.cut_for: int | None = None  # topics of the first mixture; those of later ones may be fewer
        self.order = np.argsort(-self.pairs.row_sums, kind="stable")
        self._tilings: dict[str, Tiling] = {}

    def place(self, mixture: Mixture) -> State:
        """The mixture with words by falling frequency, rows and columns padded with zeros."""
        if mixture.n_topics != self.n_topics:  # merging topics changes it between passes
            self.n_topics = mixture.n_topics
            self.buffers.forget()
        self.cut_for = self.cut_for or self.n_topics
        P = padded(self.n_words, self.n_topics, max(dense_block_of(self.n_words), STRIP))
        P[: self.n_words, : self.n_topics] = mixture.topics[:, self.order].T
        P[P < em_step.SMALLEST] = 0
        return _NumbaState(P, mixture.correlations, int(np.count_nonzero(P)))

    def mixture(self, state: State) -> Mixture:
        """The state with words in the caller's order and topics normalised in float64."""
        topics = np.empty((len(state.correlations), self.n_words))
        topics[:, self.order] = state.topics[: self.n_words, : len(topics)].T
        topics /= topics.sum(axis=1, keepdims=True)
        return Mixture(topics, state.correlations)

    def active(self, state: State) -> int:
        """The count that the EM step made."""
        assert isinstance(state, _NumbaState)
        return state.n_active

    def topics_of(self, state: State, numbers: Any) -> Any:
        """Some columns of P, normalised in float64."""
        topics = np.empty((len(numbers), self.n_words))
        topics[:, self.order] = state.topics[: self.n_words, numbers].T
        topics /= topics.sum(axis=1, keepdims=True)
        return topics

    def assembled(self, old: State, new: State, numbers: Any, topics: Any) -> State:
        """By a copy of P in which some columns change."""
        P = self.buffers.like(old.topics)
        P[:] = old.topics
        some = topics[:, self.order].T.astype(np.float32)
        some[some < em_step.SMALLEST] = 0
        P[: self.n_words, numbers] = some
        return _NumbaState(P, new.correlations, int(np.count_nonzero(P)))

    def expect(self, state: State, *, joint: bool = True) -> Expectation:
        """By the dense pass, or by the sparse one where it is faster; the sparse one always computes P' H."""
        assert isinstance(state, _NumbaState)
        alpha = self._alpha(state)
        sparse = state.n_active < SPARSE_SHARE * self.n_words * self.n_topics
        with one_blas_thread:
            if sparse:
                likelihood, factors, both = self._sparse_pass(state.topics, alpha)
            else:
                likelihood, factors, both = self._dense_pass(state.topics, alpha, joint)
        return Expectation(
            likelihood, factors, both[: self.n_topics, : self.n_topics].astype(np.float64) if joint else None
        )

    def gradient(self, state: State) -> tuple[Any, Any]:
        """dL/dmu = 2 (H alpha)' and dL/dalpha = P' H, by the dense pass, which computes all entries of H alpha."""
        assert isinstance(state, _NumbaState)
        everything = _NumbaState(state.topics, state.correlations, state.topics.size)
        expectation = self.expect(everything)
        d_mu = np.empty((self.n_topics, self.n_words))
        d_mu[:, self.order] = 2 * expectation.topic_factors[: self.n_words, : self.n_topics].T
        return d_mu, expectation.joint

    def maximise(self, state: State, expectation: Expectation, shrinkage: float = 0.0, power: float = 1.0) -> State:
        """By three rounds over the rows: shrink, over-relax, normalise."""
        P, factors, out = state.topics, expectation.topic_factors, self.buffers.like(state.topics)
        relaxation = (np.float32(power), np.float32(LARGEST_FACTOR))
        taken = np.float32(shrinkage)
        totals = self._column_totals(lambda begin, end, t: em_step.shrink(begin, end, P, factors, taken, out, t))
        for lost in np.flatnonzero(totals[: self.n_topics] == 0):  # a topic that lost all its words is not shrunk
            out[:, lost] = np.where(P[:, lost] > 0, P[:, lost] * factors[:, lost], 0)
            totals[lost] = out[:, lost].sum()
        scale = _inverse(totals)
        totals = self._column_totals(
            lambda begin, end, t: em_step.overrelax(begin, end, P, scale, *relaxation, out, t)
        )
        scale = _inverse(totals)
        n_active = sum(self._map_rows(lambda begin, end: em_step.normalise(begin, end, scale, out)))
        return _NumbaState(out, self._correlations(state, expectation, power), n_active)

    def _alpha(self, state: State) -> Any:
        """alpha in float32, padded with zeros."""
        alpha = padded(self.n_topics, self.n_topics, 8)
        alpha[: self.n_topics, : self.n_topics] = state.correlations
        return alpha

    def _correlations(self, state: State, expectation: Expectation, power: float) -> Any:
        """alpha <- alpha (P' H)^power, symmetric and summing to 1, in float64: alpha is small."""
        alpha = state.correlations
        if expectation.joint is None:
            return alpha
        factor = (expectation.joint + expectation.joint.T) / 2
        factor /= np.sum(alpha * factor)
        relaxed = alpha * factor * np.minimum(factor, LARGEST_FACTOR) ** (power - 1)
        return relaxed / relaxed.sum()

    def _map_rows(self, work: Any) -> list[Any]:
        """[work(begin, end), ...] for ranges of rows, in threads."""
        n_rows = self._n_rows
        cuts = [*range(0, n_rows, ROWS), n_rows]
        small = n_rows * self.n_topics < SMALL_STEP
        return self.workers.map(lambda rows: work(*rows), list(pairwise(cuts)), small)

    def _column_totals(self, work: Any) -> Any:
        """The sum, in the rows' order, of the column totals that `work(begin, end, totals)` adds up for some rows."""

        def some(begin: int, end: int) -> Any:
            totals = np.zeros(-(-self.n_topics // 8) * 8)
            work(begin, end, totals)
            return totals

        return np.sum(self._map_rows(some), axis=0)

    def _dense_pass(self, P: Any, alpha: Any, joint: bool) -> tuple[float, Any, Any]:
        """(L, H alpha, P' H or None): dense tiles by matrix products, the other pairs by the kernel for lists.

        Without P' H, the same loops compute H alpha = R A when A and P change places.
        """
        tiling, workers = self.dense, self.workers
        small = tiling.n_pairs * P.shape[1] < SMALL_PASS
        A, H = (self.buffers.like(P) for _ in range(2))
        chunks = [slice(begin, begin + CHUNK) for begin in range(0, len(P), CHUNK)]
        workers.map(lambda rows: np.matmul(P[rows], alpha, out=A[rows]), chunks, small)

        left, right = (A, P) if joint else (P, A)

        def lists(band: int, other: int) -> float:
            at = band * tiling.band, tiling.band
            part = float(dense_pass.add_pair_lists(*at, left, right, H, *tiling.lists(band, other)))
            tiling.forget(band)
            return part

        likelihood = add_dense_tiles(tiling, workers, self.buffers, A, P, right, H, small=small)
        likelihood += sum(workers.map_pairs(lists, tiling.n_bands, small))

        if not joint:
            return likelihood, H, None
        factors = self.buffers.like(P)

        workers.map(lambda rows: np.matmul(H[rows], alpha, out=factors[rows]), chunks, small)
        half = np.zeros(alpha.shape, np.float32)  # P' H = P' R P is symmetric

        def joint_rows(first: int) -> None:
            rows = slice(first, first + JOINT_ROWS)
            np.matmul(P[:, rows].T, H[:, first:], out=half[rows, first:])

        workers.map(joint_rows, range(0, len(alpha), JOINT_ROWS), small)
        return likelihood, factors, np.triu(half) + np.triu(half, 1).T

    def _sparse_pass(self, P: Any, alpha: Any) -> tuple[float, Any, Any]:
        """(L, H alpha where P is not zero, P' H): each pair once, at the active topics of its rarer word."""
        tiling, workers, topics = self.sparse, self.workers, _ActiveTopics.of(P, self.n_words)
        small = tiling.n_pairs < SMALL_SPARSE_PASS
        n_topics = alpha.shape[0]
        H = self.buffers.like(P)
        entries = np.zeros(topics.value.size, np.float32)
        likelihood = 0.0
        # A strip of words adds to H alpha of all rarer words. A few strips run at a time, which bounds the memory.
        # Each writes its own part, and the parts are added up in order, so that the bits do not depend on the
        # threads.
        for first in range(0, tiling.n_blocks, STRIPS_AT_A_TIME):
            strips = range(first, min(first + STRIPS_AT_A_TIME, tiling.n_blocks))
            begins = topics.first[np.array(strips) * STRIP]
            sizes = topics.value.size - begins
            offsets = np.stack([np.cumsum(sizes) - sizes, begins], axis=1)
            parts = np.zeros(int(sizes.sum()), np.float32)

            def strip(index: int, offsets: Any = offsets, parts: Any = parts, first: int = first) -> float:
                begin, width = index * STRIP, tiling.widths[index] * STRIP
                work = workers.scratch(3, STRIP * n_topics)
                a, at, ht = work[0].reshape(STRIP, -1), work[1].reshape(-1, STRIP), work[2].reshape(-1, STRIP)
                part = parts[offsets[index - first, 0] :]
                sparse_pass.strip_times_alpha(begin, alpha, topics.first, topics.topic, topics.value, a, at)
                tile_part = sparse_pass.strip_tiles(
                    begin, width, tiling.offsets[index] - begin * STRIP, tiling.tiles,
                    topics.first, topics.topic, topics.value, at, ht, part,
                )  # fmt: skip
                list_part = sparse_pass.strip_lists(
                    begin, a, ht, *tiling.lists(index), alpha,
                    topics.first, topics.topic, topics.value, H, part,
                )  # fmt: skip
                tiling.forget_tiles(index)
                tiling.forget(index)
                return float(tile_part + list_part)

            likelihood += sum(workers.map(strip, strips, small))
            begin = int(begins[0])
            cuts = np.linspace(begin, entries.size, SUM_TASKS + 1).astype(np.int64).tolist()

            def add_up(cut: tuple[int, int], offsets: Any = offsets, parts: Any = parts) -> None:
                sparse_pass.sum_parts(*cut, offsets, parts, entries)

            workers.map(add_up, list(pairwise(cuts)), small)
        half = np.empty((n_topics, n_topics), np.float32)
        workers.map(
            lambda t: sparse_pass.joint_rows(t, min(t + SPARSE_JOINT_ROWS, n_topics), half, H, *topics.by_topic()),
            range(0, n_topics, SPARSE_JOINT_ROWS),
            small,
        )
        factors = self.buffers.like(P)
        sparse_pass.scatter(topics.first, topics.topic, entries, 0, self.n_words, factors)
        return likelihood, factors, half.astype(np.float64) + half.T

    @property
    def dense(self) -> Tiling:
        """The pairs, cut for the dense pass."""
        n_topics, n_threads = self.cut_for or self.n_topics, self.workers.n_threads
        return self._tiling("dense", lambda: Tiling.for_dense_topics(self.pairs, self.order, n_topics, n_threads))

    @property
    def sparse(self) -> Tiling:
        """The pairs, cut for the sparse pass."""
        return self._tiling(
            "sparse", lambda: Tiling.for_sparse_topics(self.pairs, self.order, self.workers.n_threads)
        )

    def release(self) -> None:
        """Free the tilings and the buffers of passes."""
        self._tilings.clear()
        self.buffers.forget()
        give_back_freed()

    def _tiling(self, name: str, make: Callable[[], Tiling]) -> Tiling:
        """The tiling of this name. Of many pairs, one tiling is kept at a time: the kind of pass rarely changes."""
        if name not in self._tilings:
            if self.pairs.n_stored > TWO_TILINGS:
                self.release()
            self._tilings[name] = make()
            give_back_freed()  # what sorting the pairs took
        return self._tilings[name]

    @property
    def _n_rows(self) -> int:
        """Rows of P, padding included."""
        block = dense_block_of(self.n_words)
        return -(-self.n_words // block) * block


@dataclass(frozen=True, eq=False)
class _ActiveTopics:
    """The non-zero entries of P by word: P[u, topic[e]] = value[e] for first[u] <= e < first[u + 1].

    The entries of a word are padded with zero values to a multiple of four.
    """

    first: Any
    topic: Any
    value: Any
    n_topics: int

    @classmethod
    def of(cls, P: Any, n_words: int) -> _ActiveTopics:
        """The entries of P: one round over P counts them, another one lists them."""
        first = np.zeros(len(P) + 1, np.int64)
        size = sparse_pass.active_by_word(P, n_words, first, np.empty(0, np.uint32), np.empty(0, np.float32), True)
        topic, value = np.empty(size, np.uint32), np.empty(size, np.float32)
        sparse_pass.active_by_word(P, n_words, first, topic, value, False)
        return cls(first, topic, value, P.shape[1])

    def by_topic(self) -> tuple[Any, Any, Any]:
        """The same entries by topic: (first, word, value)."""
        return self._by_topic

    @cached_property
    def _by_topic(self) -> tuple[Any, Any, Any]:
        first = np.zeros(self.n_topics + 1, np.int64)
        nothing = np.empty(0, np.uint32), np.empty(0, np.float32)
        size = sparse_pass.active_by_topic(self.first, self.topic, self.value, self.n_topics, first, *nothing, True)
        word, value = np.empty(size, np.uint32), np.empty(size, np.float32)
        sparse_pass.active_by_topic(self.first, self.topic, self.value, self.n_topics, first, word, value, False)
        return first, word, value


def _inverse(totals: Any) -> Any:
    """1 / totals, and 0 where a total is 0."""
    return np.divide(1, totals, out=np.zeros_like(totals), where=totals > 0).astype(np.float32)
