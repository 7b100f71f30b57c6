"""Visits to documents: what their tokens say about topics, and how well topics complete them."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.splits import halves
from fdmix.kernels.cvb0 import completion_scores, cvb0_pass
from fdmix.kernels.gibbs import count_topics, cumulative_weights, sweep_all_topics, sweep_documents, word_weights
from fdmix.kernels.vectors import LANES
from fdmix.mixture.assignment import assign
from fdmix.mixture.mixture import Mixture
from fdmix.runtime.threads import Workers

Floats = np.ndarray[Any, np.dtype[np.float64]]
CARE = (12, 0.03, 0.02)  # rounds for a document, the share of its tokens that the last one moves, the smallest share
MORE_CARE = (30, 3e-3)  # where a score depends on it: all topics have a share
BLOCKS = 16  # at most; each has a sum of its own, and the sums are added in order
BYTES = 2e8  # for the sums of all blocks
SMALLEST = 1e-6  # tokens; a smaller entry of a tally becomes zero
LEAST_SHARE = 1e-8  # of a topic in the prior
STRENGTHS = (1e-3, 1e3)  # of a prior, the weakest and the strongest
ETA = 0.01  # tokens of every word in every topic, while sampling
MANY = 40  # times the topics of a document: with fewer topics in all it is faster to look at all of them
FIRST_ROUNDS = 3  # of the first sweep, which begins with topics drawn from their shares
DESCRIBED = 1e-4  # the most that another theta could gain, in the log-probability of a token


@dataclass(frozen=True, eq=False)
class Tally:
    """Expected counts of words in topics, K (words x topics, sparse): mu_t(u) = K[u, t] / K_t, E[theta_t] ~ K_t."""

    counts: sp.csr_array

    @classmethod
    def of(cls, mixture: Mixture, n_tokens: float) -> Tally:
        """The counts that a mixture expects of so many tokens."""
        return cls(sp.csr_array((mixture.topics * (mixture.shares * n_tokens)[:, None]).T))

    @classmethod
    def with_entries(cls, pattern: sp.csr_array, values: Floats) -> Tally:
        """The pattern with these values, without those that are hardly anything."""
        kept = np.where(values > SMALLEST, values, 0.0)
        counts = sp.csr_array((kept, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape)
        counts.eliminate_zeros()
        return cls(counts)

    @cached_property
    def totals(self) -> Floats:
        """K_t, the tokens of each topic."""
        return np.asarray(self.counts.sum(axis=0), np.float64).ravel()

    @cached_property
    def entries(self) -> tuple[Any, Any, Any]:
        """(first, topic, mu_topic(word)) by word, for the kernels."""
        chance = self.counts.data / self.totals[self.counts.indices]
        return self.counts.indptr.astype(np.int64), self.counts.indices.astype(np.int32), chance

    def blended(self, mixture: Mixture, share: float) -> Tally:
        """With so much of the mixture's topics in its own."""
        topics = sp.csr_array((mixture.topics * self.totals[:, None]).T)
        return Tally(sp.csr_array((1 - share) * self.counts + share * topics))

    def prior(self, concentration: float) -> Floats:
        """The Dirichlet parameters a = A E[theta]; a topic without a token keeps a very small one."""
        return concentration * np.maximum(self.totals / self.totals.sum(), LEAST_SHARE)


class Visits:
    """The documents to learn from and those to judge by; each visit is the same on any number of threads."""

    def __init__(self, table: sp.csr_array, judges: sp.csr_array | None, workers: Workers, seed: int = 0) -> None:
        self.workers = workers
        self.table, self.n_tokens = table, float(table.sum())
        self.mean_length = self.n_tokens / max(int(np.count_nonzero(np.diff(table.indptr))), 1)
        self.judges = judges
        self.halves = None if judges is None else halves(judges, seed)
        unigram = np.asarray(table.sum(axis=0)).ravel() / max(self.n_tokens, 1.0)
        self.background = 0.5 * unigram + 0.5 / unigram.size

    def learn(self, tally: Tally, prior: Floats, table: sp.csr_array | None = None) -> Tally:
        """One pass: each token shared among topics, without its own vote."""
        chosen = self.table if table is None else table
        arrays = _arrays(chosen)

        def some(cut: tuple[int, int]) -> Floats:
            out = np.zeros(tally.counts.nnz)
            cvb0_pass(*cut, arrays, tally.entries, prior, CARE, out)
            return out

        n_blocks = int(np.clip(BYTES / max(8 * tally.counts.nnz, 1), 2, BLOCKS))
        total = np.zeros(tally.counts.nnz)
        for part in self.workers.map(some, _cuts(chosen.shape[0], n_blocks)):
            total += part
        return Tally.with_entries(tally.counts, total)

    def scores(self, tally: Tally, prior: Floats, backgrounds: Floats) -> Floats:
        """Document completion of the judges: the mean log-probability of a token of their second halves.

        backgrounds : shares of the background in the topics, positive, so that no word is impossible; one score each
        """
        assert self.halves is not None
        given, held = self.halves
        scores = np.zeros((given.shape[0], backgrounds.size))
        settings = (tally.entries, self.background, backgrounds, prior, MORE_CARE)
        tables = _arrays(given), _arrays(held)

        def some(cut: tuple[int, int]) -> None:
            completion_scores(*cut, *tables, *settings, scores)

        self.workers.map(some, _cuts(given.shape[0], BLOCKS))
        return np.asarray(scores.sum(axis=0) / max(held.sum(), 1))

    def description(self, tally: Tally, background: float) -> float:
        """The paper's hold-out score of the judges, theta fitted to all their tokens, with so much smoothing."""
        assert self.judges is not None
        topics = (tally.counts.toarray() / np.where(tally.totals > 0, tally.totals, 1.0)).T
        shares = np.diag(tally.totals / tally.totals.sum())
        found = assign(
            topics, shares, self.judges,
            tolerance=DESCRIBED, smoothing=background, n_threads=self.workers.n_threads,
        )  # fmt: skip
        return float(np.nanmean(found.log_likelihoods))


