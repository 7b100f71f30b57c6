"""Changes of a whole mixture that need no pass over the pairs: merging and unmixing topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix.mixture.mixture import Mixture
from fdmix.runtime.threads import in_threads

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Unmixing:
    """How the blur of topics into each other is estimated and removed (docs/explanation/fitting.md, "The phases").

    quantile : of the ratios mu_t(u) / mu_s(u) over the top words of s; 0.05 to 0.15 give nearly the same topics, 0.25
        and more give worse ones
    top_words : words of s whose ratios are compared
    floor : share of an entry that is left at least, so that EM can revive it; if EM does not, shrinkage removes it
    largest_blur : limit for the row sums of B; below 1, I + B is well conditioned
    """

    quantile: float = 0.10
    top_words: int = 200
    floor: float = 0.02
    largest_blur: float = 0.9


UNMIXING = Unmixing()
CUT_BELOW = 0.9  # share of the rows of a table that are in use; below, the others are removed


def merging_costs(topics: Floats, alpha: Floats) -> Floats:
    """The approximate cost of merging topics s and t: p_s p_t / (p_s + p_t) (1 - sum_u sqrt(mu_s(u) mu_t(u)))."""
    shares, roots = alpha.sum(axis=1), np.sqrt(topics)
    return _costs(shares, roots @ roots.T)


def _costs(shares: Floats, similarity: Floats) -> Floats:
    both = shares[:, None] + shares
    costs = np.where(both > 0, shares[:, None] * shares / np.where(both > 0, both, 1), 0) * (1 - similarity)
    np.fill_diagonal(costs, np.inf)
    return costs


def merged(mixture: Mixture, n_topics: int) -> Mixture:
    """The mixture with its cheapest pair of topics merged, again and again, until n_topics are left.

    The costs are those of `merging_costs`: low for similar topics, and for topics with a small share of the corpus.
    The other topics keep their order.
    """
    topics, alpha = mixture.topics.copy(), mixture.correlations.copy()
    roots = np.sqrt(topics)
    similarity = roots @ roots.T
    left = np.arange(len(topics))  # rows of the topics that are left; large tables are cut only now and then
    while len(left) > n_topics:
        shares = alpha.sum(axis=1)
        costs = _costs(shares, similarity)
        s, t = sorted(np.unravel_index(int(costs.argmin()), costs.shape))
        weight = shares[s] / (shares[s] + shares[t]) if shares[s] + shares[t] > 0 else 0.5
        topics[left[s]] = weight * topics[left[s]] + (1 - weight) * topics[left[t]]
        alpha[s] += alpha[t]
        alpha[:, s] += alpha[:, t]
        roots[left[s]] = np.sqrt(topics[left[s]])
        left = np.delete(left, t)
        alpha, similarity = (np.delete(np.delete(x, t, axis=0), t, axis=1) for x in (alpha, similarity))
        similarity[s] = similarity[:, s] = (roots @ roots[left[s]])[left]
        if len(left) < CUT_BELOW * len(topics):
            topics, roots, left = topics[left], roots[left], np.arange(len(left))
    return Mixture(topics[left], alpha / alpha.sum())


def unmixed(mixture: Mixture, blur: Floats) -> Mixture:
    """The mixture with sharper topics and the same M, except where entries would become negative.

    Blurred topics are mu = (I + B') mu_sharp up to the scale of each topic, where B[s, t] is the share of topic s
    that leaked into t, as `blur_of` estimates it. The new alpha = (I + B) alpha (I + B)' keeps M.
    """
    blur = blur * np.minimum(1, UNMIXING.largest_blur / np.maximum(blur.sum(axis=1, keepdims=True), 1e-12))
    change = np.eye(mixture.n_topics) + blur
    sharp = np.maximum(np.linalg.solve(change.T, mixture.topics), UNMIXING.floor * mixture.topics)
    scale = sharp.sum(axis=1)
    alpha = change @ mixture.correlations @ change.T * np.outer(scale, scale)
    return Mixture(sharp / scale[:, None], alpha / alpha.sum())


def blur_of(topics: Floats, n_threads: int | None = None) -> Floats:
    """B[s, t]: the share of topic s that leaked into topic t.

    On words that belong to s alone, mu_t / mu_s equals this share; on other words it is larger. So a low quantile of
    the ratio over the top words of s, weighted by mu_s, estimates it.
    """
    n_topics, n_words = topics.shape
    top = min(UNMIXING.top_words, n_words)
    blur = np.zeros((n_topics, n_topics))

    def find(s: int) -> None:
        words = np.argpartition(-topics[s], top - 1)[:top]
        words = words[topics[s, words] > 1e-9 * topics[s].max()]
        weight = topics[s, words]
        ratios = topics[:, words] / weight
        order = np.argsort(ratios, axis=1)
        reached = np.cumsum(weight[order], axis=1) >= UNMIXING.quantile * weight.sum()
        at = np.take_along_axis(order, reached.argmax(axis=1)[:, None], axis=1)
        blur[s] = np.take_along_axis(ratios, at, axis=1).ravel()
        blur[s, s] = 0

    list(in_threads(find, range(n_topics), n_threads))
    return blur
