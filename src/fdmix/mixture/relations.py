"""Which topics occur together, from alpha = E[theta theta']: lift and correlation."""

from __future__ import annotations

from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]


def lift(alpha: Floats) -> Floats:
    """alpha_ij / (p_i p_j), p the topics' shares: above 1 where two topics occur together more than by chance.

    0 for a topic that never occurs.

    >>> lift(np.array([[0.4, 0.1], [0.1, 0.4]]))
    array([[1.6, 0.4],
           [0.4, 1.6]])
    """
    shares = alpha.sum(axis=1)
    chance = np.outer(shares, shares)
    return np.divide(alpha, chance, out=np.zeros_like(chance), where=chance > 0)


def topic_correlation(alpha: Floats) -> Floats:
    """The correlation of theta_i and theta_j over documents; their covariance is alpha_ij - p_i p_j.

    NaN for a topic that has the same share in every document.

    >>> topic_correlation(np.array([[0.4, 0.1], [0.1, 0.4]])).round(12)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    shares = alpha.sum(axis=1)
    covariance = alpha - np.outer(shares, shares)
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0))
    scale = np.outer(deviation, deviation)
    return np.divide(covariance, scale, out=np.full_like(scale, np.nan), where=scale > 0)


def related_topics(alpha: Floats, topic: int, n: int = 3) -> list[int]:
    """Up to n other topics that occur together with this one more than by chance, the largest lift first."""
    together = lift(alpha)[topic]
    together[topic] = -1
    return [int(t) for t in np.argsort(-together, kind="stable")[:n] if together[t] > 1]
