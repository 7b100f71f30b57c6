"""Topic coherence: do the top words of a topic occur together?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix.corpus import Corpus
from fdmix.mixture import Mixture
from fdmix.moments import Moments
from fdmix.vocabulary import positions
from fdmix.whole_numbers import whole_number

Floats = np.ndarray[Any, np.dtype[np.float64]]
MEASURES = ("npmi", "u_mass", "c_v")


@dataclass(frozen=True, eq=False)
class Coherence:
    """The coherence of each topic; topics without two known words have NaN."""

    topics: Floats
    measure: str

    @property
    def mean(self) -> float:
        """Over the topics that have one."""
        return float(np.nanmean(self.topics))


def coherence(
    topics: Mixture | Sequence[Sequence[str]],
    reference: Corpus | Moments | Iterable[Sequence[str]],
    measure: str = "npmi",
    *,
    n_words: int = 10,
    window: int = 110,
) -> Coherence:
    """The mean over pairs of top words (w_i, w_j), i < j in order of probability, of

    npmi : log(p_ij / (p_i p_j)) / -log p_ij, and -1 for words that never meet; between -1 and 1
    u_mass : log((D_ij + 1) / D_i) with document counts D (Mimno et al. 2011)
    c_v : not of pairs, but the mean over top words of the cosine between a word's vector of NPMI with all top words
        and the sum of those vectors, p from sliding windows (after Roder et al. 2015)

    reference : a Corpus (probabilities from documents), token lists (from sliding windows of `window` tokens), or,
        for npmi only, Moments: p_ij is then Mhat itself, the chance that two tokens of a document are w_i and w_j.

    >>> corpus = Corpus.from_documents([["a", "b"], ["a", "b"], ["c"], ["c", "a"]])
    >>> coherence([["a", "b"], ["b", "c"]], corpus).topics.round(3)
    array([ 0.415, -1.   ])
    """
    if measure not in MEASURES:
        raise ValueError(f"there is no coherence {measure!r}; there are {', '.join(MEASURES)}")
    n_words, window = whole_number("n_words", n_words, least=2), whole_number("window", window, least=1)
    words = (
        topics.top_words(n_words, as_shown=False)
        if isinstance(topics, Mixture)
        else [list(topic)[:n_words] for topic in topics]
    )
    if not words or any(isinstance(topic, str) for topic in ([] if isinstance(topics, Mixture) else topics)):
        raise ValueError("topics must be a Mixture or lists of words, at least one")
    single, joint, total = _frequencies(words, reference, measure, window)
    if all(counts.size < 2 for counts in single):
        raise ValueError("no topic has two words that the reference has: do both have the same vocabulary?")
    with np.errstate(divide="ignore", invalid="ignore"):
        values = [_of_topic(single[t], joint[t], total, measure) for t in range(len(words))]
    return Coherence(np.array(values), measure)


def _of_topic(single: Floats, joint: Floats, total: float, measure: str) -> float:
    """`single` and `joint` are counts out of `total` for the known words of one topic, in order."""
    if single.size < 2:
        return float("nan")
    first, second = np.triu_indices(single.size, 1)
    if measure == "u_mass":
        return float(np.mean(np.log((joint[first, second] + 1) / single[first])))
    npmi = _npmi(joint / total, single / total)
    if measure == "npmi":
        return float(np.mean(npmi[first, second]))
    np.fill_diagonal(npmi, 1.0)
    whole = npmi.sum(axis=0)
    lengths = np.linalg.norm(npmi, axis=1) * np.linalg.norm(whole)
    return float(np.mean(np.divide(npmi @ whole, lengths, out=np.zeros_like(whole), where=lengths > 0)))


def _npmi(joint: Floats, single: Floats) -> Floats:
    result = np.log(joint / np.outer(single, single)) / -np.log(joint)
    result = np.where(joint <= 0, -1.0, result)
    return np.where(joint >= 1, 1.0, result)


def _frequencies(words: Any, reference: Any, measure: str, window: int) -> tuple[list[Floats], list[Floats], float]:
    if isinstance(reference, Moments):
        if measure != "npmi":
            raise ValueError(f"{measure} needs documents: Moments give npmi only")
        mhat, unigram = reference.matrix, reference.unigram
        known = [w[unigram[w] > 0] for w in _known(words, reference.vocabulary, reference.n_words)]
        return [unigram[w] for w in known], [mhat[w][:, w].toarray() for w in known], 1.0
    if isinstance(reference, Corpus):
        if measure == "c_v":
            raise ValueError("c_v needs token lists, whose order a Corpus does not keep")
        corpus = reference
    else:
        windows = _windows(reference, {word for topic in words for word in topic}, window)
        corpus = Corpus.from_documents(windows)
    known = _known(words, corpus.vocabulary, corpus.n_words)
    present = corpus.counts.astype(bool).astype(np.float64).tocsc()
    counts = []
    seen = np.diff(present.indptr) > 0
    for chosen in known:
        some = present[:, chosen[seen[chosen]]]
        counts.append((some.T @ some).toarray())
    return [np.diag(table).copy() for table in counts], counts, float(corpus.n_documents)


def _known(words: Any, vocabulary: Any, n_words: int) -> list[Any]:
    names = vocabulary or tuple(str(u) for u in range(n_words))
    where = [positions(topic, names) for topic in words]
    return [place[place >= 0] for place in where]


def _windows(documents: Iterable[Sequence[str]], wanted: set[str], size: int) -> Iterable[list[str]]:
    """The wanted words of every window of so many tokens; a shorter document is one window."""
    for document in documents:
        if isinstance(document, str):
            raise TypeError("the reference texts must be lists of tokens, not strings: split them first")
        for begin in range(max(1, len(document) - size + 1)):
            yield [word for word in document[begin : begin + size] if word in wanted]
