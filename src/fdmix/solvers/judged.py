"""Sharp or smooth topics: held-out pairs decide how far the sharp topics of sparse EM are smoothed.

Where topics have words of their own, sparse EM finds them, and more likelihood is only noise. In real text most
topics have a little of most words, and sparse EM cuts off what the data do support. So:

    sparse    sparse EM on the pairs of most documents.
    smooth    A share of the unigram is mixed into each topic, and EM without shrinkage goes on, as long as the pairs
              of held-out documents become more likely. If they do not become more likely than with the sharp topics,
              these are kept.

Then a few more passes on the pairs of all documents.
docs/explanation/fitting.md, "Sharp or smooth", has the measurements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix.engines import Engine, State
from fdmix.mixture.mixture import Mixture
from fdmix.solvers.contract import Problem, Run

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Smoothing:
    """How sharp topics are smoothed, and how this is judged.

    share : of the unigram in each topic at the beginning; with 3 % instead of 20 %, EM takes longer to fill in what
        shrinkage cut off, and ends at a worse likelihood
    first_look : passes before held-out pairs are looked at; before that, it is mostly the unigram that helps
    check_every : passes between two looks; also the number of passes on all pairs in the end
    min_gain : share of what smoothing gained so far; a look that gains less is the last
    evidence : log-likelihood that the held-out tokens must gain together before sharp topics are given up. Along the
        flat direction the likelihood hardly changes: worlds with sharp topics gain less than 1 by chance, problems
        that want smooth topics 14 and more
    max_passes : a guard
    power : of over-relaxation, as in the sparse phase
    backgrounds : shares of the background in the topics that are judged; the best one counts
    """

    share: float = 0.2
    first_look: int = 10
    check_every: int = 5
    min_gain: float = 0.05
    evidence: float = 2.0
    max_passes: int = 60
    power: float = 1.7
    backgrounds: tuple[float, ...] = (1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.4)


SMOOTHING = Smoothing()


class Judge:
    """The pairs of held-out documents: how likely topics make them, with the background that serves them best.

    background : a distribution over words without zeros
    n_tokens : of the held-out documents
    """

    def __init__(self, engine: Engine, background: Floats, n_tokens: float) -> None:
        self.engine, self.background, self.n_tokens = engine, background, n_tokens
        self.at = 2  # the position of the best background of the last mixture, where the next search begins

    def score(self, mixture: Mixture) -> float:
        """sum_uv Mhat[u, v] log M[u, v] over the held-out pairs.

        Sharp topics leave out words that smooth ones have. A share of the background makes the two comparable: what
        is left is whether smoothing put the words into the right topics. The score rises with the share up to its
        best and then falls.
        """
        score = self._with_background(mixture, self.at)
        for step in (1, -1):
            while 0 <= self.at + step < len(SMOOTHING.backgrounds):
                there = self._with_background(mixture, self.at + step)
                if not there > score:
                    break
                self.at, score = self.at + step, there
        return score

    def _with_background(self, mixture: Mixture, at: int) -> float:
        share = SMOOTHING.backgrounds[at]
        topics = (1 - share) * mixture.topics + share * self.background
        state = self.engine.place(Mixture(topics / topics.sum(axis=1, keepdims=True), mixture.correlations))
        return self.engine.expect(state, joint=False).log_likelihood


class SmoothRun(Run):
    """EM without shrinkage, from topics that are mixed with the unigram, as long as held-out pairs gain."""

    phase = "smooth"

    def __init__(self, problem: Problem, sharp: Mixture, judge: Judge) -> None:
        self.engine, self.sharp, self.judge = problem.engine, sharp, judge
        self.state = self.engine.place(mixed_with_unigram(sharp, problem, SMOOTHING.share))
        self.done = 0
        self.best: State | None = None
        self.first = self.score = judge.score(sharp)

    @property
    def gained(self) -> bool:
        """Whether smooth topics are better than the sharp ones."""
        return self.best is not None

    def step(self) -> float:
        """Take one pass; return the log-likelihood of the mixture before it."""
        now = self.engine.expect(self.state)
        self.state = self.engine.maximise(self.state, now, power=SMOOTHING.power)
        self.done += 1
        since = self.done - SMOOTHING.first_look
        if since >= 0 and since % SMOOTHING.check_every == 0 and not self._gains():
            self.settled = "held-out pairs stopped improving" if self.gained else "held-out pairs prefer sharp topics"
        if self.settled is None and self.done >= SMOOTHING.max_passes:
            self.settled = f"the {SMOOTHING.max_passes} passes of smoothing were made"
        return now.log_likelihood

    def _gains(self) -> bool:
        """Look at the held-out pairs: whether to go on.

        A gain at the first look may be due to the unigram alone. Smooth topics are better than sharp ones only if
        a later look gains once more, and all held-out tokens together gained enough to be no accident.
        """
        score = self.judge.score(self.engine.mixture(self.state))
        gain = score - self.score
        if not gain > 0:
            return False
        self.score = score
        if self.done == SMOOTHING.first_look:
            return True
        if (score - self.first) * self.judge.n_tokens >= SMOOTHING.evidence:
            self.best = self.state
        return gain >= SMOOTHING.min_gain * (score - self.first)

    def mixture(self) -> Mixture:
        """The best smooth topics, or the sharp ones if these are better."""
        return self.sharp if self.best is None else self.engine.mixture(self.best)

    def active(self) -> int:
        """The number of non-zero topic entries."""
        return self.engine.active(self.state)


class AllPairsRun(Run):
    """A few passes of EM without shrinkage on the pairs of all documents, from smooth topics."""

    phase = "smooth"

    def __init__(self, problem: Problem, start: Mixture, share: float) -> None:
        self.engine, self.done = problem.engine, 0
        self.state = self.engine.place(mixed_with_unigram(start, problem, share))

    def step(self) -> float:
        """Take one pass; return the log-likelihood of the mixture before it."""
        now = self.engine.expect(self.state)
        self.state = self.engine.maximise(self.state, now)
        self.done += 1
        if self.done == SMOOTHING.check_every:
            self.settled = "held-out pairs stopped improving"
        return now.log_likelihood

    def mixture(self) -> Mixture:
        """The current topics."""
        return self.engine.mixture(self.state)

    def active(self) -> int:
        """The number of non-zero topic entries."""
        return self.engine.active(self.state)


def mixed_with_unigram(mixture: Mixture, problem: Problem, share: float) -> Mixture:
    """The mixture with a share of the problem's unigram in each topic, so that EM can revive what was zero."""
    unigram = problem.mhat.row_sums
    topics = (1 - share) * mixture.topics + share * unigram / unigram.sum()
    return Mixture(topics / topics.sum(axis=1, keepdims=True), mixture.correlations)


class JudgedRun(Run):
    """Runs one after the other; the last one has the result."""

    def __init__(self, stages: Iterator[Run]) -> None:
        self.stages = stages
        self.now = next(stages)

    @property
    def phase(self) -> str:  # type: ignore[override]
        """That of the current run."""
        return self.now.phase

    @property
    def engine(self) -> Engine:  # type: ignore[override]
        """That of the current run."""
        return self.now.engine

    def step(self) -> float:
        """Take one pass; return the log-likelihood of the mixture before it."""
        likelihood = self.now.step()
        if self.now.settled is not None:
            following = next(self.stages, None)
            if following is None:
                self.settled = self.now.settled
            else:
                self.now = following
        return likelihood

    def mixture(self) -> Mixture:
        """The current topics."""
        return self.now.mixture()

    def active(self) -> int:
        """The number of non-zero topic entries."""
        return self.now.active()
