"""Synthetic worlds with known topics, for tests and experiments, and corpora drawn from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.corpus import Corpus
from fdmix.mixture.mixture import Mixture
from fdmix.mixture.probabilities import dirichlet_correlations
from fdmix.runtime.whole_numbers import whole_number

Floats = np.ndarray[Any, np.dtype[np.float64]]
DOCUMENTS_AT_A_TIME = 50_000  # documents drawn at once; bounds the memory


class ThetaLaw(Protocol):
    """The distribution of a document's topic shares theta."""

    @property
    def correlations(self) -> Floats:
        """alpha = E[theta theta']."""

    def token_topics(self, n_documents: int, length: int, rng: np.random.Generator) -> Any:
        """The topic of every token, (documents x length)."""


@dataclass(frozen=True, eq=False)
class Dirichlet:
    """theta ~ Dirichlet(a)."""

    a: Floats

    def __post_init__(self) -> None:
        a = np.array(self.a, dtype=np.float64)
        if a.ndim != 1 or not np.isfinite(a).all() or (a <= 0).any():
            raise ValueError("the Dirichlet concentration must be positive: one number, or one per topic")
        object.__setattr__(self, "a", a)

    @property
    def correlations(self) -> Floats:
        """E[theta theta']."""
        return dirichlet_correlations(self.a)

    def token_topics(self, n_documents: int, length: int, rng: np.random.Generator) -> Any:
        """The topic of every token (documents x length), by Polya's urn: the Dirichlet with theta integrated out.

        Token i is drawn from the mean with probability A / (A + i); otherwise it copies the topic of an earlier
        token.
        """
        total = self.a.sum()
        cumulative = np.cumsum(self.a / total)
        topics = np.searchsorted(cumulative[:-1], rng.random((n_documents, length)), side="right")
        documents = np.arange(n_documents)
        for i in range(1, length):
            copied = rng.random(n_documents) * (total + i) >= total
            earlier = rng.integers(0, i, n_documents)
            topics[:, i] = np.where(copied, topics[documents, earlier], topics[:, i])
        return topics


