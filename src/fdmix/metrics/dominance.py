"""Words that are in so many topics that they tell none of them apart."""

from __future__ import annotations

import numpy as np

from fdmix.mixture.mixture import Mixture

FEWEST_TOPICS = 3  # two topics that share a word may well be about the same thing


def dominating_words(mixture: Mixture, n_words: int = 10) -> list[str]:
    """The words that are among the n most probable ones of at least half of the topics, and of at least three.

    A word that is on top of half of the topics does not tell one topic from another: it is a candidate for the stop
    words. The word in most topics comes first; names are those of the vocabulary, or positions without one.

    >>> topics = [[0.6, 0.4, 0, 0], [0.6, 0, 0.4, 0], [0.6, 0, 0, 0.4]]
    >>> dominating_words(Mixture(topics, np.eye(3) / 3, ["said", "ant", "bee", "cow"]), n_words=2)
    ['said']
    """
    if n_words < 1:
        raise ValueError(f"n_words must be at least 1, not {n_words}")
    top = np.argsort(-mixture.topics, axis=1, kind="stable")[:, :n_words]
    present = top[np.take_along_axis(mixture.topics, top, axis=1) > 0]
    n_topics = np.bincount(present, minlength=mixture.n_words)
    order = np.argsort(-n_topics, kind="stable")
    needed = max(FEWEST_TOPICS, mixture.n_topics / 2)
    names = mixture.vocabulary or tuple(str(u) for u in range(mixture.n_words))
    return [names[u] for u in order.tolist() if n_topics[u] >= needed]
