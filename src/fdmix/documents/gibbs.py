"""Gibbs sampling: one topic for every token, drawn again in every sweep."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.documents.topic_counts import TopicCounts
from fdmix.documents.training import TrainingDocuments, document_ranges
from fdmix.kernels.gibbs import count_topics, cumulative_weights, sweep_all_topics, sweep_documents, word_weights
from fdmix.kernels.vectors import LANES
from fdmix.runtime.threads import Workers

WEAKEST_PRIOR, STRONGEST_PRIOR = 1e-3, 1e3  # concentrations A of the Dirichlet prior of documents
WORD_PRIOR = 0.01  # tokens of every word in every topic (LDA's eta)
MANY_TOPICS = 40  # times the topics of a document: with fewer in all, looking at all of them is faster
FIRST_ROUNDS = 3  # draws of each token in the first sweep, which begins with topics drawn from their shares
RANGES = 16  # of documents and of words, worked on in parallel


class GibbsSampler:
    """The topic of every token of the training documents.

    A sweep sees the topic counts of the sweep before, so the order of documents and the number of threads change
    nothing. The prior is the same for all topics: with it, topics became more coherent (docs/research).
    """

    def __init__(
        self, training: TrainingDocuments, counts: TopicCounts, concentration: float, seed: int, workers: Workers
    ) -> None:
        table, self.workers = training.table, workers
        self.counts, self.concentration = counts.counts.toarray().astype(np.float32), concentration
        lengths = np.asarray(table.sum(axis=1)).ravel()
        self.tokens = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), np.repeat(table.indices, table.data)
        self.order = np.argsort(self.tokens[1], kind="stable").astype(np.int32)
        self.first = np.searchsorted(self.tokens[1][self.order], np.arange(table.shape[1] + 1))
        edges = np.searchsorted(self.first, np.linspace(0, self.order.size, RANGES + 1)[1:-1]).tolist()
        self.word_ranges = list(pairwise([0, *edges, table.shape[1]]))  # about as many tokens in each
        rng, shares = np.random.default_rng([seed, 3]), counts.totals / counts.totals.sum()
        smallest = np.uint16 if shares.size <= 2**16 else np.int32  # small, for it is read in random order
        self.z = rng.choice(shares.size, self.order.size, p=shares).astype(smallest)
        self.seed, self.n_sweeps, self.rounds = seed, 0, FIRST_ROUNDS
        self.topics_per_document = training.mean_length  # on average, before the last sweep

    def with_prior(self, factor: float) -> GibbsSampler:
        """A copy that goes on with a prior `factor` times as strong."""
        other = copy(self)
        other.z = self.z.copy()
        other.concentration = float(np.clip(factor * self.concentration, WEAKEST_PRIOR, STRONGEST_PRIOR))
        return other

    def mean(self, n_sweeps: int, stopped: Callable[[], bool] | None = None) -> TopicCounts | None:
        """The mean topic counts of n_sweeps sweeps; None if `stopped`, which is asked after each of them, says so."""
        total = np.zeros(self.counts.shape)
        for _ in range(n_sweeps):
            total += self.sweep()
            if stopped is not None and stopped():
                return None
        return TopicCounts(sp.csr_array(total / n_sweeps))

    def sweep(self) -> Any:
        """Draw every token's topic again; how often each word has each topic now, (words, topics)."""
        n_words, n_topics = self.counts.shape
        scale = 1 / (self.counts.sum(axis=0, dtype=np.float64) + n_words * WORD_PRIOR)
        weights = np.zeros((n_words, -(-n_topics // LANES) * LANES), np.float32)
        self._by_words(lambda words: word_weights(*words, self.counts, scale, WORD_PRIOR, weights))
        kernel: Any = sweep_all_topics
        arrays: tuple[Any, ...] = self.tokens, self.z, weights
        if n_topics >= MANY_TOPICS * self.topics_per_document:
            reached = np.empty_like(weights)
            self._by_words(lambda words: cumulative_weights(*words, weights, reached))
            kernel, arrays = sweep_documents, (*arrays, reached)
        settings = scale, self.concentration / n_topics, WORD_PRIOR
        seeds = np.random.default_rng([self.seed, 4, self.n_sweeps]).integers(2**31, size=self.rounds).tolist()
        self.n_sweeps += 1

        def draw(documents: tuple[int, int]) -> int:
            return [kernel(*documents, *arrays, *settings, seed) for seed in seeds][-1]

        found = self.workers.map(draw, document_ranges(self.tokens[0].size - 1, RANGES))
        self.topics_per_document = sum(found) / max(int(np.count_nonzero(np.diff(self.tokens[0]))), 1)
        counts = np.empty_like(self.counts)
        self.rounds = 1
        self._by_words(lambda words: count_topics(*words, self.order, self.first, self.z, counts))
        self.counts = counts
        return counts

    def _by_words(self, work: Callable[[tuple[int, int]], Any]) -> None:
        self.workers.map(work, self.word_ranges)
