"""Distances between the topics of two mixtures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from fdmix.corpus.vocabulary import positions, united
from fdmix.metrics.arguments import as_mixture
from fdmix.mixture.mixture import Mixture

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Matching:
    """Pairs of topics of two mixtures with the smallest possible sum of l1 distances.

    Topic left[k] is paired with topic right[k], at distances[k], between 0 (equal) and 2 (no word in common).
    """

    left: Any
    right: Any
    distances: Floats

    @property
    def mean(self) -> float:
        """The topic distance err = (1/T) sum_t |mu_t - nu_tau(t)|_1."""
        return float(self.distances.mean())

    @property
    def missed(self) -> int:
        """The number of pairs at a distance over 1: topics without a real counterpart."""
        return int((self.distances > 1).sum())


def matching_distance(a: Any, b: Any) -> Matching:
    """err = (1/T) min over permutations tau of sum_t |mu_t - nu_tau(t)|_1 (Hungarian method).

    If the numbers of topics differ, all topics of the smaller set are matched. Words are matched by name if both
    sides have names.

    a, b : each a Mixture, Solution, fitted FDM or scikit-learn model, or an array (T, N)

    >>> matching_distance([[1, 0], [0, 1]], [[0, 1], [0.9, 0.1]]).distances.round(2)
    array([0.2, 0. ])
    """
    one, other = as_mixture(a), as_mixture(b)
    left, right = one.topics, other.topics
    if one.vocabulary and other.vocabulary:
        if set(one.vocabulary) != set(other.vocabulary):
            raise ValueError("topics over the same words are needed, but the vocabularies differ")
        right = right[:, positions(one.vocabulary, other.vocabulary)]
    if left.shape[1] != right.shape[1]:
        raise ValueError(f"topics over the same words are needed, not tables of {left.shape} and {right.shape}")
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  (slow to import)
    from scipy.spatial.distance import cdist  # noqa: PLC0415

    costs = cdist(left, right, "cityblock")
    rows, columns = linear_sum_assignment(costs)
    return Matching(rows, columns, costs[rows, columns])


def stability(fits: Sequence[Any]) -> float:
    """The mean matched distance between all pairs of fits, for instance with several seeds; 0 if all are the same.

    fits : each a Mixture, Solution, fitted FDM or scikit-learn model, or an array (T, N)

    >>> stability([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    0.0
    """
    mixtures = [as_mixture(fit) for fit in fits]
    if len(mixtures) < 2:
        raise ValueError("stability compares at least two sets of topics")
    return float(np.mean([matching_distance(a, b).mean for a, b in combinations(mixtures, 2)]))


def over_common_words(a: Any, b: Any) -> tuple[Mixture, Mixture]:
    """Both mixtures over the words of either; a word that one of them does not have has probability 0 in its topics.

    >>> ant, bee = Mixture([[1.0]], vocabulary=["ant"]), Mixture([[1.0]], vocabulary=["bee"])
    >>> matching_distance(*over_common_words(ant, bee)).mean
    2.0
    """
    one, other = as_mixture(a), as_mixture(b)
    if one.vocabulary is None or other.vocabulary is None or one.vocabulary == other.vocabulary:
        return one, other
    words = united(one.vocabulary, other.vocabulary)
    return _spread(one, words), _spread(other, words)


def _spread(mixture: Mixture, words: tuple[str, ...]) -> Mixture:
    topics = np.zeros((mixture.n_topics, len(words)))
    topics[:, positions(mixture.vocabulary or (), words)] = mixture.topics
    return replace(mixture, topics=topics, vocabulary=words)
