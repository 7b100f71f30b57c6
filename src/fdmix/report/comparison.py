"""Two models side by side: matched topics, how far apart they are, and what only one of them has."""

from __future__ import annotations

from typing import Any

import numpy as np

from fdmix.display import for_terminal, shown_word
from fdmix.metrics.matching import matching_distance, over_common_words
from fdmix.mixture.mixture import Mixture

N_WORDS = 12  # of each topic of the other model
NO_COUNTERPART = 1.0  # l1 distance, of at most 2; topics further apart have less in common than they differ


def compared(mixture: Mixture, other: Mixture, name: str, other_name: str) -> dict[str, Any]:
    """The facts of the comparison.

    "pairs" : [topic, other topic, distance] of each matched pair, the nearest first
    "onlyLeft", "onlyRight" : [topic, nearest topic of the other model, distance] of each topic without a counterpart:
    the matching left it over, or its match is further away than "noCounterpart"
    """
    left, right = over_common_words(mixture, other)
    matching = matching_distance(left, right)
    order = np.argsort(matching.distances, kind="stable")
    rows = [
        [int(matching.left[k]), int(matching.right[k]), round(float(matching.distances[k]), 4)]
        for k in order.tolist()
    ]
    words = [[shown_word(word) for word in topic] for topic in _listed(other)]
    mine, theirs = set(mixture.vocabulary or ()), set(other.vocabulary or ())
    apart = matching.distances > NO_COUNTERPART
    only_left = sorted({*range(mixture.n_topics)} - {*matching.left[~apart].tolist()})
    only_right = sorted({*range(other.n_topics)} - {*matching.right[~apart].tolist()})
    return {
        "names": [for_terminal(name), for_terminal(other_name)],
        "pairs": rows,
        "onlyLeft": _with_nearest(left, right, only_left),
        "onlyRight": _with_nearest(right, left, only_right),
        "noCounterpart": NO_COUNTERPART,
        "mean": round(matching.mean, 4),
        "words": words,
        "shares": [float(f"{share:.5g}") for share in other.shares],
        "labels": {str(topic): for_terminal(label) for topic, label in other.labels.items()},
        "nWords": [mixture.n_words, other.n_words],
        "sharedWords": len(mine & theirs) if mine and theirs else min(mixture.n_words, other.n_words),
    }


def _with_nearest(mixture: Mixture, other: Mixture, topics: list[int]) -> list[list[float]]:
    """[topic, nearest topic of the other mixture, l1 distance] of some topics over the same words."""
    found = []
    for topic in topics:
        distances = np.abs(other.topics - mixture.topics[topic]).sum(axis=1)
        nearest = int(distances.argmin())
        found.append([topic, nearest, round(float(distances[nearest]), 4)])
    return found


def _listed(mixture: Mixture) -> list[list[str]]:
    """The top words of each topic, without words of probability 0."""
    n_active = np.count_nonzero(mixture.topics, axis=1).tolist()
    return [words[:n] for words, n in zip(mixture.top_words(N_WORDS), n_active, strict=True)]
