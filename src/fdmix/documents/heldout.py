"""Held-out documents and the choices they drive: the strength of the prior, the smoothing, how far to go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.splits import halves
from fdmix.documents.dirichlet import STRONGEST_PRIOR, WEAKEST_PRIOR
from fdmix.documents.topic_counts import TopicCounts
from fdmix.documents.training import document_ranges, kernel_arrays
from fdmix.kernels.cvb0 import completion_scores
from fdmix.runtime.threads import Workers

Floats = np.ndarray[Any, np.dtype[np.float64]]
PRIOR_FACTOR = 1.7  # between the strengths of the prior that are tried
BACKGROUNDS = np.array([1e-4, 1e-3, 3e-3, 1e-2, 3e-2])  # shares of the background in the topics that are tried
SCORING_CONVERGENCE = (30, 3e-3)  # rounds for a document, and the share of its tokens that the last one moves
RANGES = 16  # of documents, scored in parallel


@dataclass(frozen=True)
class Choice:
    """Topics with the prior and the smoothing that complete held-out documents best.

    prior : a_t, the Dirichlet parameters of a document's topics; background : its share in the topics
    completion : log-probability of a token of the second halves, given the first ones; NaN without held-out documents
    """

    counts: TopicCounts
    prior: Floats
    background: float = 0.0
    completion: float = -np.inf

    @property
    def concentration(self) -> float:
        """A = sum of a_t, the strength of the prior in tokens."""
        return float(self.prior.sum())


class HeldOutDocuments:
    """Documents that no topic has learned from, and how well topics predict them.

    background : what topics are smoothed with, a distribution over words
    seed : of the halves
    """

    def __init__(self, table: sp.csr_array, background: Floats, workers: Workers, seed: int = 0) -> None:
        self.table, self.background, self.workers = table, background, workers
        self.halves = halves(table, seed)

    def choose(self, counts: TopicCounts, prior: Floats) -> Choice:
        """The prior's strength and the background that complete these documents best.

        Completion rises with the strength up to its best and then falls, so the search goes on from that of `prior`.
        """
        here = self._with_best_background(counts, prior)
        for factor in (PRIOR_FACTOR, 1 / PRIOR_FACTOR):
            while WEAKEST_PRIOR <= factor * here.concentration <= STRONGEST_PRIOR:
                there = self._with_best_background(counts, factor * here.prior)
                if there.completion <= here.completion:
                    break
                here = there
        return here

    def completions(self, counts: TopicCounts, prior: Floats, backgrounds: Floats) -> Floats:
        """The mean log-probability of a token of the second halves, given the first ones.

        backgrounds : shares of the background in the topics, positive, so that no word is impossible; one score each
        """
        given, held = self.halves
        scores = np.zeros((given.shape[0], backgrounds.size))
        settings = (counts.entries, self.background, backgrounds, prior, SCORING_CONVERGENCE)
        tables = kernel_arrays(given), kernel_arrays(held)

        def score(documents: tuple[int, int]) -> None:
            completion_scores(*documents, *tables, *settings, scores)

        self.workers.map(score, document_ranges(given.shape[0], RANGES))
        return np.asarray(scores.sum(axis=0) / max(held.sum(), 1))

    def _with_best_background(self, counts: TopicCounts, prior: Floats) -> Choice:
        scores = self.completions(counts, prior, BACKGROUNDS)
        return Choice(counts, prior, float(BACKGROUNDS[scores.argmax()]), float(scores.max()))
