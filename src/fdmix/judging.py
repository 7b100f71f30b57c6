"""Who judges: documents that are set aside, and what completes and describes them best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.counting import content_hashes
from fdmix.visits import STRENGTHS, Tally, Visits

SET_ASIDE = 0.05  # of the documents,
MOST_ASIDE = 4_000  # and no more than so many
FEWEST = 40  # documents with which anything can be chosen
DESCRIPTION = 0.45  # the hold-out score's weight in the worth: it can be won with wrong topics; completion has 1
FACTOR = 1.7  # between the strengths of the prior that are tried
BACKGROUNDS = np.array([1e-4, 1e-3, 3e-3, 1e-2, 3e-2])  # shares of the unigram, made even, in the topics


def with_pairs(table: sp.csr_array) -> Any:
    """Which documents have two tokens or more: one token says nothing about others, and cannot be halved."""
    return np.flatnonzero(np.asarray(table.sum(axis=1)).ravel() >= 2)


def set_aside(table: sp.csr_array) -> tuple[Any, Any]:
    """Which documents are set aside to judge by, and which are left to learn from: the same ones with any seed.

    Other documents to learn from make more of a difference than another start and other draws. A copy of a document
    that judges is not learned from: judges must be unseen.
    """
    n_documents = table.shape[0]
    n_aside = min(MOST_ASIDE, max(FEWEST // 4, round(SET_ASIDE * n_documents)))
    aside, rest = np.split(np.random.default_rng([0, 2]).permutation(n_documents), [n_aside])
    contents = content_hashes(table)
    unlike = rest[~np.isin(contents[rest], contents[aside])]
    return np.sort(aside), np.sort(unlike if unlike.size else rest)


@dataclass(frozen=True)
class Choice:
    """Topics as a tally, the strength of the prior and the background that go with them, and their completion."""

    tally: Tally
    concentration: float
    background: float = 0.0
    score: float = -np.inf


@dataclass(frozen=True)
class Judge:
    """Chooses by how well the documents set aside are completed and described."""

    visits: Visits

    def worth(self, choice: Choice) -> float:
        """Completion and, with less weight, the hold-out score, for which theta is fitted to the whole document."""
        return choice.score + DESCRIPTION * self.visits.description(choice.tally, choice.background)

    def choose(self, tally: Tally, concentration: float) -> Choice:
        """The strength A of the prior and the background that complete the judges best; the score is NaN without any.

        Completion rises with A up to its best, and then falls: so A is followed from where it was.
        """
        if self.visits.halves is None:
            return Choice(tally, concentration, score=float("nan"))
        here = self._best_background(tally, concentration)
        for factor in (FACTOR, 1 / FACTOR):
            while STRENGTHS[0] <= factor * here.concentration <= STRENGTHS[1]:
                there = self._best_background(tally, factor * here.concentration)
                if there.score <= here.score:
                    break
                here = there
        return here

    def _best_background(self, tally: Tally, concentration: float) -> Choice:
        scores = self.visits.scores(tally, tally.prior(concentration), BACKGROUNDS)
        return Choice(tally, concentration, float(BACKGROUNDS[scores.argmax()]), float(scores.max()))
