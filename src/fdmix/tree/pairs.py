"""The word pairs that a tree is judged by: those of the mixture's words, all of them or a sample."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.vocabulary import positions
from fdmix.kernels import merge_costs
from fdmix.mixture.mixture import Mixture
from fdmix.moments.contract import PairMoments
from fdmix.runtime.threads import Workers

TASK = 1 << 15  # word pairs in one task
TILE_BITS = 11  # pairs are listed by tiles of 2,048 x 2,048 words, whose parts of d and h fit into the L1 cache


def pairs_of_mixture(mixture: Mixture, moments: PairMoments) -> tuple[sp.csr_array, int]:
    """(Mhat over the words of the mixture, how many of these the moments do not have)."""
    mhat = moments.matrix
    if mixture.vocabulary is None or moments.vocabulary is None:
        if mixture.n_words != moments.n_words:
            raise ValueError(
                f"the model has {mixture.n_words:,} words and the moments {moments.n_words:,}, without names to "
                "match them by"
            )
        return mhat, 0
    if mixture.vocabulary == moments.vocabulary:
        return mhat, 0
    where = positions(mixture.vocabulary, moments.vocabulary)
    known = np.flatnonzero(where >= 0)
    chosen = sp.csr_array((np.ones(known.size), (known, where[known])), shape=(mixture.n_words, moments.n_words))
    table = sp.csr_array(chosen @ mhat @ chosen.T)
    table.sort_indices()
    if not table.nnz:
        raise ValueError("the moments have no pair of the model's words: were they counted from another text?")
    table.data /= table.data.sum()
    return table, mixture.n_words - known.size


@dataclass(frozen=True, eq=False)
class ListedPairs:
    """Word pairs (row, column) with their weights, which sum to 1, and what the model says, M[row, column];
    all pairs, or a sample of them.

    A pair that the model gives no chance is left out: its log-likelihood is -inf before and after any merge, or
    merging would gain infinitely much.
    """

    row: Any
    column: Any
    weight: Any
    model: Any
    is_sampled: bool = False

    @classmethod
    def of(cls, mhat: sp.csr_array, mixture: Mixture, most: int, workers: Workers) -> ListedPairs:
        """All pairs of Mhat, (u, v) and (v, u) as one; or a sample in proportion to Mhat, if there are more than
        `most`.
        """
        row, column, weight = _all_pairs(mhat)
        is_sampled = weight.size > most
        if is_sampled:
            chosen, weight = _systematic(weight, most)
            row, column = row[chosen], column[chosen]
        left = np.ascontiguousarray((mixture.correlations @ mixture.topics).T, np.float32)
        right = np.ascontiguousarray(mixture.topics.T, np.float32)
        model = np.empty(row.size, np.float32)
        workers.map(
            lambda part: merge_costs.pair_probabilities(*part, row, column, left, right, model), _tasks(row.size)
        )
        known = np.flatnonzero(model > 0)
        known = known[np.argsort(_tiles(row[known], column[known]), kind="stable")]
        if not known.size:
            raise ValueError("the model gives none of the word pairs a chance: were they counted from another text?")
        return cls(row[known], column[known], weight[known], model[known], is_sampled)

    def sample(self, most: int) -> ListedPairs:
        """At most this many of the pairs, in proportion to their weights."""
        if self.weight.size <= most:
            return ListedPairs(self.row, self.column, self.weight, self.model.copy())
        chosen, weight = _systematic(self.weight, most)
        return ListedPairs(self.row[chosen], self.column[chosen], weight, self.model[chosen])

    def costs(self, d: Any, h: Any, workers: Workers) -> Any:
        """sum weight log(M / M') of each merge by itself."""

        def work(part: tuple[int, int]) -> Any:
            gains = np.zeros(len(d))
            merge_costs.log_ratios(*part, self.row, self.column, self.weight, self.model, d, h, gains)
            return gains

        tasks = _tasks(self.weight.size)
        return -np.sum(workers.map(work, tasks, small=len(tasks) < 2), axis=0)

    def merge(self, d: Any, h: Any, workers: Workers) -> Any:
        """Do these merges, one after the other: `model` changes. Returns sum weight log M after each of them.

        The result does not depend on the number of threads: tasks are the same, and are added up in their order.
        """
        starts = np.flatnonzero(np.diff(self.row, prepend=-1, append=-1))
        runs = np.unique(np.searchsorted(starts, [*range(0, self.row.size, TASK), self.row.size])).tolist()

        def work(part: tuple[int, int]) -> Any:
            found = np.zeros(len(d))
            merge_costs.likelihoods(*part, starts, self.row, self.column, self.weight, self.model, d, h, found)
            return found

        tasks = list(pairwise(runs))
        return np.sum(workers.map(work, tasks, small=len(tasks) < 2), axis=0)


def _tiles(row: Any, column: Any) -> Any:
    """The number of the tile that each pair lies in."""
    n = (int(max(row.max(initial=0), column.max(initial=0))) >> TILE_BITS) + 1
    return (row >> TILE_BITS) * n + (column >> TILE_BITS)


def _tasks(n: int) -> list[tuple[int, int]]:
    return [(begin, min(begin + TASK, n)) for begin in range(0, n, TASK)]


def _all_pairs(mhat: sp.csr_array) -> tuple[Any, Any, Any]:
    """Rows, columns and weights of the pairs u <= v; the weight of u < v counts (v, u), too."""
    row = np.repeat(np.arange(mhat.shape[0], dtype=np.int32), np.diff(mhat.indptr))
    kept = np.flatnonzero(mhat.indices >= row)
    row, column = row[kept], mhat.indices[kept].astype(np.int32)
    weight = mhat.data[kept].astype(np.float32)
    weight[row < column] *= 2
    return row, column, weight


def _systematic(weight: Any, n: int) -> tuple[Any, Any]:
    """(places, new weights) of a sample in proportion to the weights: n marks at equal distances on their sum.

    Nothing is random. Heavy pairs are always in; how often a mark meets a pair is its new weight.
    """
    reached = np.cumsum(weight, dtype=np.float64)
    marks = (np.arange(n) + 0.5) * (reached[-1] / n)
    places, times = np.unique(np.searchsorted(reached, marks, side="right"), return_counts=True)
    return np.minimum(places, weight.size - 1), (times * (reached[-1] / n)).astype(np.float32)
