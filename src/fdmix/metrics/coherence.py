"""Topic coherence: do the top words of a topic occur together?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from fdmix.corpus.corpus import Corpus
from fdmix.corpus.vocabulary import Vocabulary, as_vocabulary, positions
from fdmix.metrics.arguments import as_corpus, as_mixture, kind_of, word_lists
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.moments.weighted import WeightedMoments
from fdmix.runtime.whole_numbers import whole_number

Floats = np.ndarray[Any, np.dtype[np.float64]]
MEASURES = ("npmi", "u_mass", "c_v")


@dataclass(frozen=True, eq=False)
class Coherence:
    """The coherence of each topic; NaN for topics with fewer than two words in the reference."""

    topics: Floats
    measure: str

    @property
    def mean(self) -> float:
        """The mean over topics whose coherence is not NaN."""
        return float(np.nanmean(self.topics))


def coherence(
    topics: Any,
    reference: Any,
    measure: str = "npmi",
    *,
    n_words: int = 10,
    window: int = 110,
    vocabulary: Any = None,
    ranking: Any = "probability",
) -> Coherence:
    """The coherence of each topic: how often its top words occur together.

    npmi : the mean over pairs of top words of log(p_ij / (p_i p_j)) / -log p_ij, and -1 for words that never occur
        together; between -1 and 1
    u_mass : the mean over pairs (w_i, w_j), w_i the more probable one, of log((D_ij + 1) / D_i) with document counts
        D (Mimno et al. 2011)
    c_v : the mean over top words of the cosine between a word's vector of NPMI with all top words and the sum of
        these vectors, with p from sliding windows (after Roder et al. 2015)

    topics : a Mixture, Solution, fitted FDM or scikit-learn model, an array (T, N), or lists of words
    reference : where words occur together. In a Corpus, a table of counts, or texts (if the topics know how theirs
        were cleaned): in the same document. In lists of tokens: in the same sliding window of `window` tokens. In
        Moments, for npmi only: p_ij is Mhat, the probability that two tokens of a document are w_i and w_j
    vocabulary : the words of the columns, for topics and tables without words
    ranking : which words of a mixture are its top words, as in `Mixture.top_words`. The default, probability, treats
        all models alike; None takes the words that are shown

    >>> corpus = Corpus.from_documents([["a", "b"], ["a", "b"], ["c"], ["c", "a"]])
    >>> coherence([["a", "b"], ["b", "c"]], corpus).topics.round(3)
    array([ 0.415, -1.   ])
    """
    if measure not in MEASURES:
        raise ValueError(f"there is no coherence {measure!r}; there are {', '.join(MEASURES)}")
    n_words, window = whole_number("n_words", n_words, least=2), whole_number("window", window, least=1)
    lists = word_lists(topics) or []
    mixture = None if lists else as_mixture(topics, vocabulary)
    kind, reference = kind_of(reference)
    if measure != "npmi" and isinstance(reference, Moments | WeightedMoments):
        raise ValueError(f"{measure} needs documents: Moments give npmi only")
    if measure == "c_v" and kind != "tokens":
        raise ValueError("c_v needs token lists: counts do not keep the order of words")
    if kind != "tokens" and not isinstance(reference, Moments | WeightedMoments):
        reference = as_corpus(reference, mixture)
    names = None if kind == "tokens" else _names(reference, mixture, vocabulary)
    words = [topic[:n_words] for topic in lists] if mixture is None else _top_words(mixture, n_words, names, ranking)
    if kind == "tokens":
        reference = Corpus.from_documents(_windows(reference, set(chain.from_iterable(words)), window))
    single, joint, total = _frequencies(words, reference, names or reference.vocabulary)
    if all(counts.size < 2 for counts in single):
        unnamed = mixture is not None and mixture.vocabulary is None
        hint = "give vocabulary=" if unnamed else "do both have the same vocabulary?"
        raise ValueError(f"no topic has two words that the reference has: {hint}")
    with np.errstate(divide="ignore", invalid="ignore"):
        values = [_of_topic(single[t], joint[t], total, measure) for t in range(len(words))]
    return Coherence(np.array(values), measure)


def _of_topic(single: Floats, joint: Floats, total: float, measure: str) -> float:
    """The coherence of one topic; `single` and `joint` are counts out of `total` for its known words, in order."""
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


def _frequencies(words: Any, reference: Any, names: Any) -> tuple[list[Floats], list[Floats], float]:
    """(counts of each topic's known words, counts of their pairs, total): how often they occur, out of the total."""
    where = [positions(topic, names) for topic in words]
    known = [place[place >= 0] for place in where]
    if not isinstance(reference, Corpus):
        mhat, unigram = reference.matrix, reference.unigram
        known = [w[unigram[w] > 0] for w in known]
        return [unigram[w] for w in known], [mhat[w][:, w].toarray() for w in known], 1.0
    present = reference.counts.astype(bool).astype(np.float64).tocsc()
    counts = []
    seen = np.diff(present.indptr) > 0
    for chosen in known:
        some = present[:, chosen[seen[chosen]]]
        counts.append((some.T @ some).toarray())
    return [np.diag(table).copy() for table in counts], counts, float(reference.n_documents)


def _names(reference: Any, mixture: Mixture | None, vocabulary: Any) -> Vocabulary:
    """The words of the reference's columns: its own, else those given, else the mixture's, else column numbers."""
    if mixture is not None and not (mixture.vocabulary and reference.vocabulary):
        if mixture.n_words != reference.n_words:
            raise ValueError(
                f"the topics have {mixture.n_words:,} words and the reference {reference.n_words:,}, and no names to "
                "match them by: give vocabulary=, or a Mixture and a Corpus that know their words"
            )
        vocabulary = mixture.vocabulary or vocabulary
    if reference.vocabulary is not None:
        return reference.vocabulary
    if vocabulary is not None:
        return as_vocabulary(vocabulary, reference.n_words)
    return tuple(str(u) for u in range(reference.n_words))


def _top_words(mixture: Mixture, n_words: int, names: Vocabulary | None, ranking: Any) -> list[list[str]]:
    named = mixture if mixture.vocabulary else replace(mixture, vocabulary=names)
    return named.top_words(n_words, ranking=ranking, as_shown=False)


def _windows(documents: Iterable[Sequence[str]], wanted: set[str], size: int) -> Iterable[list[str]]:
    """The wanted words of every window of `size` tokens; a shorter document is one window."""
    for document in documents:
        for begin in range(max(1, len(document) - size + 1)):
            yield [word for word in document[begin : begin + size] if word in wanted]
