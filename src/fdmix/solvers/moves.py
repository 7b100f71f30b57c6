"""Moves of a whole mixture that need no pass over the pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from fdmix.mixture.mixture import Mixture
from fdmix.runtime.threads import in_threads

Floats = np.ndarray[Any, np.dtype[np.float64]]
FLOOR = 0.02  # what unmixing leaves at least of an entry: EM may revive it, the toll may end it
BLUR_QUANTILE = 0.10
BLUR_WORDS = 200
LARGEST_BLUR = 0.9  # row sums below 1 keep I + B well conditioned


def merging_costs(topics: Floats, alpha: Floats) -> Floats:
    """p_s p_t / (p_s + p_t) (1 - sum_u sqrt(mu_s(u) mu_t(u))): what it costs to join topics s and t, roughly."""
    shares, roots = alpha.sum(axis=1), np.sqrt(topics)
    return _costs(shares, roots @ roots.T)


def _costs(shares: Floats, likeness: Floats) -> Floats:
    both = shares[:, None] + shares
    costs = np.where(both > 0, shares[:, None] * shares / np.where(both > 0, both, 1), 0) * (1 - likeness)
    np.fill_diagonal(costs, np.inf)
    return costs


def merged(mixture: Mixture, n_topics: int) -> Mixture:
    """Join the topics that are cheapest to join, pair after pair, until so many are left.

    The cost of a pair is p_s p_t / (p_s + p_t) (1 - sum_u sqrt(mu_s(u) mu_t(u))): little for topics that are alike,
    and for topics that make up little of the corpus. The others keep their order.
    """
    topics, alpha = mixture.topics.copy(), mixture.correlations.copy()
    roots = np.sqrt(topics)
    likeness = roots @ roots.T
    while len(topics) > n_topics:
        shares = alpha.sum(axis=1)
        costs = _costs(shares, likeness)
        s, t = sorted(np.unravel_index(int(costs.argmin()), costs.shape))
        weight = shares[s] / (shares[s] + shares[t]) if shares[s] + shares[t] > 0 else 0.5
        topics[s] = weight * topics[s] + (1 - weight) * topics[t]
        alpha[s] += alpha[t]
        alpha[:, s] += alpha[:, t]
        roots[s] = np.sqrt(topics[s])
        topics, roots = np.delete(topics, t, axis=0), np.delete(roots, t, axis=0)
        alpha, likeness = (np.delete(np.delete(x, t, axis=0), t, axis=1) for x in (alpha, likeness))
        likeness[s] = likeness[:, s] = roots @ roots[s]
    return Mixture(topics, alpha / alpha.sum())


def unmixed(mixture: Mixture, n_threads: int | None = None) -> Mixture:
    """Undo the blur of topics into each other: an exact change of basis, but for entries cut off at zero.

    If topics were blurred, mu = (I + B') mu_sharp up to the scale of each topic, where B[s, t] is how much of s
    there is in t. On the words that belong to s alone, mu_t / mu_s is just that share, and elsewhere it is more: a
    low quantile of the ratio over the words of s finds it. The new alpha = (I + B) alpha (I + B)' leaves M as it is.
    """
    blur = _blur(mixture.topics, n_threads)
    blur *= np.minimum(1, LARGEST_BLUR / np.maximum(blur.sum(axis=1, keepdims=True), 1e-12))
    change = np.eye(mixture.n_topics) + blur
    sharp = np.maximum(np.linalg.solve(change.T, mixture.topics), FLOOR * mixture.topics)
    scale = sharp.sum(axis=1)
    alpha = change @ mixture.correlations @ change.T * np.outer(scale, scale)
    return Mixture(sharp / scale[:, None], alpha / alpha.sum())


def _blur(topics: Floats, n_threads: int | None = None) -> Floats:
    """B[s, t]: the low quantile, over the top words of s weighted by mu_s, of mu_t(u) / mu_s(u)."""
    n_topics, n_words = topics.shape
    top = min(BLUR_WORDS, n_words)
    blur = np.zeros((n_topics, n_topics))

    def find(s: int) -> None:
        words = np.argpartition(-topics[s], top - 1)[:top]
        words = words[topics[s, words] > 1e-9 * topics[s].max()]
        weight = topics[s, words]
        ratios = topics[:, words] / weight
        order = np.argsort(ratios, axis=1)
        reached = np.cumsum(weight[order], axis=1) >= BLUR_QUANTILE * weight.sum()
        at = np.take_along_axis(order, reached.argmax(axis=1)[:, None], axis=1)
        blur[s] = np.take_along_axis(ratios, at, axis=1).ravel()
        blur[s, s] = 0

    list(in_threads(find, range(n_topics), n_threads))
    return blur
