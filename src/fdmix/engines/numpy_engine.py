"""The reference engine: slow and obviously right, in float64, with each formula on one line."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.engines.contract import LARGEST_FACTOR, Engine, Expectation, State
from fdmix.mixture.mixture import Mixture
from fdmix.mixture.pair_likelihood import log_likelihood_and_ratios
from fdmix.moments.pair_matrix import PairMatrix, as_pair_matrix


class NumpyEngine(Engine):
    """P is an (N, T) float64 array."""

    def __init__(self, mhat: PairMatrix | sp.csr_array, n_topics: int, n_threads: int | None = None) -> None:
        self.mhat = as_pair_matrix(mhat).matrix

    def place(self, mixture: Mixture) -> State:
        """P = topics'."""
        return State(mixture.topics.T, mixture.correlations)

    def mixture(self, state: State) -> Mixture:
        """topics = P'."""
        return Mixture(state.topics.T, state.correlations)

    def expect(self, state: State, *, joint: bool = True) -> Expectation:
        """R = Mhat / M, H = R P, topic_factors = H alpha, joint = P' H."""
        P, alpha = state.topics, state.correlations
        log_likelihood, ratios = log_likelihood_and_ratios(P, alpha, self.mhat)
        H = ratios @ P
        return Expectation(log_likelihood, H @ alpha, P.T @ H if joint else None)

    def maximise(self, state: State, expectation: Expectation, shrinkage: float = 0.0, power: float = 1.0) -> State:
        """mu <- [mu (H alpha) - shrinkage]+, alpha <- alpha (P' H), both over-relaxed and normalised."""
        P, alpha = state.topics, state.correlations
        counts = P * expectation.topic_factors
        shrunk = np.maximum(counts - shrinkage, 0)
        best = counts == counts.max(axis=1, keepdims=True)
        kept = np.where((shrunk.sum(axis=1, keepdims=True) == 0) & best, counts, shrunk)
        kept = np.where(kept.sum(axis=0) == 0, counts, kept)
        if expectation.joint is not None:
            alpha = _symmetric(_overrelaxed(alpha, _symmetric(alpha * expectation.joint), power))
        return State(_normalised_columns(_overrelaxed(P, _normalised_columns(kept), power)), alpha)

    def gradient(self, state: State) -> tuple[Any, Any]:
        """dL/dmu = 2 (H alpha)', dL/dalpha = P' H."""
        expectation = self.expect(state)
        return 2 * expectation.topic_factors.T, expectation.joint

    def active(self, state: State) -> int:
        """The non-zero entries of P."""
        return int(np.count_nonzero(state.topics))


def _overrelaxed(old: Any, new: Any, power: float) -> Any:
    """old (new / old)^power = new (new / old)^(power - 1); zeros stay zeros."""
    factor = np.divide(new, old, out=np.ones_like(new), where=old > 0)
    return new * np.minimum(factor, LARGEST_FACTOR) ** (power - 1)


def _normalised_columns(table: Any) -> Any:
    total = table.sum(axis=0)
    return table / np.where(total > 0, total, 1)


def _symmetric(alpha: Any) -> Any:
    alpha = (alpha + alpha.T) / 2
    return alpha / alpha.sum()