@dataclass(frozen=True, eq=False)
class LogisticNormal:
    """theta = softmax(x), x ~ Normal(mean, covariance), as in correlated topic models."""

    mean: Floats
    covariance: Floats

    def __post_init__(self) -> None:
        mean, covariance = np.array(self.mean, np.float64), np.array(self.covariance, np.float64)
        if mean.ndim != 1 or covariance.shape != (mean.size, mean.size):
            raise ValueError("a logistic-normal law needs T means and a T x T covariance")
        if not np.isfinite(mean).all() or not np.allclose(covariance, covariance.T):
            raise ValueError("a logistic-normal law needs finite means and a symmetric covariance")
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "covariance", covariance)

    @cached_property
    def correlations(self) -> Floats:
        """E[theta theta'], estimated from 200,000 draws, because it has no closed form."""
        rng = np.random.default_rng(0)
        total = np.zeros(self.covariance.shape)
        for _ in range(20):
            theta = self.theta(10_000, rng)
            total += theta.T @ theta
        return total / total.sum()

    def theta(self, n_documents: int, rng: np.random.Generator) -> Floats:
        """The topic shares of n_documents documents, (documents x topics)."""
        x = rng.multivariate_normal(self.mean, self.covariance, n_documents, method="eigh")
        weights = np.exp(x - x.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    def token_topics(self, n_documents: int, length: int, rng: np.random.Generator) -> Any:
        """The topic of every token (documents x length): draws theta, then the topics."""
        cumulative = np.cumsum(self.theta(n_documents, rng), axis=1)
        offset = np.arange(n_documents)[:, None]
        drawn = rng.random((n_documents, length)) * cumulative[:, -1:]
        flat = np.searchsorted((cumulative + 2 * offset).ravel(), (drawn + 2 * offset).ravel(), side="right")
        topics = flat.reshape(n_documents, length) - offset * self.mean.size
        return np.minimum(topics, self.mean.size - 1)


@dataclass(frozen=True, eq=False)
class World:
    """A generator of documents whose topics are known: theta_d ~ law, words ~ theta_d' topics.

    law : a ThetaLaw; or a number or T numbers, the parameters of a Dirichlet

    >>> world = intervals()
    >>> world.sample(1000, length=20, seed=1)
    Corpus(1,000 documents, 100 words, 20,000 tokens)
    """

    topics: Floats
    law: Any

    def __post_init__(self) -> None:
        topics = np.array(self.topics, dtype=np.float64)
        if topics.ndim != 2 or not np.isfinite(topics).all() or (topics < 0).any():
            raise ValueError("topics must be a table (topics x words) of non-negative numbers")
        if not np.allclose(topics.sum(axis=1), 1, atol=1e-6):
            raise ValueError("each topic must sum to 1")
        law = self.law
        if not hasattr(law, "token_topics"):
            law = Dirichlet(np.broadcast_to(np.asarray(law, np.float64), topics.shape[:1]))
        if law.correlations.shape[0] != topics.shape[0]:
            raise ValueError(f"the law is for {law.correlations.shape[0]} topics, but there are {topics.shape[0]}")
        object.__setattr__(self, "topics", topics / topics.sum(axis=1, keepdims=True))
        object.__setattr__(self, "law", law)

    @property
    def mixture(self) -> Mixture:
        """The true answer: topics and alpha = E[theta theta']."""
        return Mixture(self.topics, self.law.correlations)

    def sample(self, n_documents: int, length: Any = 30, seed: int = 0) -> Corpus:
        """A corpus of n_documents documents.

        length : tokens of each document: one number, or one for each, for instance those of `geometric_lengths`
        """
        n_documents = whole_number("n_documents", n_documents)
        lengths = _lengths(length, n_documents)
        rng = np.random.default_rng(whole_number("seed", seed))
        order = np.argsort(lengths, kind="stable")  # documents of like length are drawn together
        blocks = [
            self._counts(lengths[order[begin : begin + DOCUMENTS_AT_A_TIME]], rng)
            for begin in range(0, n_documents, DOCUMENTS_AT_A_TIME)
        ]
        if not blocks:
            return Corpus(np.zeros((0, self.topics.shape[1]), int))
        return Corpus(sp.vstack(blocks, format="csr")[np.argsort(order)])

    def _counts(self, lengths: Any, rng: np.random.Generator) -> sp.csr_array:
        """Counts of documents with these lengths; tokens beyond them are drawn, and left out."""
        longest = int(lengths.max())
        topics = self.law.token_topics(lengths.size, longest, rng)
        words = self._words_of(topics[np.arange(longest) < lengths[:, None]], rng)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        shape = (lengths.size, self.topics.shape[1])
        counts = sp.csr_array((np.ones(words.size, np.int32), words, starts), shape=shape)
        counts.sum_duplicates()
        return counts

    def _words_of(self, assigned: Any, rng: np.random.Generator) -> Any:
        """A word for each token, drawn from its topic by the inverse cumulative distribution."""
        words = np.empty(assigned.size, np.int32)
        small = self.topics.shape[0] < 1 << 16  # NumPy radix-sorts 16-bit integers
        order = np.argsort(assigned.astype(np.uint16) if small else assigned, kind="stable")
        bounds = np.searchsorted(assigned[order], np.arange(self.topics.shape[0] + 1))
        for t, topic in enumerate(self.topics):
            tokens = order[bounds[t] : bounds[t + 1]]
            cumulative = np.cumsum(topic)
            last = np.flatnonzero(topic)[-1]
            drawn = np.searchsorted(cumulative, rng.random(tokens.size) * cumulative[-1], side="right")
            words[tokens] = np.minimum(drawn, last)
        return words


def _lengths(length: Any, n_documents: int) -> Any:
    if np.ndim(length) == 0:
        return np.full(n_documents, whole_number("length", length), np.int64)
    lengths = np.asarray(length)
    if lengths.shape != (n_documents,) or lengths.dtype.kind not in "iu" or (lengths < 0).any():
        raise ValueError(f"length must be one whole number, or {n_documents:,} of them, from 0 upwards")
    return lengths.astype(np.int64)


def geometric_lengths(n_documents: int, mean: float, seed: int = 0, least: int = 2) -> Any:
    """Lengths of documents as unequal as in real text: `least` and a geometric number more, with this mean.

    >>> geometric_lengths(5, mean=30).tolist()
    [21, 31, 2, 2, 17]
    """
    if not mean >= least:
        raise ValueError(f"the mean length must be at least {least}, not {mean}")
    draws = np.random.default_rng(seed).geometric(1 / (mean - least + 1), n_documents)
    return draws - 1 + least


def intervals() -> World:
    """The world of the paper's figure: theta ~ Dirichlet(2, 1, 1.5), topics uniform on words 1-40, 30-70, 60-100."""
    topics = np.zeros((3, 100))
    for topic, (first, last) in zip(topics, [(1, 40), (30, 70), (60, 100)], strict=True):
        topic[first - 1 : last] = 1 / (last - first + 1)
    return World(topics, np.array([2.0, 1.0, 1.5]))


def dirichlet_topics(n_topics: int, base: Any, seed: int = 0) -> Floats:
    """Topics drawn from Dirichlet(base), (topics x words); the smaller the base, the sparser the topics.

    >>> dirichlet_topics(2, np.full(5, 0.1)).shape
    (2, 5)
    """
    draws = np.random.default_rng(seed).standard_gamma(np.asarray(base, np.float64), (n_topics, len(base)))
    draws = np.maximum(draws, 1e-300)
    return draws / draws.sum(axis=1, keepdims=True)


def zipf_base(n_words: int, offset: float = 10.0) -> Floats:
    """Word probabilities proportional to 1 / (rank + offset), as in real text; they sum to 1."""
    base = 1 / (np.arange(1, n_words + 1) + offset)
    return base / base.sum()


def authors(seed: int = 0) -> World:
    """The world of the test problem in the authors' code: T = 20, N = 250, topics ~ Dir(10/N), theta ~ Dir(1/T)."""
    return World(dirichlet_topics(20, np.full(250, 10 / 250), seed), 1 / 20)


def zipf(n_topics: int, n_words: int, seed: int = 0, concentration: float = 60.0) -> World:
    """A world with topics ~ Dir(concentration x Zipf base) and theta ~ Dir(1/T)."""
    return World(dirichlet_topics(n_topics, concentration * zipf_base(n_words), seed), 1 / n_topics)
