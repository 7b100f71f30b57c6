"""How distinct topics are from each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fdmix.mixture import Mixture
from fdmix.whole_numbers import whole_number


@dataclass(frozen=True)
class Anchor:
    """A topic's best anchor word: its position and name, how probable it is, and how pure (1: in no other topic)."""

    word: int
    name: str
    probability: float
    purity: float


def anchor_words(mixture: Mixture) -> list[Anchor]:
    """For each topic the word that is most its own, with the largest purity mu_t(u) / sum_s mu_s(u).

    On ties the more probable one. Words under a hundredth of the topic's most probable one do not count.

    >>> [anchor.name for anchor in anchor_words(Mixture([[0.6, 0.4, 0], [0, 0.5, 0.5]], np.eye(2) / 2, list("abc")))]
    ['a', 'c']
    """
    total = mixture.topics.sum(axis=0)
    share = mixture.topics / np.where(total > 0, total, 1)
    names = mixture.vocabulary or tuple(str(u) for u in range(mixture.n_words))
    anchors = []
    for topic, pure in zip(mixture.topics, share, strict=True):
        purity = np.where(topic >= 0.01 * topic.max(), np.round(pure, 9), -1.0)
        word = int(np.lexsort((topic, purity))[-1])
        anchors.append(Anchor(word, names[word], float(topic[word]), float(pure[word])))
    return anchors


def diversity(mixture: Mixture, n_words: int = 25) -> float:
    """The share of different words among the top words of all topics: 1 if no two topics share one.

    >>> diversity(Mixture([[0.6, 0.4, 0], [0, 0.4, 0.6]], np.eye(2) / 2), n_words=2)
    0.75
    """
    top = _top(mixture, n_words)
    return float(np.unique(top).size / top.size)


def exclusivity(mixture: Mixture, n_words: int = 10) -> float:
    """The mean of mu_t(u) / sum_s mu_s(u) over the top words of each topic: 1 if they belong to it alone.

    >>> round(exclusivity(Mixture([[0.6, 0.4, 0], [0, 0.4, 0.6]], np.eye(2) / 2), n_words=2), 3)
    0.75
    """
    top = _top(mixture, n_words)
    total = mixture.topics.sum(axis=0)
    own = np.take_along_axis(mixture.topics, top, axis=1)
    return float(np.mean(own / np.where(total > 0, total, 1)[top]))


def _top(mixture: Mixture, n_words: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    n_words = whole_number("n_words", n_words, least=1)
    return np.argsort(-mixture.topics, axis=1, kind="stable")[:, : min(n_words, mixture.n_words)]
