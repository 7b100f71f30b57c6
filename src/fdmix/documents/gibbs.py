"""Gibbs sampling: one topic for every token, drawn again in every sweep, with a Dirichlet prior that is learned."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.documents.dirichlet import learned_prior
from fdmix.documents.topic_counts import TopicCounts
from fdmix.documents.training import TrainingDocuments, document_ranges
from fdmix.kernels.gibbs import (
    count_topics,
    cumulative_weights,
    sweep_all_topics,
    sweep_documents,
    topic_lengths,
    word_weights,
)
from fdmix.kernels.vectors import LANES
from fdmix.runtime.threads import Workers

Floats = np.ndarray[Any, np.dtype[np.float64]]
WORD_PRIOR = 0.01  # tokens of every word in every topic (LDA's eta)
MANY_TOPICS = 40  # times the topics of a document: with fewer in all, looking at all of them is faster
FIRST_ROUNDS = 3  # draws of each token in the first sweep, which begins with topics drawn from their shares
SWEEPS_BETWEEN_PRIORS = 5  # the prior changes slowly, and learning it takes as long as an eighth of a sweep
MOST_TOKENS = 1_000  # of a topic in a document that the prior is learned from; it grows with their logarithm
RANGES = 16  # of documents and of words, worked on in parallel


class GibbsSampler:
    """The topic of every token of the training documents.

    A sweep sees the topic counts of the sweep before, so the order in which documents are swept and the number of
    threads change nothing.

    prior : a_t, the Dirichlet parameters of a document's topics
    equal_prior : whether all topics keep the same a_t when the prior is learned
    """

    def __init__(
        self, training: TrainingDocuments, counts: TopicCounts, prior: Floats, seed: int, workers: Workers
    ) -> None:
        table, self.workers, self.prior, self.equal_prior = training.table, workers, prior, False
        self.counts = counts.counts.toarray().astype(np.float32)
        self.lengths = np.asarray(table.sum(axis=1)).ravel().astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)
        self.tokens = starts, np.repeat(table.indices, table.data)
        self.order = np.argsort(self.tokens[1], kind="stable").astype(np.int32)
        self.first = np.searchsorted(self.tokens[1][self.order], np.arange(table.shape[1] + 1))
        edges = np.searchsorted(self.first, np.linspace(0, self.order.size, RANGES + 1)[1:-1]).tolist()
        self.word_ranges = list(pairwise([0, *edges, table.shape[1]]))  # about as many tokens in each
        rng, shares = np.random.default_rng([seed, 3]), counts.totals / counts.totals.sum()
        smallest = np.uint16 if shares.size <= 2**16 else np.int32  # small, for it is read in random order
        self.z = rng.choice(shares.size, self.order.size, p=shares).astype(smallest)
        self.seed, self.n_sweeps, self.rounds = seed, 0, FIRST_ROUNDS
        self.topics_per_document = training.mean_length  # on average, before the last sweep

    def with_equal_prior(self) -> GibbsSampler:
        """A copy that goes on with a prior that is as strong, and the same for all topics."""
        other = copy(self)
        other.z, other.prior, other.equal_prior = self.z.copy(), np.full(self.prior.size, self.prior.mean()), True
        return other

    def mean(
        self, n_sweeps: int, stopped: Callable[[], bool] | None = None, learn_prior: bool = False
    ) -> TopicCounts | None:
        """The mean topic counts of n_sweeps sweeps; None if `stopped`, which is asked after each of them, says so."""
        total = np.zeros(self.counts.shape)
        for _ in range(n_sweeps):
            total += self.sweep()
            if learn_prior and self.n_sweeps % SWEEPS_BETWEEN_PRIORS == 0:
                self.prior = self.learned_prior()
            if stopped is not None and stopped():
                return None
        return TopicCounts(sp.csr_array(total / n_sweeps))

    def learned_prior(self) -> Floats:
        """The prior that makes the documents' numbers of tokens of each topic most likely."""
        width = int(min(self.lengths.max(initial=1), MOST_TOKENS)) + 1

        def count(documents: tuple[int, int]) -> Any:
            lengths = np.zeros((self.prior.size, width), np.int64)
            topic_lengths(*documents, self.tokens[0], self.z, lengths)
            return lengths

        ranges = document_ranges(self.lengths.size, self.workers.n_threads)
        return learned_prior(self.prior, sum(self.workers.map(count, ranges)), self.lengths, self.equal_prior)

    def sweep(self) -> Any:
        """Draw every token's topic again; how often each word has each topic now, (words, topics)."""
        n_words, n_topics = self.counts.shape
        scale = 1 / (self.counts.sum(axis=0, dtype=np.float64) + n_words * WORD_PRIOR)
        weights = np.zeros((n_words, -(-n_topics // LANES) * LANES), np.float32)
        self._by_words(lambda words: word_weights(*words, self.counts, scale, WORD_PRIOR, weights))
        kernel: Any = sweep_all_topics
        arrays: tuple[Any, ...] = self.tokens, self.z, weights
        prior = np.ones(weights.shape[1], np.float32)
        prior[:n_topics] = self.prior
        if n_topics >= MANY_TOPICS * self.topics_per_document:
            prior, reached = prior[:n_topics], np.empty((n_words, n_topics), np.float32)
            self._by_words(lambda words: cumulative_weights(*words, weights, prior, reached))
            kernel, arrays = sweep_documents, (*arrays, reached)
        settings = scale, prior, WORD_PRIOR
        seeds = np.random.default_rng([self.seed, 4, self.n_sweeps]).integers(2**31, size=self.rounds).tolist()
        self.n_sweeps += 1

        def draw(documents: tuple[int, int]) -> int:
            return [kernel(*documents, *arrays, *settings, seed) for seed in seeds][-1]

        found = self.workers.map(draw, document_ranges(self.tokens[0].size - 1, RANGES))
        self.topics_per_document = sum(found) / max(int(np.count_nonzero(self.lengths)), 1)
        counts = np.empty_like(self.counts)
        self.rounds = 1
        self._by_words(lambda words: count_topics(*words, self.order, self.first, self.z, counts))
        self.counts = counts
        return counts

    def _by_words(self, work: Callable[[tuple[int, int]], Any]) -> None:
        self.workers.map(work, self.word_ranges)
