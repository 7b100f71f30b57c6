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


def inverted_rank_biased_overlap(topics: Any, n_words: int = 10, *, persistence: float = 0.9) -> float:
    """IRBO: 1 - the mean over pairs of topics of the rank-biased overlap of their top words; 1 if none is shared.

    Unlike `diversity`, it weighs words on top of two topics more than words further down. The overlap is extrapolated
    (Webber, Moffat and Zobel 2010): with X_d the words that the first d of both lists share, for lists of k words,

        RBO = p^k X_k / k + (1 - p) / p sum_{d <= k} p^d X_d / d

    topics : a Mixture, Solution, fitted FDM or scikit-learn model, an array (T, N), or lists of words
    persistence : p, above 0 and below 1; the smaller, the more the first words count

    >>> round(inverted_rank_biased_overlap([["ant", "bee"], ["ant", "cat"]], 2), 3)
    0.45
    """
    n_words = whole_number("n_words", n_words, least=1)
    if not 0 < persistence < 1:
        raise ValueError(f"persistence is a number above 0 and below 1, not {persistence!r}")
    lists = word_lists(topics)
    top: Any = _top(as_mixture(topics), n_words).tolist() if lists is None else lists
    ranked = [list(dict.fromkeys(topic))[:n_words] for topic in top]
    if len(ranked) < 2 or not all(ranked):
        raise ValueError("the overlap compares at least two topics, each with a word")
    overlap = _rank_biased_overlaps(ranked, persistence)
    return float(1 - overlap[np.triu_indices(len(ranked), 1)].mean())


def _rank_biased_overlaps(ranked: list[list[Any]], p: float) -> Any:
    """The extrapolated overlap of every two lists, which may differ in length (equation 32 of Webber et al.).

    With s and l the shorter and the longer of two lengths, ranks d beyond s count X_d + X_s (d - s) / s shared words.
    """
    number = {word: u for u, word in enumerate(dict.fromkeys(chain.from_iterable(ranked)))}
    lengths = np.array([len(topic) for topic in ranked])
    short, long = np.minimum.outer(lengths, lengths), np.maximum.outer(lengths, lengths)
    within = np.zeros((len(ranked), len(number)), np.float32)  # the words in the first d places
    shared = np.zeros((lengths.max() + 1, len(ranked), len(ranked)))
    for d in range(1, lengths.max() + 1):
        for t, topic in enumerate(ranked):
            if d <= len(topic):
                within[t, number[topic[d - 1]]] = 1
        shared[d] = within @ within.T
    at_short = np.take_along_axis(shared, short[None], axis=0)[0]
    at_long = np.take_along_axis(shared, long[None], axis=0)[0]
    total = np.zeros_like(at_short)
    for d in range(1, lengths.max() + 1):
        expected = shared[d] + at_short * np.maximum(d - short, 0) / short
        total += np.where(d <= long, p**d * expected / d, 0)
    return (1 - p) / p * total + ((at_long - at_short) / long + at_short / short) * p**long


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
