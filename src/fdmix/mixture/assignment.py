"""Topics of documents: the most likely theta, to a certified gap, or the posterior mean under a Dirichlet prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.corpus import Corpus
from fdmix.corpus.vocabulary import Vocabulary, positions
from fdmix.kernels.most_likely_topics import assign_most_likely
from fdmix.kernels.posterior_topics import assign_posterior
from fdmix.mixture.torch_assignment import most_likely_on_device, posterior_on_device
from fdmix.runtime.devices import AUTO, torch_device
from fdmix.runtime.threads import in_threads

Floats = np.ndarray[Any, np.dtype[np.float64]]
DOCUMENT_ENGINES = ("auto", "numba", "torch")
DOCUMENTS_AT_A_TIME = 64
POSTERIOR_ROUNDS = 200
POSTERIOR_TOLERANCE = 1e-4  # a round that moves a smaller share of the tokens is the last
LEAST_STRENGTH = 1.0  # tokens: the least A of a prior that is taken from alpha


@dataclass(frozen=True, eq=False)
class Assignment:
    """Topics of documents, and how sure they are.

    theta : (documents, topics), rows sum to 1
    gaps : what any other theta could gain in likelihood, at most (zero for posterior means, which maximise nothing)
    log_likelihoods : L_d = sum_u dhat(u) log m(u), the mean log-probability of a document's tokens; NaN without any
    lengths : tokens of each document that were used; a document with none has the corpus's average topics in theta
    n_unknown : tokens left out because no topic has their word
    tolerance : the gap that was asked for
    """

    theta: Floats
    gaps: Floats
    log_likelihoods: Floats
    lengths: Any
    n_unknown: int
    tolerance: float

    @property
    def empty(self) -> Any:
        """Which documents have no token whose word a topic has: nothing is known about their topics."""
        return self.lengths == 0

    @property
    def n_empty(self) -> int:
        """How many documents those are."""
        return int(self.empty.sum())

    @property
    def converged(self) -> bool:
        """Whether every gap is within the tolerance; one below about 1e-9 may be out of reach."""
        return bool((self.gaps <= self.tolerance).all())


def matched_prior(correlations: Floats, concentration: float | None = None) -> Floats:
    """The Dirichlet(a) with the same E[theta] and E|theta|^2 as the mixture: a = A s, s the row sums of alpha.

    concentration : A, if it is known better than from alpha

    For a Dirichlet, E|theta|^2 = (A |s|^2 + 1) / (A + 1); so A = (1 - trace) / (trace - |s|^2). A topic that never
    occurs counts as one in a million, because a Dirichlet's parameters must be positive.
    """
    shares = np.maximum(correlations.sum(axis=1), 1e-6 / len(correlations))
    if concentration is not None:
        return shares * concentration
    trace, squares = np.trace(correlations), np.sum(shares**2)
    if trace <= squares * (1 + 1e-9):  # every document has the same topics
        return shares * 1e6
    return shares * np.clip((1 - trace) / (trace - squares), 1e-3, 1e6)


def usual_prior(correlations: Floats) -> Floats:
    """The prior that documents are assigned with if none was learned: the matched one, with A of one token or more.

    The posterior mean is approximated by a fixed point. With a smaller A, that of a short document commits to one
    topic where the true posterior is spread over several (docs/evidence/research/pairs.md, "A prior from pairs").
    """
    matched = matched_prior(correlations)
    return matched * max(1.0, LEAST_STRENGTH / matched.sum())


def aligned_counts(counts: Any, vocabulary: Vocabulary | None, n_words: int) -> tuple[sp.csr_array, int]:
    """The counts over the mixture's words, and how many tokens had other words."""
    corpus = counts if isinstance(counts, Corpus) else Corpus(counts)
    table = corpus.counts
    if corpus.vocabulary is not None and vocabulary is not None and corpus.vocabulary != vocabulary:
        where = positions(corpus.vocabulary, vocabulary)
        known = where >= 0
        unknown = int(table.sum()) - int(table[:, known].sum())
        chosen = sp.csr_array(
            (np.ones(int(known.sum()), np.int32), (np.flatnonzero(known), where[known])),
            shape=(table.shape[1], n_words),
        )
        table = sp.csr_array(table @ chosen)
        table.sort_indices()
        return table, unknown
    if table.shape[1] != n_words:
        raise ValueError(
            f"the counts have {table.shape[1]:,} words and the mixture {n_words:,}: give a Corpus with a vocabulary, "
            "so that they can be matched by word"
        )
    return table, 0


