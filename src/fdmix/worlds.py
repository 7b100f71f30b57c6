"""Worlds with known answers: topics, a law for the topics of documents, and corpora drawn from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus import Corpus

Floats = np.ndarray[Any, np.dtype[np.float64]]
DOCUMENTS_AT_A_TIME = 100_000


@dataclass(frozen=True, eq=False)
class World:
    """A generator of documents whose topics are known: theta_d ~ Dirichlet(concentration), words ~ theta_d' topics.

    >>> world = intervals()
    >>> world.sample(1000, length=20, seed=1)
    Corpus(1,000 documents, 100 words, 20,000 tokens)
    """

    topics: Floats
    concentration: Floats

    def __post_init__(self) -> None:
        topics = np.array(self.topics, dtype=np.float64)
        if topics.ndim != 2 or not np.isfinite(topics).all() or (topics < 0).any():
            raise ValueError("topics must be a table (topics x words) of non-negative numbers")
        if not np.allclose(topics.sum(axis=1), 1, atol=1e-6):
            raise ValueError("each topic must sum to 1")
        concentration = np.broadcast_to(np.array(self.concentration, dtype=np.float64), topics.shape[:1])
        if not np.isfinite(concentration).all() or (concentration <= 0).any():
            raise ValueError("the Dirichlet concentration must be positive: one number, or one per topic")
        object.__setattr__(self, "topics", topics / topics.sum(axis=1, keepdims=True))
        object.__setattr__(self, "concentration", concentration)

    @property
    def correlations(self) -> Floats:
        """alpha = E[theta theta'] = (a a' + diag(a)) / (A (A + 1)) for a Dirichlet(a) with A = sum(a)."""
        a = self.concentration
        alpha: Floats = (np.outer(a, a) + np.diag(a)) / (a.sum() * (a.sum() + 1))
        return alpha

    @property
    def pair_matrix(self) -> Floats:
        """M = topics' alpha topics, dense: what Mhat tends to as documents are added."""
        matrix: Floats = self.topics.T @ self.correlations @ self.topics
        return matrix

    def sample(self, n_documents: int, length: int = 30, seed: int = 0) -> Corpus:
        """Draw documents of `length` tokens each."""
        rng = np.random.default_rng(seed)
        blocks = [
            self._counts(min(DOCUMENTS_AT_A_TIME, n_documents - begin), length, rng)
            for begin in range(0, n_documents, DOCUMENTS_AT_A_TIME)
        ]
        return Corpus(sp.vstack(blocks, format="csr") if blocks else np.zeros((0, self.topics.shape[1]), int))

    def _counts(self, n_documents: int, length: int, rng: np.random.Generator) -> sp.csr_array:
        assigned = self._token_topics(n_documents, length, rng).ravel()
        words = self._words_of(assigned, rng)
        starts = np.arange(0, words.size + 1, length) if length else np.zeros(n_documents + 1, np.int64)
        shape = (n_documents, self.topics.shape[1])
        counts = sp.csr_array((np.ones(words.size, np.int32), words, starts), shape=shape)
        counts.sum_duplicates()
        return counts

    def _token_topics(self, n_documents: int, length: int, rng: np.random.Generator) -> Any:
        """The topic of every token by Polya's urn, which is the Dirichlet with theta integrated out.

        Token i is a fresh draw from the mean with probability A / (A + i), else a copy of an earlier one.
        """
        total = self.concentration.sum()
        cumulative = np.cumsum(self.concentration / total)
        topics = np.searchsorted(cumulative[:-1], rng.random((n_documents, length)), side="right")
        rows = np.arange(n_documents)
        for i in range(1, length):
            copied = rng.random(n_documents) * (total + i) >= total
            earlier = rng.integers(0, i, n_documents)
            topics[:, i] = np.where(copied, topics[rows, earlier], topics[:, i])
        return topics

    def _words_of(self, assigned: Any, rng: np.random.Generator) -> Any:
        """A word for each token from its topic: inverse cumulative distribution, topic after topic."""
        words = np.empty(assigned.size, np.int32)
        order = np.argsort(assigned, kind="stable")
        bounds = np.searchsorted(assigned[order], np.arange(self.topics.shape[0] + 1))
        for t, topic in enumerate(self.topics):
            tokens = order[bounds[t] : bounds[t + 1]]
            cumulative = np.cumsum(topic)
            last = np.flatnonzero(topic)[-1]
            drawn = np.searchsorted(cumulative, rng.random(tokens.size) * cumulative[-1], side="right")
            words[tokens] = np.minimum(drawn, last)
        return words


def intervals() -> World:
    """The paper's picture: three topics, uniform on words 1-40, 30-70 and 60-100, theta ~ Dirichlet(2, 1, 1.5)."""
    topics = np.zeros((3, 100))
    for topic, (first, last) in zip(topics, [(1, 40), (30, 70), (60, 100)], strict=True):
        topic[first - 1 : last] = 1 / (last - first + 1)
    return World(topics, np.array([2.0, 1.0, 1.5]))
