"""Shares of given topics in a set of documents: a concave fit to the word margin, with a jackknife over folds.

Summed over its second word, the model M = sum_ij alpha_ij mu_i(u) mu_j(v) becomes sum_t s_t mu_t(u), where s are the
row sums of alpha: the shares. So with the topics held fixed, the shares maximise

    L(s) = sum_u m(u) log sum_t s_t mu_t(u),   s >= 0,  sum s = 1,   m the row sums of Mhat,

which is concave in T numbers, where alpha has T^2. Nothing is assumed about how topics are spread over documents, so
the shares converge to the truth as documents are added; means of document posteriors do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky, solve_triangular

from fdmix.effects.margins import Floats, Margin

EM_STEPS = 10  # cheap steps before the first Newton step
MAX_NEWTON_STEPS = 100  # about 3 are enough where topics fit, 20 where a topic must grow from nearly nothing
TOLERANCE = 1e-6  # of L, in nats per token: the most that the shares may be below the maximum
SUFFICIENT = 1e-4  # of the gain that the slope promises, which a step must reach
SMALLEST_STEP = 1e-6  # of a Newton step
LARGEST_ROOT = 1e15  # of a word's weight: its square and sums of these stay within float32
SMOOTHING = 1e-3  # of the average shares, in the weights only: so no word has weight infinity
SPARSE_BELOW = 0.2  # the share of non-zero topic entries below which sparse products are faster
RIDGE = 1e-5  # of each topic's information, which is summed in float32: equal topics do not stop the others


@dataclass(frozen=True, eq=False)
class ShareEstimate:
    """Shares of topics in a set of documents.

    shares : (T,) the most likely ones: not negative, they sum to 1
    estimates : (T,) without the bound at zero: unbiased, for intervals and tests
    replicates : (F, T) estimates without one fold each, for the folds that have documents
    """

    shares: Floats
    estimates: Floats
    replicates: Floats

    @property
    def errors(self) -> Floats:
        """Standard errors by the jackknife: var = (F - 1) / F sum_f (s_f - mean)^2."""
        n = len(self.replicates)
        if n < 2:
            return np.full(self.shares.size, np.nan)
        spread = ((self.replicates - self.replicates.mean(axis=0)) ** 2).sum(axis=0)
        return np.sqrt((n - 1) / n * spread)

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the errors."""
        return max(len(self.replicates) - 1, 0)


class ShareFit:
    """Fits the shares of given topics: prepared once, then used for many sets of documents.

    topics : (T, words); start : where to begin, and the average for smoothing the weights
    """

    def __init__(self, topics: Floats, start: Floats) -> None:
        self.start = np.maximum(start, 1e-6 / start.size)
        self.start = self.start / self.start.sum()
        sparse = np.count_nonzero(topics) < SPARSE_BELOW * topics.size
        self.topics: Any = sp.csr_array(topics) if sparse else topics
        self.totals = topics.sum(axis=1)  # below 1 if words of the topics are not among those that were counted
        self.scale = _ratio(np.ones_like(self.totals), self.totals)

    def fit(self, margin: Margin) -> ShareEstimate:
        """The most likely shares, the unbiased ones, and those without each fold."""
        m = margin.whole / margin.whole.sum()
        s = self.start
        for _ in range(EM_STEPS):
            s = s * (self.topics @ _ratio(m, s @ self.topics)) * self.scale
        for _ in range(MAX_NEWTON_STEPS):
            q = s @ self.topics
            slope = self.topics @ _ratio(m, q) - self.totals
            if (slope * self.scale).max() < TOLERANCE:  # L is concave: its maximum is at most so much above
                break
            s = s + self._newton_step(s, m, q, slope)
        s = s / s.sum()
        return self._with_replicates(s, m, margin, *self._weights(s))

    def _newton_step(self, s: Floats, m: Floats, q: Floats, slope: Floats) -> Floats:
        """A step to s >= 0 that increases F(s) = sum_u m(u) log q(u) - sum_u q(u) with q = P' s.

        slope : of F at s. F has its maximum where L has it, and needs no constraint on the sum of s. Steps are
        shortened until F increases: where topics do not fit, whole steps could jump back and forth for ever.
        """
        from scipy.optimize import nnls  # noqa: PLC0415  (slow to import)

        root = self._root(_ratio(m, q**2))
        whole = nnls(root.T, root.T @ s + solve_triangular(root, slope, lower=True))[0] - s
        change, promised, fraction = whole @ self.topics, float(slope @ whole), 1.0
        while self._gain(m, q, fraction * change) < SUFFICIENT * fraction * promised and fraction > SMALLEST_STEP:
            fraction /= 2
        return np.asarray(fraction * whole)

    @staticmethod
    def _gain(m: Floats, q: Floats, change: Floats) -> float:
        """F(s + step) - F(s), where the step changes q; -inf where a word that occurs would have no chance."""
        relative = _ratio(change, q)
        if relative[m > 0].min(initial=0.0) <= -1:
            return -np.inf
        return float(m[m > 0] @ np.log1p(relative[m > 0]) - change.sum())

    def _with_replicates(self, s: Floats, m: Floats, margin: Margin, weights: Floats, root: Floats) -> ShareEstimate:
        """s~ = (P D P')^-1 P D m with D = 1 / (P' s): linear in m, so that leaving a fold out is a subtraction."""
        everything = np.vstack([m, margin.folds])
        scores = self.topics @ (weights * everything).T
        linear = solve_triangular(root.T, solve_triangular(root, scores, lower=True), lower=False).T
        masses = margin.folds.sum(axis=1)
        used = np.flatnonzero(masses > 0)
        total = linear[1:].sum(axis=0)
        left = masses.sum() - masses[used]
        possible = left > 0
        replicates = (total - linear[1:][used][possible]) / left[possible, None]
        sums = replicates.sum(axis=1, keepdims=True)
        return ShareEstimate(s, linear[0] / linear[0].sum(), replicates / sums)

    def _weights(self, s: Floats) -> tuple[Floats, Floats]:
        """(D, the lower Cholesky root of P D P'), D = 1 / q at the words of q = P' s, slightly smoothed."""
        q = ((1 - SMOOTHING) * s + SMOOTHING * self.start) @ self.topics
        weights = _ratio(np.ones_like(q), q)
        return weights, self._root(weights)

    def _root(self, weights: Floats) -> Floats:
        """The lower Cholesky root of P W P' for weights of words.

        The diagonal is increased in proportion to itself: the entry of a topic may be millions of times that of
        another one, where the topic is nearly absent and alone has a word that occurs.
        """
        if isinstance(self.topics, np.ndarray):
            scaled = self.topics.astype(np.float32) * np.minimum(np.sqrt(weights), LARGEST_ROOT).astype(np.float32)
            information = (scaled @ scaled.T).astype(np.float64)
        else:
            scaled = self.topics.copy()
            scaled.data *= weights[scaled.indices]
            information = (scaled @ self.topics.T).toarray()
        diagonal = information.diagonal()
        information[np.diag_indices_from(information)] += RIDGE * np.maximum(diagonal, RIDGE * diagonal.max())
        return cholesky(information, lower=True)

    def linear_map(self, s: Floats | None = None) -> Floats:
        """(T, words): W with E[W dhat] = theta for the word frequencies dhat of a document with topics theta."""
        weights, root = self._weights(self.start if s is None else s)
        topics = self.topics if isinstance(self.topics, np.ndarray) else self.topics.toarray()
        scores = topics * weights
        return solve_triangular(root.T, solve_triangular(root, scores, lower=True), lower=False)


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
