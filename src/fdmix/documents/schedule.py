"""The schedule of Gibbs sampling: which prior, and how many sweeps, as long as held-out documents gain."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from fdmix.documents.gibbs import GibbsSampler
from fdmix.documents.heldout import Choice, HeldOutDocuments
from fdmix.documents.topic_counts import TopicCounts
from fdmix.documents.training import TrainingDocuments
from fdmix.mixture.mixture import Mixture

TOKENS_OF_PAIRS = 0.0, 3.0, 10.0, 30.0  # of every word, shared out as the first topics do, that are tried
REPORT_SECONDS = 1.0  # between two reports on sweeps that are not scored yet


@dataclass(frozen=True)
class Schedule:
    """How long to sample. The values were chosen on synthetic and real corpora (docs/evidence/research).

    min_sweeps, max_sweeps : bounds of the number of sweeps, (draws / draws of a sweep)^1.5
    draws : half a minute for 60,000 paragraphs; small corpora need more sweeps, which are cheap
    compared : sweeps with each kind of prior before the better one goes on; the second half is averaged
    gain_of_priors : in completion, that a prior for each topic must have over one for all: it loses rare topics
    strong_prior : the strength of one prior for all topics, in mean document lengths, before it is learned:
        documents have more topics then, and topics that were missed are found
    strong_share : of all sweeps, with the strong prior
    growth : a later stage takes 1 / growth of all sweeps before it, all but the first tenth averaged
    min_gain : in completion; a smaller gain of a stage counts as none
    patience : stages in a row without a gain that end the sampling
    """

    min_sweeps: int = 400
    max_sweeps: int = 900
    draws: float = 1.2e8
    compared: int = 60
    gain_of_priors: float = 0.002
    strong_prior: float = 0.45
    strong_share: float = 1 / 3
    growth: int = 2
    min_gain: float = 0.0005
    patience: int = 2

    def n_sweeps(self, n_tokens: float, n_topics: int, n_words: int) -> int:
        """The number of sweeps for a corpus; a sweep also counts words in topics, which takes time."""
        draws_of_a_sweep = max(n_tokens + n_topics * n_words / 20, 1.0)
        return int(np.clip((self.draws / draws_of_a_sweep) ** 1.5, self.min_sweeps, self.max_sweeps))


@dataclass(frozen=True)
class Stage:
    """A sampler, the mean of its last sweeps, and what held-out documents chose for it.

    tokens_of_pairs : of every word, shared out as the first topics do, in the choice's counts
    """

    sampler: GibbsSampler
    mean: TopicCounts
    choice: Choice
    tokens_of_pairs: float = 0.0


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
        sampler = GibbsSampler(training, first.counts, first.prior, seed, heldout.workers)
        self.first = self.best = Stage(sampler, first.counts, first)
        self.told_at = time.monotonic()

    @property
    def budget_ran_out(self) -> bool:
        """Whether no further stage of sampling may be made."""
        return self.n_sweeps - self.done < self.schedule.compared

    def run(self) -> Stage:
        """The stage that completes held-out documents best: longer and longer means, until two gain nothing."""
        stage = self.with_better_prior()
        without_gain = 0 if stage is self.best else 1
        if stage is self.best and stage.sampler.equal_prior:
            self._search(stage)
        while without_gain < self.schedule.patience and not self.stopped and not self.budget_ran_out:
            before = self.best.choice.completion
            sweeps = max(self.schedule.compared, self.done // self.schedule.growth)
            stage = self._after(stage, sweeps, burn_in=sweeps // 10)
            without_gain = 0 if stage.choice.completion > before + self.schedule.min_gain else without_gain + 1
        return self.best

    def smoothed(self, stage: Stage, among: tuple[float, ...] = TOKENS_OF_PAIRS) -> Stage:
        """The stage with as many tokens of the first topics as complete held-out documents best.

        Sampling knows too little of rare words, and the pairs' topics, which saw every pair, know more.
        """
        best = stage
        for n_tokens in among:
            if not self.stopped and n_tokens != stage.tokens_of_pairs:
                there = self._scored(stage, n_tokens)
                best = there if there.choice.completion > best.choice.completion else best
        return best

    def with_better_prior(self) -> Stage:
        """Sampled with a prior for each topic, or with one for all topics, whichever completes better.

        Where common words belong to no topic, as in text, a prior for each topic lets a few topics gather them.
        """
        burn_in = self.schedule.compared // 2
        equal = replace(self.first, sampler=self.first.sampler.with_equal_prior())
        own, equal = (self._after(stage, self.schedule.compared, burn_in) for stage in (self.first, equal))
        gain = own.choice.completion - equal.choice.completion
        better = own if gain > self.schedule.gain_of_priors else equal
        self.best = better if better.choice.completion > self.first.choice.completion else self.first
        return better

    def _search(self, stage: Stage) -> None:
        """Sweeps of the stage's sampler with a strong prior; then it goes on with the prior that it has learned."""
        sampler, learned = stage.sampler, stage.sampler.prior
        sweeps = round(self.schedule.strong_share * self.n_sweeps)
        strength = max(self.schedule.strong_prior * float(sampler.lengths.mean()), learned.sum())
        sampler.prior = np.full(learned.size, strength / learned.size)
        sampler.mean(sweeps, self._watch(stage.choice))
        sampler.prior = learned
        self.done += sweeps

    def _after(self, stage: Stage, sweeps: int, burn_in: int) -> Stage:
        """The stage after more sweeps; `stage` itself if somebody asked to stop, also meanwhile."""
        if self.stopped:
            return stage
        left = self.n_sweeps - self.done
        sweeps = sweeps if left >= 2 * sweeps else left  # what would be left over is added to the last stage
        stopped, sampler = self._watch(stage.choice), stage.sampler
        if sampler.mean(burn_in, stopped, learn_prior=True) is None:
            return stage
        mean = sampler.mean(sweeps - burn_in, stopped, learn_prior=True)
        if mean is None:
            return stage
        there = Stage(sampler, mean, replace(stage.choice, prior=sampler.prior), stage.tokens_of_pairs)
        there = self._scored(there, stage.tokens_of_pairs)
        if stage.mean is self.first.mean:
            there = self.smoothed(there)
        self.done += sweeps
        self.stopped, self.told_at = self.tell(there.choice, self.done, self.n_sweeps), time.monotonic()
        if there.choice.completion > self.best.choice.completion:
            self.best = there
        return there

    def _scored(self, stage: Stage, n_tokens: float) -> Stage:
        """The stage with n_tokens of every word from the first topics, and the choice for it."""
        choice = self.heldout.choose(stage.mean.with_tokens_of(self.mixture, n_tokens), stage.choice.prior)
        return replace(stage, choice=choice, tokens_of_pairs=n_tokens)

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
