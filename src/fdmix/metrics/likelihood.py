"""Likelihoods of documents and pairs under a mixture, for data that it was not fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.splits import halves
from fdmix.corpus.vocabulary import positions
from fdmix.engines import engine_for
from fdmix.metrics.arguments import as_corpus, as_mixture
from fdmix.mixture.assignment import aligned_counts, possible_tokens
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.moments.weighted import WeightedMoments
from fdmix.runtime.whole_numbers import whole_number

Floats = np.ndarray[Any, np.dtype[np.float64]]
SMOOTHING = 1e-4  # share of the uniform distribution: small enough to change no score of possible words noticeably
ENTRIES_AT_A_TIME = 100_000  # entries of the count table scored at once; bounds the memory for (entries, topics)


@dataclass(frozen=True, eq=False)
class Score:
    """Log-probabilities of documents.

    values : the mean log-probability of a token, for each scored document
    lengths : the number of scored tokens of each of these documents
    documents : the positions of these documents among those given
    smoothing : the share of the uniform distribution that was mixed into the topics, so that no word is impossible
    n_unknown : tokens that were not scored, because the mixture does not have their word or, without smoothing, gives
        it the probability 0
    """

    values: Floats
    lengths: Floats
    documents: Any
    smoothing: float
    n_unknown: int

    @property
    def mean(self) -> float:
        """The mean over documents."""
        return float(self.values.mean())

    def weighted_mean(self, weights: Any) -> float:
        """The weighted mean over documents, with one weight for each document that was given."""
        return float(np.average(self.values, weights=np.asarray(weights)[self.documents]))

    def __float__(self) -> float:
        return self.mean


def holdout_log_likelihood(
    topics: Any, documents: Any, smoothing: float = SMOOTHING, *, engine: str = "auto", device: str = "auto"
) -> Score:
    """The paper's score: the mean over documents of L_d = sum_u dhat(u) log m(u), theta_d fitted to the same tokens.

    It can rank wrong topics above the true ones, because theta is fitted to the tokens that are scored. Use
    `completion_log_likelihood` to rank models.

    topics : a Mixture, Solution, fitted FDM or scikit-learn model, or an array (T, N)
    documents : a Corpus, table of counts, lists of tokens, or texts (if the topics know how theirs were cleaned)
    engine, device : as in `Mixture.assign`

    >>> round(holdout_log_likelihood([[0.5, 0.5]], [[3, 1]]).mean, 4)
    -0.6931
    """
    mixture = as_mixture(topics)
    table, unknown = _scorable(mixture, documents, smoothing)
    result = mixture.assignment(table, smoothing=smoothing, engine=engine, device=device)
    scored = np.isfinite(result.log_likelihoods)
    _require(scored, "no document has a token of the mixture's words")
    lengths = np.asarray(table.sum(axis=1)).ravel()[scored].astype(np.float64)
    return Score(result.log_likelihoods[scored], lengths, np.flatnonzero(scored), smoothing, unknown)


def completion_log_likelihood(
    topics: Any,
    documents: Any,
    prior: Any = None,
    *,
    smoothing: float = SMOOTHING,
    seed: int = 0,
    engine: str = "auto",
    device: str = "auto",
) -> Score:
    """Document completion: theta is fitted to a random half of a document's tokens, and the other half is scored.

    L_d = the mean over tokens u of the second half of log sum_t theta_d(t) mu_t(u). The split depends on the seed and
    on the whole table of counts.

    topics : a Mixture, Solution, fitted FDM or scikit-learn model, or an array (T, N)
    documents : a Corpus, table of counts, lists of tokens, or texts (if the topics know how theirs were cleaned)
    prior : as in `Mixture.assign`. Maximum likelihood (None) rewards blurred topics; a Dirichlet prior ranks the true
        topics first
    engine, device : as in `Mixture.assign`

    >>> round(completion_log_likelihood([[0.5, 0.5, 0], [0, 0.5, 0.5]], [[4, 0, 0]], smoothing=0.0).mean, 4)
    -0.6931
    """
    mixture = as_mixture(topics)
    table, unknown = _scorable(mixture, documents, smoothing)
    given, held = halves(table, whole_number("seed", seed))
    return completion_of_halves(
        mixture, given, held, prior, smoothing=smoothing, n_unknown=unknown, engine=engine, device=device
    )


def completion_of_halves(
    mixture: Mixture,
    given: sp.csr_array,
    held: sp.csr_array,
    prior: Any = None,
    *,
    smoothing: float = SMOOTHING,
    n_unknown: int = 0,
    engine: str = "auto",
    device: str = "auto",
) -> Score:
    """`completion_log_likelihood` of documents that are split already: theta from `given`, score of `held`."""
    result = mixture.assignment(given, prior, smoothing=smoothing, engine=engine, device=device)
    scored = (np.diff(given.indptr) > 0) & (np.diff(held.indptr) > 0)
    _require(scored, "no document has two tokens, one to fit and one to score")
    smooth = (1 - smoothing) * mixture.topics + smoothing / mixture.n_words
    document = np.repeat(np.arange(held.shape[0]), np.diff(held.indptr))
    log_probability = np.empty(held.nnz)
    for begin in range(0, held.nnz, ENTRIES_AT_A_TIME):
        some = slice(begin, begin + ENTRIES_AT_A_TIME)
        probability = np.einsum("et,te->e", result.theta[document[some]], smooth[:, held.indices[some]])
        log_probability[some] = np.log(probability)
    lengths = np.asarray(held.sum(axis=1)).ravel().astype(np.float64)
    totals = np.bincount(document, weights=held.data * log_probability, minlength=held.shape[0])
    return Score(totals[scored] / lengths[scored], lengths[scored], np.flatnonzero(scored), smoothing, n_unknown)


def perplexity(score: Score) -> float:
    """exp(-mean log-probability of a token) over all scored tokens: the number of equally likely words.

    >>> round(perplexity(holdout_log_likelihood([[0.25, 0.25, 0.25, 0.25]], [[1, 1, 0, 0], [0, 0, 2, 2]])), 3)
    4.0
    """
    return float(np.exp(-np.average(score.values, weights=score.lengths)))


def pair_log_likelihood(
    topics: Any, moments: Any, smoothing: float = SMOOTHING, *, engine: str = "auto", device: str = "auto"
) -> float:
    """L = sum_uv Mhat[u, v] log M[u, v] on moments, for instance those of a held-out fold. No documents are needed.

    Words are matched by name. Pairs with a word that the mixture does not have are left out of Mhat.

    topics : a Mixture, Solution, fitted FDM or scikit-learn model, or an array (T, N)
    moments : Moments, or documents: a Corpus, table of counts, lists of tokens, or texts
    engine, device : as in `fit_mixture`

    >>> round(pair_log_likelihood([[0.5, 0.5]], Moments.of([[1, 1]])), 4)
    -1.3863
    """
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing must be from 0 to below 1, not {smoothing}")
    mixture = as_mixture(topics)
    if not isinstance(moments, Moments | WeightedMoments):
        moments = Moments.of(as_corpus(moments, mixture))
    mhat = moments.matrix
    if mixture.vocabulary is not None and moments.vocabulary is not None and mixture.vocabulary != moments.vocabulary:
        if not isinstance(moments, Moments):
            raise ValueError("weighted moments are scored over the mixture's own words, in the same order")
        known = set(mixture.vocabulary)
        shared = moments.restrict([word for word in moments.vocabulary if word in known])
        where = positions(shared.vocabulary or (), mixture.vocabulary)
        entries = shared.matrix.tocoo()
        places = (where[entries.coords[0]], where[entries.coords[1]])
        mhat = sp.csr_array(sp.coo_array((entries.data, places), shape=(mixture.n_words, mixture.n_words)))
        mhat.sort_indices()
    elif moments.n_words != mixture.n_words:
        raise ValueError(
            f"the moments have {moments.n_words:,} words and the mixture {mixture.n_words:,}, no words to match by"
        )
    smooth = (1 - smoothing) * mixture.topics + smoothing / mixture.n_words
    chosen = engine_for(engine, mhat, mixture.n_topics, device=device)
    return chosen.expect(chosen.place(Mixture(smooth, mixture.correlations))).log_likelihood


def _scorable(mixture: Mixture, documents: Any, smoothing: float) -> tuple[sp.csr_array, int]:
    """(counts over the mixture's words, tokens left out); without smoothing, impossible tokens are left out."""
    table, unknown = aligned_counts(as_corpus(documents, mixture), mixture.vocabulary, mixture.n_words)
    if smoothing == 0:
        table, impossible = possible_tokens(mixture.topics, table)
        unknown += impossible
    return table, unknown


def _require(scored: Any, sentence: str) -> None:
    if not scored.any():
        raise ValueError(sentence)
