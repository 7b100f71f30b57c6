"""Moments of resampled documents: each fold counts as often as a Poisson number says. No text is read again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.moments.moments import Moments
from fdmix.moments.weighted import WeightedMoments

Integers = np.ndarray[Any, np.dtype[np.int64]]


def poisson_draws(n_folds: int, n_draws: int, rng: np.random.Generator) -> Integers:
    """(draws, folds): how often each fold counts; Poisson numbers with mean 1, at least two folds in a draw."""
    draws = rng.poisson(1.0, (n_draws, n_folds))
    for draw in draws:
        while np.count_nonzero(draw) < 2:
            draw[:] = rng.poisson(1.0, n_folds)
    return draws


@dataclass(frozen=True, eq=False, repr=False)
class ResampledMoments(WeightedMoments):
    """Moments in which folds count several times, and those of one fold to judge a fit by, as `Moments` have them.

    n_tokens : as many as tell as much, (sum_k w_k n_k)^2 / sum_k w_k^2 n_k if a fold of n_k tokens counts w_k times
        (Kish). Copies of a fold tell nothing new, and a fit shrinks by the noise that it expects of this number
    n_documents : of all folds, as often as they count
    judges : the moments of the fold that is left out of `rest`
    rest : the moments of the other folds
    """

    n_documents: int = 0
    judges: ResampledMoments | None = None
    rest: ResampledMoments | None = None


class ResampledFolds:
    """The folds of moments, laid out so that a weighted sum of them is one round over their pairs."""

    def __init__(self, moments: Moments) -> None:
        self.moments = moments
        whole = WeightedMoments.from_moments(moments).sums
        self.pattern = whole
        keys = _keys(whole)
        self.folds = []
        for fold in moments.folds:
            sums = WeightedMoments.from_moments(fold).sums
            self.folds.append((np.searchsorted(keys, _keys(sums)), sums.data))

    def sums(self, draw: Any) -> ResampledMoments:
        """The moments in which fold k counts draw[k] times.

        The first fold that was drawn is the one to judge by. All its copies are left out of what a fit learns from
        first, because a fold that is on both sides would vouch for itself.
        """
        draw = np.asarray(draw)
        first = int(np.flatnonzero(draw)[0])
        alone = np.arange(draw.size) == first
        judges, rest = self._sums(np.where(alone, 1, 0)), self._sums(np.where(alone, 0, draw))
        return replace(self._sums(draw), judges=judges, rest=rest)

    def _sums(self, draw: Any) -> ResampledMoments:
        data, folds = np.zeros(self.pattern.nnz), self.moments.folds
        for times, (places, values) in zip(draw, self.folds, strict=True):
            if times:
                data[places] += times * values
        sums = sp.csr_array((data, self.pattern.indices.copy(), self.pattern.indptr.copy()), self.pattern.shape)
        sums.eliminate_zeros()
        frequencies = sum(float(times) * fold.document_frequencies for times, fold in zip(draw, folds, strict=True))
        tokens = np.array([fold.n_tokens for fold in folds], float)
        n_tokens = float((draw @ tokens) ** 2 / (draw**2 @ tokens)) if draw @ tokens else 0.0
        n_documents = sum(int(times) * fold.n_documents for times, fold in zip(draw, folds, strict=True))
        return ResampledMoments(
            sums, np.asarray(frequencies), n_tokens, self.moments.vocabulary, weighting=self.moments.weighting,
            n_documents=n_documents,
        )  # fmt: skip


def _keys(table: sp.csr_array) -> Integers:
    """The number row x N + column of each stored entry, rising."""
    rows = np.repeat(np.arange(table.shape[0], dtype=np.int64), np.diff(table.indptr))
    return np.asarray(rows * table.shape[1] + table.indices)