class Sampler:
    """The same documents with one topic for every token, drawn again and again (Gibbs sampling).

    A sweep sees the topics of the sweep before, so documents can be visited in any order, on any number of threads.
    Its prior is the same for all topics: large ones need no help, and topics become more coherent (docs/research.md).
    """

    def __init__(self, visits: Visits, tally: Tally, concentration: float, seed: int) -> None:
        table, self.workers = visits.table, visits.workers
        self.counts, self.concentration = tally.counts.toarray().astype(np.float32), concentration
        lengths = np.asarray(table.sum(axis=1)).ravel()
        self.tokens = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), np.repeat(table.indices, table.data)
        self.order = np.argsort(self.tokens[1], kind="stable").astype(np.int32)
        self.first = np.searchsorted(self.tokens[1][self.order], np.arange(table.shape[1] + 1))
        edges = np.searchsorted(self.first, np.linspace(0, self.order.size, BLOCKS + 1)[1:-1]).tolist()
        self.words = list(pairwise([0, *edges, table.shape[1]]))  # about as many tokens in each cut
        rng, shares = np.random.default_rng([seed, 3]), tally.totals / tally.totals.sum()
        smallest = np.uint16 if shares.size <= 2**16 else np.int32  # what is looked up in any order should be small
        self.z = rng.choice(shares.size, self.order.size, p=shares).astype(smallest)
        self.seed, self.n_drawn, self.rounds = seed, 0, FIRST_ROUNDS
        self.topics_a_document = visits.mean_length  # on average, before the last sweep

    def times(self, factor: float) -> Sampler:
        """A copy, to go on with a prior so many times as strong."""
        other = copy(self)
        other.z = self.z.copy()
        other.concentration = float(np.clip(factor * self.concentration, *STRENGTHS))
        return other

    def mean(self, n_sweeps: int) -> Tally:
        """The mean of so many sweeps from here."""
        total = np.zeros(self.counts.shape)
        for _ in range(n_sweeps):
            total += self.sweep()
        return Tally(sp.csr_array(total / n_sweeps))

    def sweep(self) -> Any:
        """Draw every token's topic again; how often each word has each topic now."""
        n_words, n_topics = self.counts.shape
        scale = 1 / (self.counts.sum(axis=0, dtype=np.float64) + n_words * ETA)
        weights = np.zeros((n_words, -(-n_topics // LANES) * LANES), np.float32)
        self.workers.map(lambda cut: word_weights(*cut, self.counts, scale, ETA, weights), self.words)
        kernel: Any = sweep_all_topics
        arrays: tuple[Any, ...] = self.tokens, self.z, weights
        if n_topics >= MANY * self.topics_a_document:
            reached = np.empty_like(weights)
            self.workers.map(lambda cut: cumulative_weights(*cut, weights, reached), self.words)
            kernel, arrays = sweep_documents, (*arrays, reached)
        settings = scale, self.concentration / n_topics, ETA
        seeds = np.random.default_rng([self.seed, 4, self.n_drawn]).integers(2**31, size=self.rounds).tolist()
        self.n_drawn += 1

        def draw(cut: tuple[int, int]) -> int:
            return [kernel(*cut, *arrays, *settings, seed) for seed in seeds][-1]

        found = self.workers.map(draw, _cuts(self.tokens[0].size - 1, BLOCKS))
        self.topics_a_document = sum(found) / max(int(np.count_nonzero(np.diff(self.tokens[0]))), 1)
        counts = np.empty_like(self.counts)
        self.rounds = 1
        self.workers.map(lambda cut: count_topics(*cut, self.order, self.first, self.z, counts), self.words)
        self.counts = counts
        return counts


def _arrays(table: sp.csr_array) -> tuple[Any, Any, Any]:
    return table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data.astype(np.int32)


def _cuts(n_documents: int, n_blocks: int) -> list[tuple[int, int]]:
    edges = np.linspace(0, n_documents, min(n_blocks, max(n_documents, 1)) + 1).astype(int).tolist()
    return list(pairwise(edges))
