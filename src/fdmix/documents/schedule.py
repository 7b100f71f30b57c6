"""How long to sample, and with which prior: sweep after sweep, as long as the judges gain by it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fdmix.documents.heldout import Choice, Judge
from fdmix.documents.visits import Sampler, Tally
from fdmix.mixture.mixture import Mixture

SWEEPS = 10  # that go by, and as many or more, whose mean is judged
SWEEPS_IN_ALL = 300, 900  # at least and at most: (so many draws / those of a sweep)^1.5,
DRAWS = 1.2e8  # half a minute for 60,000 paragraphs; small corpora need more sweeps, which are cheap
LONGER = 4  # once the prior is chosen, each step takes one part in four of all sweeps before it
STRONGEST = 0.45  # prior, in lengths of a document: it should not outweigh the document
HALVINGS = 3  # of the prior, before it is judged whether weaker ones are better
GAIN = 0.001  # in worth; less is none
SECONDS = 1.0  # between two reports on sweeps that are not judged yet
BLENDS = 0.0, 0.05, 0.15  # shares of the topics before in those sampled, which have too few of the rare words


@dataclass(frozen=True)
class Stage:
    """Where sampling is, the mean of its last sweeps, what was chosen to go with it, and what that is worth."""

    sampler: Sampler
    mean: Tally
    choice: Choice
    worth: float


class Tell(Protocol):
    """Tells a callback about sweeps."""

    def __call__(self, choice: Choice, done: int, of: int, judged: bool = True) -> bool:
        """Whether the callback asks to stop.

        choice : the last one; done, of : sweeps so far, and at most
        judged : whether the choice is that of these sweeps, or of earlier ones
        """


class Sweeps:
    """Sampling in progress: the best so far, how many sweeps are left, and whether the callback asked to stop."""

    best: Stage

    def __init__(self, judge: Judge, before: Mixture, tell: Tell) -> None:
        n_topics, n_words = before.topics.shape
        work = judge.visits.n_tokens + n_topics * n_words / 20  # of a sweep, in draws; its counts take time, too
        self.judge, self.before, self.tell, self.stop = judge, before, tell, False
        self.done, self.in_all = 0, int(np.clip((DRAWS / max(work, 1.0)) ** 1.5, *SWEEPS_IN_ALL))
        self.told_at = time.monotonic()

    def begin(self, passes: Choice, seed: int) -> Stage:
        """Where the passes ended, with the strongest prior."""
        strong = STRONGEST * self.judge.visits.mean_length
        sampler = Sampler(self.judge.visits, passes.tally, strong, seed)
        self.best = Stage(sampler, passes.tally, passes, self.judge.worth(passes))
        return self.best

    def after(self, stage: Stage, factor: float = 1.0, sweeps: int = 2 * SWEEPS) -> Stage:
        """Where sweeps with the prior's strength times a factor lead; `stage` itself if no more may be made."""
        left = self.in_all - self.done
        if self.stop or left < 2 * SWEEPS:
            return stage
        sweeps = sweeps if left >= 2 * sweeps else left  # a short rest is added to the last ones
        sampler = stage.sampler.times(factor)
        stopped = self._watch(stage.choice)
        if sampler.mean(SWEEPS, stopped) is None:  # these sweeps forget where it began
            return stage
        mean = sampler.mean(sweeps - SWEEPS, stopped)
        if mean is None:
            return stage
        choice = self.judge.choose(mean.blended(self.before, max(BLENDS)), stage.choice.concentration)
        self.done += sweeps
        self.stop, self.told_at = self.tell(choice, self.done, self.in_all), time.monotonic()
        there = Stage(sampler, mean, choice, self.judge.worth(choice))
        self.best = max(self.best, there, key=lambda one: one.worth)
        return there

    def _watch(self, choice: Choice) -> Callable[[], bool]:
        """To be called after each sweep: tells of it once in a while, and says whether to stop."""
        swept = 0

        def stopped() -> bool:
            nonlocal swept
            swept += 1
            if time.monotonic() - self.told_at >= SECONDS:
                self.stop = self.tell(choice, self.done + swept, self.in_all, judged=False)
                self.told_at = time.monotonic()
            return self.stop

        return stopped

    def with_the_right_prior(self, begin: Stage) -> Stage:
        """Sampled with the prior it begins with, or with weaker and weaker ones if they are worth more.

        A strong prior spreads documents over more topics. Topics move freely, become sharper, describe documents
        better and complete them worse; both count. One half of the prior may look better or worse than where it
        leads, three halvings do not (docs/research/sweeps.md). Compared are always as many sweeps.
        """
        same = weaker = self.after(begin)
        for _ in range(HALVINGS):
            same = self.after(same)
            weaker = self.after(weaker, 0.5)
        while weaker.worth > same.worth + GAIN:
            same, weaker = self.after(weaker), self.after(weaker, 0.5)
        return same

    def settled(self, stage: Stage) -> Stage:
        """The best of what longer and longer means arrive at, until nothing is gained twice."""
        best, idle = stage, 0
        while idle < 2:
            stage = self.after(stage, 1.0, max(2 * SWEEPS, self.done // LONGER))
            idle = 0 if stage.worth > best.worth + GAIN else idle + 1
            best = max(best, stage, key=lambda one: one.worth)
        return best

    def blended(self, stage: Stage) -> Choice:
        """With as much of the topics before as completes best; the largest share was judged on the way."""
        best = stage.choice
        for share in sorted(BLENDS)[:-1]:
            if not self.stop:
                there = self.judge.choose(stage.mean.blended(self.before, share), stage.choice.concentration)
                best = there if there.score > best.score else best
        return best
