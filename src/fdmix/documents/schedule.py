"""The schedule of Gibbs sampling: how many sweeps, and with which prior, as long as held-out documents gain."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fdmix.documents.gibbs import GibbsSampler
from fdmix.documents.heldout import Choice, HeldOutDocuments
from fdmix.documents.topic_counts import TopicCounts
from fdmix.documents.training import TrainingDocuments
from fdmix.mixture.mixture import Mixture

BURN_IN = 10  # sweeps that are discarded before sweeps are averaged
STEP = 2 * BURN_IN  # sweeps of a step: half are discarded, half averaged
BLENDS = 0.0, 0.05, 0.15  # shares of the first topics in the sampled ones, which have too few of the rare words
REPORT_SECONDS = 1.0  # between two reports on sweeps that are not scored yet


@dataclass(frozen=True)
class Schedule:
    """How long to sample. The values were chosen on synthetic and real corpora (docs/research).

    min_sweeps, max_sweeps : bounds of the number of sweeps, (draws / draws of a sweep)^1.5
    draws : half a minute for 60,000 paragraphs; small corpora need more sweeps, which are cheap
    strongest_prior : the first concentration, in mean document lengths: it should not outweigh a document
    halvings : of the prior before weaker priors are compared with the first one; a single halving can mislead
    min_gain : in quality; a smaller gain counts as none
    growth : once the prior is chosen, each step takes 1 / growth of all sweeps before it
    """

    min_sweeps: int = 300
    max_sweeps: int = 900
    draws: float = 1.2e8
    strongest_prior: float = 0.45
    halvings: int = 3
    min_gain: float = 0.001
    growth: int = 4

    def n_sweeps(self, n_tokens: float, n_topics: int, n_words: int) -> int:
        """The number of sweeps for a corpus; a sweep also counts words in topics, which takes time."""
        draws_of_a_sweep = max(n_tokens + n_topics * n_words / 20, 1.0)
        return int(np.clip((self.draws / draws_of_a_sweep) ** 1.5, self.min_sweeps, self.max_sweeps))


@dataclass(frozen=True)
class Stage:
    """A sampler, the mean of its last sweeps, what held-out documents chose for it, and its quality."""

    sampler: GibbsSampler
    mean: TopicCounts
    choice: Choice
    quality: float


class Tell(Protocol):
    """Tells a callback about sweeps."""

    def __call__(self, choice: Choice, done: int, of: int, scored: bool = True) -> bool:
        """Whether to stop.

        choice : the last one; done, of : sweeps so far, and at most
        scored : whether the choice is that of these sweeps, or of earlier ones
        """


class Sampling:
    """Gibbs sampling in progress: the best stage so far, the sweeps made, and whether somebody asked to stop."""

    def __init__(
        self,
        first: Choice,
        mixture: Mixture,
        training: TrainingDocuments,
        heldout: HeldOutDocuments,
        seed: int,
        tell: Tell,
        schedule: Schedule = Schedule(),
    ) -> None:
        self.mixture, self.heldout, self.tell, self.schedule = mixture, heldout, tell, schedule
        self.done, self.stopped = 0, False
        self.n_sweeps = schedule.n_sweeps(training.n_tokens, *mixture.topics.shape)
        prior = schedule.strongest_prior * training.mean_length
        sampler = GibbsSampler(training, first.counts, prior, seed, heldout.workers)
        self.first = self.best = Stage(sampler, first.counts, first, heldout.quality(first))
        self.told_at = time.monotonic()

    def run(self) -> Stage:
        """The best stage of all sweeps: the prior is chosen first, then longer and longer means are taken."""
        return self._settled(self._with_chosen_prior())

    def blended(self, stage: Stage) -> Choice:
        """The stage's topics with the share of the first topics that completes best; the largest share is in it."""
        best = stage.choice
        for share in sorted(BLENDS)[:-1]:
            if not self.stopped:
                there = self.heldout.choose(stage.mean.blended(self.mixture, share), stage.choice.concentration)
                best = there if there.completion > best.completion else best
        return best

    def _with_chosen_prior(self) -> Stage:
        """Sampled with the first prior, or with weaker and weaker ones as long as they have the better quality.

        A strong prior spreads documents over more topics: topics move freely. With a weak one topics become sharper,
        which raises the hold-out score and lowers completion. Stages with the same number of sweeps are compared.
        """
        same = weaker = self._after(self.first)
        for _ in range(self.schedule.halvings):
            same = self._after(same)
            weaker = self._after(weaker, 0.5)
        while weaker.quality > same.quality + self.schedule.min_gain:
            same, weaker = self._after(weaker), self._after(weaker, 0.5)
        return same

    def _settled(self, stage: Stage) -> Stage:
        """The best stage that longer and longer means arrive at, until two of them in a row gain nothing."""
        best, without_gain = stage, 0
        while without_gain < 2:
            stage = self._after(stage, 1.0, max(STEP, self.done // self.schedule.growth))
            without_gain = 0 if stage.quality > best.quality + self.schedule.min_gain else without_gain + 1
            best = max(best, stage, key=lambda one: one.quality)
        return best

    def _after(self, stage: Stage, factor: float = 1.0, sweeps: int = STEP) -> Stage:
        """The stage after more sweeps, with `factor` times the prior; `stage` itself if no sweep may be made."""
        left = self.n_sweeps - self.done
        if self.stopped or left < STEP:
            return stage
        sweeps = sweeps if left >= 2 * sweeps else left  # what would be left over is added to the last step
        sampler = stage.sampler.with_prior(factor)
        stopped = self._watch(stage.choice)
        if sampler.mean(BURN_IN, stopped) is None:
            return stage
        mean = sampler.mean(sweeps - BURN_IN, stopped)
        if mean is None:
            return stage
        choice = self.heldout.choose(mean.blended(self.mixture, max(BLENDS)), stage.choice.concentration)
        self.done += sweeps
        self.stopped, self.told_at = self.tell(choice, self.done, self.n_sweeps), time.monotonic()
        there = Stage(sampler, mean, choice, self.heldout.quality(choice))
        self.best = max(self.best, there, key=lambda one: one.quality)
        return there

    def _watch(self, choice: Choice) -> Callable[[], bool]:
        """A function to call after each sweep: it reports once a second, and says whether to stop."""
        swept = 0

        def stopped() -> bool:
            nonlocal swept
            swept += 1
            if time.monotonic() - self.told_at >= REPORT_SECONDS:
                self.stopped = self.tell(choice, self.done + swept, self.n_sweeps, scored=False)
                self.told_at = time.monotonic()
            return self.stopped

        return stopped
