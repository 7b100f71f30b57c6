"""Topic coherence: do the top words of a topic occur together?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fdmix.corpus.corpus import Corpus
from fdmix.corpus.sequences import TokenSequences
from fdmix.corpus.vocabulary import Vocabulary, as_vocabulary, positions
from fdmix.metrics.arguments import as_corpus, as_mixture, kind_of, word_lists
from fdmix.metrics.windows import window_counts
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.moments.weighted import WeightedMoments
from fdmix.runtime.whole_numbers import whole_number

Floats = np.ndarray[Any, np.dtype[np.float64]]
MEASURES = ("npmi", "u_mass", "c_npmi", "c_v")
WINDOWS = {"c_npmi": 10, "c_v": 110}  # tokens in a window: gensim's defaults
GENSIM_EPSILON = 1e-12


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
    window: int | None = None,
    vocabulary: Any = None,
    exact_windows: bool = False,
    ranking: Any = "probability",
) -> Coherence:
    """The coherence of each topic: how often its top words occur together.

    npmi : the mean over pairs of top words of log(p_ij / (p_i p_j)) / -log p_ij, and -1 for words that never occur
        together; between -1 and 1
    u_mass : the mean over pairs (w_i, w_j), w_i the more probable one, of log((D_ij + 1) / D_i) with document counts
        D (Mimno et al. 2011)
    c_npmi : gensim's c_npmi: npmi with p_ij + 1e-12 in place of p_ij, in windows of 10 tokens
    c_v : gensim's c_v: the mean over top words of the cosine between a word's vector of this npmi with all top words
        and the sum of these vectors, in windows of 110 tokens (after Roder et al. 2015)

    topics : a Mixture, Solution, fitted FDM or scikit-learn model, an array (T, N), or lists of words
    reference : where words occur together. In a Corpus, a table of counts, or texts (if the topics know how theirs
        were cleaned): in the same document. In lists of tokens or a TokenSequences: in the same sliding window. In
        Moments, for npmi only: p_ij is Mhat, the probability that two tokens of a document are w_i and w_j
    window : the tokens in a window, by default 10 for c_npmi and else 110; a shorter document is one window. A larger
        number than any document's length counts documents
    vocabulary : the words of the columns, for topics and tables without words
    ranking : which words of a mixture are its top words, as in `Mixture.top_words`. The default, probability, treats
        all models alike; None takes the words that are shown
    exact_windows : for c_npmi and c_v, count every window that has a word. gensim counts a word as absent, from the
        moment one of its tokens leaves the window, until the next one comes in, even if the window has it once more;
        so does this function unless told otherwise

    Top words that the reference does not have are left out, as gensim leaves out words that its dictionary does not
    have. A topic with fewer than two known words is NaN.

    >>> corpus = Corpus.from_documents([["a", "b"], ["a", "b"], ["c"], ["c", "a"]])
    >>> coherence([["a", "b"], ["b", "c"]], corpus).topics.round(3)
    array([ 0.415, -1.   ])
    >>> coherence([["a", "b"]], [["a", "b"], ["a", "b"], ["c"], ["c", "a"]], "c_v").topics.round(3)
    array([0.924])
    """
    if measure not in MEASURES:
        raise ValueError(f"there is no coherence {measure!r}; there are {', '.join(MEASURES)}")
    n_words = whole_number("n_words", n_words, least=2)
    size = whole_number("window", WINDOWS.get(measure, 110) if window is None else window, least=1)
    lists = word_lists(topics) or []
    mixture = None if lists else as_mixture(topics, vocabulary)
    kind, reference = ("tokens", reference) if isinstance(reference, TokenSequences) else kind_of(reference)
    if measure != "npmi" and isinstance(reference, Moments | WeightedMoments):
        raise ValueError(f"{measure} needs documents: Moments give npmi only")
    if measure in WINDOWS and kind != "tokens":
        raise ValueError(f"{measure} needs token lists: counts do not keep the order of words")
    if kind != "tokens" and not isinstance(reference, Moments | WeightedMoments):
        reference = as_corpus(reference, mixture)
    names = None if kind == "tokens" else _names(reference, mixture, vocabulary)
    words = [topic[:n_words] for topic in lists] if mixture is None else _top_words(mixture, n_words, names, ranking)
    if kind == "tokens":
        as_gensim = measure in WINDOWS and not exact_windows
        single, joint, total = window_counts(words, reference, size, forget_repeats=as_gensim)
    else:
        single, joint, total = _frequencies(words, reference, names)
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
    if measure == "npmi":
        return float(np.mean(_npmi(joint / total, single / total)[first, second]))
    npmi = _gensim_npmi(joint / total, single / total)
    if measure == "c_npmi":
        return float(np.mean(npmi[first, second]))
    whole = npmi.sum(axis=0)
    lengths = np.linalg.norm(npmi, axis=1) * np.linalg.norm(whole)
    return float(np.mean(np.divide(npmi @ whole, lengths, out=np.zeros_like(whole), where=lengths > 0)))


def _npmi(joint: Floats, single: Floats) -> Floats:
    result = np.log(joint / np.outer(single, single)) / -np.log(joint)
    result = np.where(joint <= 0, -1.0, result)
    return np.where(joint >= 1, 1.0, result)


def _gensim_npmi(joint: Floats, single: Floats) -> Floats:
    """log((p_ij + e) / (p_i p_j)) / -log(p_ij + e) with e = 1e-12.

    Words that never occur together get about -log(p_i p_j) / 28 - 1 instead of -1, so the value depends on how
    frequent they are. Two words that are in every window get -1 instead of 1.
    """
    smoothed = joint + GENSIM_EPSILON
    return np.log(smoothed / np.outer(single, single)) / -np.log(smoothed)


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
