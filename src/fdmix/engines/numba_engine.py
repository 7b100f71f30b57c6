"""The fast engine for CPUs: float32, tiles and lists, dense or sparse topics, the same bits on any number of threads.

Every accumulator (a block of H, a row of P' H, a part of L) is owned by one task, and how the work is cut into
tasks does not depend on the number of threads. Matrix products inside a task run on one thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.engines.buffers import Buffers, padded
from fdmix.engines.contract import LARGEST_FACTOR, Engine, Expectation, State
from fdmix.engines.tiling import Tiling
from fdmix.kernels import dense_pass, em_step, sparse_pass
from fdmix.kernels.sparse_pass import STRIP
from fdmix.mixture.mixture import Mixture
from fdmix.moments.pair_sums import rearranged
from fdmix.runtime.threads import Workers, one_blas_thread

ROWS = 256  # words that a task of the EM step takes
CHUNK = 512  # words in one matrix product
JOINT_ROWS = 96  # topics in one product of P' H
TILES_AT_A_TIME = 8
STRIPS_AT_A_TIME = 16
SPARSE_SHARE = 0.14  # of topics that are active on average: below this the sparse pass is faster
SMALL_PASS = 3e7  # multiply-adds that are not worth a second thread
SMALL_SPARSE_PASS = 100_000  # pairs
SMALL_STEP = 100_000  # entries


@dataclass(frozen=True, eq=False)
class _NumbaState(State):
    """P, padded, words by falling frequency; alpha, float64; and how many entries of P are not zero."""

    n_active: int


class NumbaEngine(Engine):
    """See the module's docstring."""

    def __init__(self, mhat: sp.csr_array, n_topics: int, n_threads: int | None = None) -> None:
        self.workers = Workers(n_threads)
        self.buffers = Buffers()
        self.n_words, self.n_topics = mhat.shape[0], n_topics
        self.order = np.argsort(-np.asarray(mhat.sum(axis=1)).ravel(), kind="stable")
        self.mhat = rearranged(mhat, self.order)

    def place(self, mixture: Mixture) -> State:
        """Words by falling frequency; rows and columns padded with zeros."""
        self.n_topics = mixture.n_topics  # which may change between runs of passes
        P = padded(self.n_words, self.n_topics, max(self.dense.block, STRIP))
        P[: self.n_words, : self.n_topics] = mixture.topics[:, self.order].T
        P[P < em_step.SMALLEST] = 0
        return _NumbaState(P, mixture.correlations, int(np.count_nonzero(P)))

    def mixture(self, state: State) -> Mixture:
        """Words in their own order; topics normalised in float64."""
        topics = np.empty((len(state.correlations), self.n_words))
        topics[:, self.order] = state.topics[: self.n_words, : len(topics)].T
        topics /= topics.sum(axis=1, keepdims=True)
        return Mixture(topics, state.correlations)

    def active(self, state: State) -> int:
        """Counted by the EM step."""
        assert isinstance(state, _NumbaState)
        return state.n_active

    def expect(self, state: State, *, joint: bool = True) -> Expectation:
        """The dense pass, or the sparse one once it is faster; that one has the joint for nothing."""
        assert isinstance(state, _NumbaState)
        alpha = self._alpha(state)
        sparse = state.n_active < SPARSE_SHARE * self.n_words * self.n_topics
        with one_blas_thread:
            if sparse:
                likelihood, lift, both = self._sparse_pass(state.topics, alpha)
            else:
                likelihood, lift, both = self._dense_pass(state.topics, alpha, joint)
        return Expectation(
            likelihood, lift, both[: self.n_topics, : self.n_topics].astype(np.float64) if joint else None
        )

    def gradient(self, state: State) -> tuple[Any, Any]:
        """dL/dmu = 2 (H alpha)', dL/dalpha = P' H: by the dense pass, which knows all entries of H."""
        assert isinstance(state, _NumbaState)
        everything = _NumbaState(state.topics, state.correlations, state.topics.size)
        expectation = self.expect(everything)
        d_mu = np.empty((self.n_topics, self.n_words))
        d_mu[:, self.order] = 2 * expectation.lift[: self.n_words, : self.n_topics].T
        return d_mu, expectation.joint

    def maximise(self, state: State, expectation: Expectation, toll: float = 0.0, power: float = 1.0) -> State:
        """Three rounds over the rows: pay the toll, over-relax, normalise."""
        P, lift, out = state.topics, expectation.lift, self.buffers.like(state.topics)
        relaxation = (np.float32(power), np.float32(LARGEST_FACTOR))
        totals = self._by_rows(lambda begin, end, t: em_step.pay(begin, end, P, lift, np.float32(toll), out, t))
        for lost in np.flatnonzero(totals[: self.n_topics] == 0):  # it pays no toll
            out[:, lost] = np.where(P[:, lost] > 0, P[:, lost] * lift[:, lost], 0)
            totals[lost] = out[:, lost].sum()
        scale = _inverse(totals)
        totals = self._by_rows(lambda begin, end, t: em_step.relax(begin, end, P, scale, *relaxation, out, t))
        scale = _inverse(totals)
        n_active = sum(self._each_rows(lambda begin, end: em_step.normalise(begin, end, scale, out)))
        return _NumbaState(out, self._correlations(state, expectation, power), n_active)

    def _alpha(self, state: State) -> Any:
        """alpha in float32, padded with zeros."""
        alpha = padded(self.n_topics, self.n_topics, 8)
        alpha[: self.n_topics, : self.n_topics] = state.correlations
        return alpha

    def _correlations(self, state: State, expectation: Expectation, power: float) -> Any:
        """alpha <- alpha (alpha P'H / alpha)^power, symmetric, summing to 1; it is small, so in float64."""
        alpha = state.correlations
        if expectation.joint is None:
            return alpha
        factor = (expectation.joint + expectation.joint.T) / 2
        factor /= np.sum(alpha * factor)
        relaxed = alpha * factor * np.minimum(factor, LARGEST_FACTOR) ** (power - 1)
        return relaxed / relaxed.sum()

    def _each_rows(self, work: Any) -> list[Any]:
        n_rows = self.dense.rows
        cuts = [*range(0, n_rows, ROWS), n_rows]
        small = n_rows * self.n_topics < SMALL_STEP
        return self.workers.map(lambda rows: work(*rows), list(pairwise(cuts)), small)

    def _by_rows(self, work: Any) -> Any:
        """Column totals of `work(begin, end, totals)`, added up in the rows' order."""

        def some(begin: int, end: int) -> Any:
            totals = np.zeros(-(-self.n_topics // 8) * 8)
            work(begin, end, totals)
            return totals

        return np.sum(self._each_rows(some), axis=0)

    def _dense_pass(self, P: Any, alpha: Any, joint: bool) -> tuple[float, Any, Any]:
        """Tiles by matrix products, lists by the fused kernel: (L, H alpha, P' H or None).

        Without the joint, H alpha = R A comes from the same loops with A and P in each other's place.
        """
        tiling, workers, block = self.dense, self.workers, self.dense.block
        small = tiling.n_pairs * P.shape[1] < SMALL_PASS
        A, H = (self.buffers.like(P) for _ in range(2))
        ratios = self.buffers.like(tiling.tiles)
        chunks = [slice(begin, begin + CHUNK) for begin in range(0, len(P), CHUNK)]
        workers.map(lambda rows: np.matmul(P[rows], alpha, out=A[rows]), chunks, small)

        def divide(task: tuple[int, int, int]) -> float:
            row, first, last = task
            x, r = tiling.panel(tiling.tiles, row), tiling.panel(ratios, row)
            M = workers.scratch(block, block)
            likelihood = 0.0
            for column in range(first, last):
                np.matmul(A[row * block : (row + 1) * block], P[column * block : (column + 1) * block].T, out=M)
                mirror = tiling.panel(ratios, column)
                part = dense_pass.ratio_tile(
                    x, r, column * block, M, M.view(np.uint32), mirror, row * block, row != column
                )
                likelihood += part if row == column else 2 * part
            return likelihood

        left, right = (A, P) if joint else (P, A)

        def collect(row: int) -> None:
            np.matmul(tiling.panel(ratios, row), right[: tiling.widths[row] * block], out=H[row * block :][:block])

        def lists(band: int, other: int) -> float:
            pairs = tiling.lists(band, other), tiling.columns, tiling.values
            return float(dense_pass.pair_lists(band * tiling.band, tiling.band, left, right, H, *pairs))

        upper = [
            (row, first, min(first + TILES_AT_A_TIME, tiling.widths[row]))
            for row in range(tiling.n_blocks)
            for first in range(row, tiling.widths[row], TILES_AT_A_TIME)
        ]
        likelihood = sum(workers.map(divide, upper, small)) if upper else 0.0
        workers.map(collect, range(tiling.n_blocks), small)
        likelihood += sum(workers.map_pairs(lists, tiling.n_bands, small))

        if not joint:
            return likelihood, H, None
        lift = self.buffers.like(P)

        workers.map(lambda rows: np.matmul(H[rows], alpha, out=lift[rows]), chunks, small)
        half = np.zeros(alpha.shape, np.float32)  # P' H = P' R P is symmetric

        def joint_rows(first: int) -> None:
            rows = slice(first, first + JOINT_ROWS)
            np.matmul(P[:, rows].T, H[:, first:], out=half[rows, first:])

        workers.map(joint_rows, range(0, len(alpha), JOINT_ROWS), small)
        return likelihood, lift, np.triu(half) + np.triu(half, 1).T

    def _sparse_pass(self, P: Any, alpha: Any) -> tuple[float, Any, Any]:
        """Each pair once, at the active topics of its rarer word: (L, H alpha where P is not zero, P' H)."""
        tiling, workers, topics = self.sparse, self.workers, _ActiveTopics.of(P, self.n_words)
        small = tiling.n_pairs < SMALL_SPARSE_PASS
        n_topics = alpha.shape[0]
        H = self.buffers.like(P)
        entries = np.zeros(topics.value.size, np.float32)
        likelihood = 0.0
        # A strip of words adds to the lift of all rarer words. Strips run some at a time, each with its own part,
        # and the parts are added up in order: the same bits on any number of threads, in bounded memory.
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
                sparse_pass.strip_affinity(begin, alpha, topics.first, topics.topic, topics.value, a, at)
                tile_part = sparse_pass.strip_tiles(
                    begin, width, tiling.offsets[index], tiling.tiles,
                    topics.first, topics.topic, topics.value, at, ht, part,
                )  # fmt: skip
                list_part = sparse_pass.strip_lists(
                    begin, a, ht, tiling.lists(index), tiling.columns, tiling.values, alpha,
                    topics.first, topics.topic, topics.value, H, part,
                )  # fmt: skip
                return float(tile_part + list_part)

            likelihood += sum(workers.map(strip, strips, small))
            begin = int(begins[0])
            cuts = np.linspace(begin, entries.size, 9).astype(np.int64).tolist()

            def add_up(cut: tuple[int, int], offsets: Any = offsets, parts: Any = parts) -> None:
                sparse_pass.sum_parts(*cut, offsets, parts, entries)

            workers.map(add_up, list(pairwise(cuts)), small)
        half = np.empty((n_topics, n_topics), np.float32)
        workers.map(
            lambda t: sparse_pass.topic_rows(t, min(t + 32, n_topics), half, H, *topics.by_topic()),
            range(0, n_topics, 32),
            small,
        )
        lift = self.buffers.like(P)
        sparse_pass.spread(topics.first, topics.topic, entries, 0, self.n_words, lift)
        return likelihood, lift, half.astype(np.float64) + half.T

    @cached_property
    def dense(self) -> Tiling:
        """The cut for dense topics."""
        return Tiling.for_dense_topics(self.mhat, self.n_topics)

    @cached_property
    def sparse(self) -> Tiling:
        """The cut for sparse topics."""
        return Tiling.for_sparse_topics(self.mhat)


@dataclass(frozen=True, eq=False)
class _ActiveTopics:
    """The non-zero entries of P by word: topic[e], value[e] for first[u] <= e < first[u + 1], padded to fours."""

    first: Any
    topic: Any
    value: Any
    n_topics: int

    @classmethod
    def of(cls, P: Any, n_words: int) -> _ActiveTopics:
        """Collect them, in two rounds."""
        first = np.zeros(len(P) + 1, np.int64)
        size = sparse_pass.pack_rows(P, n_words, first, np.empty(0, np.uint32), np.empty(0, np.float32), True)
        topic, value = np.empty(size, np.uint32), np.empty(size, np.float32)
        sparse_pass.pack_rows(P, n_words, first, topic, value, False)
        return cls(first, topic, value, P.shape[1])

    def by_topic(self) -> tuple[Any, Any, Any]:
        """The same entries by topic: (first, word, value)."""
        return self._by_topic

    @cached_property
    def _by_topic(self) -> tuple[Any, Any, Any]:
        first = np.zeros(self.n_topics + 1, np.int64)
        nothing = np.empty(0, np.uint32), np.empty(0, np.float32)
        size = sparse_pass.pack_columns(self.first, self.topic, self.value, self.n_topics, first, *nothing, True)
        word, value = np.empty(size, np.uint32), np.empty(size, np.float32)
        sparse_pass.pack_columns(self.first, self.topic, self.value, self.n_topics, first, word, value, False)
        return first, word, value


def _inverse(totals: Any) -> Any:
    """1 / totals, and 0 where there is nothing."""
    return np.divide(1, totals, out=np.zeros_like(totals), where=totals > 0).astype(np.float32)
