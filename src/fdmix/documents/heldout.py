"""Who judges: documents that are set aside, and what completes and describes them best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fdmix.documents.visits import STRENGTHS, Tally, Visits

DESCRIPTION = 0.45  # the hold-out score's weight in the worth: it can be won with wrong topics; completion has 1
FACTOR = 1.7  # between the strengths of the prior that are tried
BACKGROUNDS = np.array([1e-4, 1e-3, 3e-3, 1e-2, 3e-2])  # shares of the unigram, made even, in the topics


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
