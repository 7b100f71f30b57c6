"""Words that are on top of too many topics to tell them apart."""

from __future__ import annotations

import numpy as np

from fdmix.mixture.mixture import Mixture

MIN_TOPICS = 3  # two topics that share a top word may be about the same thing


def dominating_words(mixture: Mixture, n_words: int = 10) -> list[str]:
    """Words among the n_words most probable ones of at least half of the topics, and of at least three topics.

    Such words do not tell topics apart and are candidates for the stop words. The word in most topics comes first. A
    mixture without a vocabulary gives column numbers.

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
    needed = max(MIN_TOPICS, mixture.n_topics / 2)
    names = mixture.vocabulary or tuple(str(u) for u in range(mixture.n_words))
    return [names[u] for u in order.tolist() if n_topics[u] >= needed]
