"""How much topics differ from each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from fdmix.metrics.arguments import as_mixture, word_lists
from fdmix.mixture.mixture import Mixture
from fdmix.runtime.whole_numbers import whole_number


@dataclass(frozen=True)
class Anchor:
    """A topic's best anchor word: column, name, probability in the topic, and purity (1: in no other topic)."""

    word: int
    name: str
    probability: float
    purity: float


def anchor_words(topics: Any, *, vocabulary: Any = None) -> list[Anchor]:
    """The best anchor word of each topic: the word with the largest purity mu_t(u) / sum_s mu_s(u).

    Among equally pure words it is the most probable one. Words with less than a hundredth of the probability of the
    topic's top word are left out.

    topics : a Mixture, Solution, fitted FDM or scikit-learn model, or an array (T, N)
    vocabulary : the words of the columns, for topics without words

    >>> [anchor.name for anchor in anchor_words([[0.6, 0.4, 0], [0, 0.5, 0.5]], vocabulary=["ant", "bee", "cat"])]
    ['ant', 'cat']
    """
    mixture = as_mixture(topics, vocabulary)
    total = mixture.topics.sum(axis=0)
    share = mixture.topics / np.where(total > 0, total, 1)
    names = mixture.vocabulary or tuple(str(u) for u in range(mixture.n_words))
    anchors = []
    for topic, pure in zip(mixture.topics, share, strict=True):
        purity = np.where(topic >= 0.01 * topic.max(), np.round(pure, 9), -1.0)
        word = int(np.lexsort((topic, purity))[-1])
        anchors.append(Anchor(word, names[word], float(topic[word]), float(pure[word])))
    return anchors


def diversity(topics: Any, n_words: int = 25, *, ranking: Any = "probability") -> float:
    """The share of distinct words among the top words of all topics; 1 if no two topics share one.

    topics : a Mixture, Solution, fitted FDM or scikit-learn model, an array (T, N), or lists of words
    ranking : which words of a mixture are its top words, as in `Mixture.top_words`; None takes those that are shown

    >>> diversity([["ant", "bee"], ["bee", "cat"]])
    0.75
    """
    n_words = whole_number("n_words", n_words, least=1)
    lists = word_lists(topics)
    top: Any = (
        _top(as_mixture(topics), n_words, ranking).tolist() if lists is None else [topic[:n_words] for topic in lists]
    )
    words = list(chain.from_iterable(top))
    if not words:
        raise ValueError("no topic has a word")
    return len(set(words)) / len(words)


def exclusivity(topics: Any, n_words: int = 10) -> float:
    """The mean of mu_t(u) / sum_s mu_s(u) over the top words of each topic; 1 if no other topic has them.

    topics : a Mixture, Solution, fitted FDM or scikit-learn model, or an array (T, N)

    >>> round(exclusivity([[0.6, 0.4, 0], [0, 0.4, 0.6]], n_words=2), 3)
    0.75
    """
    mixture = as_mixture(topics)
    top = _top(mixture, n_words)
    total = mixture.topics.sum(axis=0)
    own = np.take_along_axis(mixture.topics, top, axis=1)
    return float(np.mean(own / np.where(total > 0, total, 1)[top]))


def _top(
    mixture: Mixture, n_words: int, ranking: Any = "probability"
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    n_words = whole_number("n_words", n_words, least=1)
    top: np.ndarray[tuple[int, int], np.dtype[np.int64]] = mixture.top_columns(n_words, ranking)
    return top
