"""Topics and correlations as exact probabilities: checked, and with sums of 1 to the last digits."""

from __future__ import annotations

from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]


def checked_topics(given: Any) -> Floats:
    """(T, N): a copy that cannot be changed, each row a distribution over words."""
    topics = np.array(given, dtype=np.float64)
    if topics.ndim != 2 or 0 in topics.shape:
        raise ValueError("topics must be a table of topics x words, with at least one of each")
    _refuse_negative("topics", topics)
    if not np.allclose(topics.sum(axis=1), 1, atol=1e-4):
        raise ValueError("each topic must sum to 1: divide each row by its sum")
    return _divided_by(topics.sum(axis=1, keepdims=True), topics)


def checked_correlations(given: Any, n_topics: int) -> Floats:
    """(T, T): a copy that cannot be changed, symmetric, sums to 1; None gives those of Dirichlet(1/T, ..., 1/T)."""
    equal = np.full(n_topics, 1 / n_topics)
    alpha = np.array(dirichlet_correlations(equal) if given is None else given, dtype=np.float64)
    if alpha.shape != (n_topics, n_topics):
        raise ValueError(f"correlations must be {n_topics} x {n_topics}, not {alpha.shape}")
    _refuse_negative("correlations", alpha)
    if not np.allclose(alpha, alpha.T, atol=1e-6 * alpha.max()) or not np.isclose(alpha.sum(), 1, atol=1e-4):
        raise ValueError("correlations must be symmetric and sum to 1")
    alpha = (alpha + alpha.T) / 2
    return _divided_by(alpha.sum(), alpha)


def dirichlet_correlations(a: Floats) -> Floats:
    """alpha = E[theta theta'] = (a a' + diag(a)) / (A (A + 1)) for theta ~ Dirichlet(a), A = sum(a)."""
    alpha: Floats = (np.outer(a, a) + np.diag(a)) / (a.sum() * (a.sum() + 1))
    return alpha


def _refuse_negative(name: str, array: Floats) -> None:
    if not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"{name} must be finite, non-negative numbers")


def _divided_by(total: Any, array: Floats) -> Floats:
    exact = np.allclose(total, 1, rtol=0, atol=1e-12)  # then a copy of a mixture has the same bits
    result = array if exact else array / total
    result.setflags(write=False)
    return result