def assign(
    topics: Floats,
    correlations: Floats,
    counts: sp.csr_array,
    *,
    prior: Any = None,
    tolerance: float = 1e-6,
    smoothing: float = 0.0,
    n_threads: int | None = None,
    device: str | None = None,
) -> Assignment:
    """Find theta for every document: by itself, in parallel, exploiting zeros of the topics.

    device : where PyTorch computes; None uses the loops for CPUs
    prior : None (maximum likelihood), "dirichlet" (the matched one), or Dirichlet parameters, one or one a topic
    smoothing : topics are mixed with so much of the uniform distribution, so that no word is impossible
    """
    n_topics, n_words = topics.shape
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing must be from 0 to below 1, not {smoothing}")
    if not tolerance > 0:
        raise ValueError(f"tolerance must be positive, but is {tolerance}")
    n_unknown = 0
    if smoothing == 0:
        counts, n_unknown = possible_tokens(topics, counts)
    by_word = sp.csr_array(topics.T)
    value = by_word.data * (1 - smoothing)
    floor = smoothing / n_words
    n_documents = counts.shape[0]
    theta, gaps = np.zeros((n_documents, n_topics)), np.zeros(n_documents)
    scores = np.full(n_documents, np.nan)
    table = (counts.indptr, counts.indices, counts.data, by_word.indptr, by_word.indices, value, floor)
    average = np.asarray(correlations.sum(axis=1))
    a = None if prior is None else _dirichlet(prior, correlations)

    def work(begin: int, size: int = DOCUMENTS_AT_A_TIME) -> None:
        end = min(begin + size, n_documents)
        if a is None:
            assign_most_likely(begin, end, *table, average, tolerance, theta, gaps, scores)
        else:
            assign_posterior(begin, end, *table, a, POSTERIOR_ROUNDS, POSTERIOR_TOLERANCE, theta, scores)

    if device is None:
        list(in_threads(work, range(0, n_documents, DOCUMENTS_AT_A_TIME), n_threads))
    elif a is None:
        found = most_likely_on_device(topics * (1 - smoothing), counts, floor, tolerance, device, n_threads)
        theta[:], gaps[:], scores[:], finished = found
        theta[~finished] = 0
        list(in_threads(lambda d: work(d, 1), np.flatnonzero(~finished).tolist(), n_threads))
        gaps[np.isnan(gaps)] = 0
    else:
        stop = (POSTERIOR_ROUNDS, POSTERIOR_TOLERANCE)
        theta[:], scores[:] = posterior_on_device(topics * (1 - smoothing), counts, floor, a, stop, device, n_threads)
    whole = np.issubdtype(counts.dtype, np.integer)  # or weights, whose sum may be below 1
    lengths = np.asarray(counts.sum(axis=1, dtype=np.int64 if whole else np.float64)).ravel()
    result = Assignment(theta, gaps, scores, lengths, n_unknown, tolerance)
    scores[result.empty] = np.nan
    theta[result.empty] = average
    return result


def document_device(engine: str, device: str) -> str | None:
    """The device for `assign`, or None for the CPU's loops; ValueError for an engine or device that is not there."""
    if engine == "torch":
        torch_device(device)
        return device
    if engine not in DOCUMENT_ENGINES:
        raise ValueError(
            f"topics of documents are found by the engines {', '.join(DOCUMENT_ENGINES)}, not {engine!r}"
        )
    if device != AUTO:
        raise ValueError(f"device={device!r} goes with engine='torch'; engine={engine!r} computes on the CPU")
    return None


def token_shares(topics: Floats, theta: Floats, indptr: Any, words: Any) -> Floats:
    """p(topic | token) for each stored count (document d, word u): theta_d(t) mu_t(u), normalised over t.

    A word of -1 is unknown and has no topic: zeros.
    """
    document = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    joint = theta[document] * topics.T[words]
    joint[words < 0] = 0
    total = joint.sum(axis=1, keepdims=True)
    return np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)


def dirichlet_parameters(given: Any, n_topics: int) -> Floats:
    """One positive parameter for each topic, from one for all of them or one each; ValueError if they are not."""
    a = np.asarray(given, np.float64)
    if a.shape not in ((), (n_topics,)):
        raise ValueError(f"the prior must be one number, or one for each of {n_topics} topics")
    a = np.broadcast_to(a, (n_topics,)).copy()
    if not np.isfinite(a).all() or (a <= 0).any():
        raise ValueError("the parameters of the Dirichlet prior must be positive")
    return a


def _dirichlet(prior: Any, correlations: Floats) -> Floats:
    if not isinstance(prior, str):
        return dirichlet_parameters(prior, len(correlations))
    if prior != "dirichlet":
        raise ValueError(f"prior is None, 'dirichlet', a number or one number a topic, not {prior!r}")
    return usual_prior(correlations)


def possible_tokens(topics: Floats, counts: sp.csr_array) -> tuple[sp.csr_array, int]:
    """Without the tokens of words that no topic has."""
    possible: Any = topics.any(axis=0)
    keep = possible[counts.indices]
    if keep.all():
        return counts, 0
    lengths = np.add.reduceat(np.append(keep, False), counts.indptr[:-1]) * (np.diff(counts.indptr) > 0)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    kept = sp.csr_array((counts.data[keep], counts.indices[keep], starts), shape=counts.shape)
    return kept, int(counts.data[~keep].sum())
