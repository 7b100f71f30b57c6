"""Which words describe a topic: by probability, by relevance, or those that other topics lack.

relevance_t(u) = lambda log mu_t(u) + (1 - lambda) log(mu_t(u) / p(u)),   p = sum_t s_t mu_t

after Sievert and Shirley (2014). lambda = 1 is the ranking by probability, lambda = 0 the one by lift, which has the
same order as p(t | u).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
RANKINGS = ("probability", "relevance", "exclusive")
USUAL_RELEVANCE = 0.6  # where readers named topics best in Sievert and Shirley's study; for topics without a fit
MIN_TOKENS = 10  # of a word in a topic: of fewer, sampling noise changes mu_t(u) by a third and more
MIN_SHARE = 0.05  # of the probability of the topic's most probable word; smaller ones let rare words in
SMALLEST_TOPIC = 1e-6  # share of a topic that never occurs, so that its words have a probability


def relevance_weight(ranking: Any, chosen: float | None) -> float:
    """The lambda that a ranking stands for.

    ranking : None, "probability", "relevance", "exclusive", or lambda itself
    chosen : the lambda that a fit has chosen for its topics, if any did; then None and "relevance" stand for it

    >>> [relevance_weight(ranking, 0.5) for ranking in (None, "probability", "relevance", "exclusive", 0.3)]
    [0.5, 1.0, 0.5, 0.0, 0.3]
    >>> [relevance_weight(ranking, None) for ranking in (None, "relevance")]
    [1.0, 0.6]
    """
    if ranking is None:
        return 1.0 if chosen is None else chosen
    if isinstance(ranking, str):
        known = {
            "probability": 1.0, "relevance": USUAL_RELEVANCE if chosen is None else chosen, "exclusive": 0.0,
        }  # fmt: skip
        if ranking in known:
            return known[ranking]
    elif not isinstance(ranking, bool) and isinstance(ranking, int | float | np.number) and 0 <= ranking <= 1:
        return float(ranking)
    raise ValueError(
        f"there is no ranking {ranking!r} of words; there are {', '.join(RANKINGS)}, "
        "or the weight of probability in the relevance, a number from 0 to 1"
    )


def most_probable(topics: Floats, n: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """(T, n), the columns of the n largest entries of each row, the first column first among equals.

    >>> most_probable(np.array([[0.2, 0.3, 0.3, 0.2]]), 3).tolist()
    [[1, 2, 0]]
    """
    if not 0 < n < topics.shape[1]:
        return np.argsort(-topics, axis=1, kind="stable")[:, :n]
    least = np.partition(topics, -n, axis=1)[:, -n]
    found = np.empty((len(topics), n), np.int64)
    for row, topic, low in zip(found, topics, least, strict=True):
        able = np.flatnonzero(topic >= low)
        row[:] = able[np.argsort(-topic[able], kind="stable")[:n]]
    return found


class WordRanking:
    """The words of topics in the order in which they describe them.

    topics : (T, N), rows sum to 1; shares : (T,), how frequent the topics are
    n_tokens : tokens that the topics were fitted to, or None if unknown
    unigram : (N,), p, unless it is the sum of these topics

    Only words that a topic has often enough compete: they have a twentieth of the probability of its top word and,
    where `n_tokens` is known, ten tokens in the topic. All other words follow by probability.

    >>> ranking = WordRanking(np.array([[0.5, 0.4, 0.1], [0.5, 0.1, 0.4]]), np.array([0.5, 0.5]))
    >>> ranking.order(1.0, 2).tolist(), ranking.order(0.5, 2).tolist()
    ([[0, 1], [0, 2]], [[1, 0], [2, 0]])
    """

    def __init__(
        self, topics: Floats, shares: Floats, n_tokens: float | None = None, unigram: Floats | None = None
    ) -> None:
        self.topics = topics
        weights = np.maximum(shares, SMALLEST_TOPIC)
        with np.errstate(divide="ignore"):
            self.log_unigram = np.log(weights / weights.sum() @ topics if unigram is None else unigram)
        self.least = MIN_SHARE * topics.max(axis=1)  # (T,), the probability from which words compete
        if n_tokens is not None:
            self.least = np.maximum(self.least, MIN_TOKENS / (n_tokens * weights))
        self.candidates = [np.flatnonzero(row >= low) for row, low in zip(topics, self.least, strict=True)]

    def order(self, weight: float, n: int | None = 10) -> np.ndarray[Any, np.dtype[np.int64]]:
        """(T, n), the columns of the first n words of each topic, or of all words; `weight` is lambda."""
        n = self.topics.shape[1] if n is None else min(n, self.topics.shape[1])
        if weight == 1:
            return most_probable(self.topics, n)
        return np.array([self._of_topic(t, weight, n) for t in range(len(self.topics))], np.int64).reshape(-1, n)

    def _of_topic(self, t: int, weight: float, n: int) -> Any:
        topic, able = self.topics[t], self.candidates[t]
        relevance = np.log(topic[able]) - (1 - weight) * self.log_unigram[able]
        first = able[np.argsort(-relevance, kind="stable")[:n]]
        if first.size == n:
            return first
        rest = topic.copy()
        rest[able] = -1.0
        return np.concatenate([first, np.argsort(-rest, kind="stable")[: n - first.size]])
