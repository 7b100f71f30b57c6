"""Sparse EM: maximum likelihood, then the sharpest topics that explain the pairs equally well.

The likelihood has a flat direction: topics can be blurred towards each other while alpha becomes more diagonal, and
M = mu' alpha mu does not change. Maximum likelihood may end anywhere along it. The sharp end is found in phases:

    likelihood   over-relaxed EM. A step that loses likelihood is replaced by a plain EM step, which never does.
    unmix        Spare topics of the start are merged; then one exact change of basis along the flat direction.
                 Neither needs a pass over the pairs.
    sparse       EM that shrinks every expected count, until the set of non-zero entries settles. A step that loses
                 much more likelihood than the shrinkage explains is replaced by a plain step. Now and then, topics
                 that stand for two true ones are split; topics that stand for none, or two that stand for one, make
                 room. If topics are still blurred in the end, they are unmixed and the phase begins again: with much
                 data, shrinkage alone would need thousands of passes.

docs/explanation/fitting.md has a table of all constants with the measurements behind them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fdmix.engines import Expectation, State
from fdmix.mixture.mixture import Mixture
from fdmix.solvers.contract import Problem, Run, Solver
from fdmix.solvers.em_settings import LIKELIHOOD, OVER_RELAXATION, SPARSE, SWAPS
from fdmix.solvers.judged import AllPairsRun, Judge, JudgedRun, SmoothRun, mixed_with_unigram
from fdmix.solvers.moves import Floats, blur_of, merged, unmixed
from fdmix.solvers.scattered import replaced
from fdmix.solvers.swaps import swapped


@dataclass(frozen=True)
class EM(Solver):
    """Settings of sparse EM.

    sparsity : the shrinkage of the sparse phase, in tokens: a number, or "auto" for 0.2. 0 leaves out the sparse
        phase and gives plain maximum likelihood
    swaps : whether topics may be split and merged on the way. None: yes, unless the start is a Mixture, whose topics
        keep their numbers
    """

    sparsity: float | str | None = "auto"
    swaps: bool | None = None

    def __post_init__(self) -> None:
        if self.sparsity == "auto" or self.sparsity is None:
            return
        if isinstance(self.sparsity, str) or not 0 <= self.sparsity < np.inf:
            raise ValueError(f"sparsity is 'auto' or a number of tokens from 0 upwards, not {self.sparsity!r}")

    @property
    def judges(self) -> bool:
        """Only with the shrinkage by default: a number asks for topics that are not smoothed."""
        return self.sparsity == "auto"

    def spare_topics(self, n_topics: int) -> int:
        """As many as the topics: a larger start finds topics more surely, and merging removes what is too many."""
        return round(LIKELIHOOD.spare_topics * n_topics) if self.sparsity else 0

    def begin(self, problem: Problem, start: Mixture) -> Run:
        """Start with the likelihood phase."""
        tokens = SPARSE.shrinkage if self.sparsity == "auto" else float(self.sparsity or 0)
        swaps = not problem.keep_numbers if self.swaps is None else self.swaps
        run = _EMRun(problem, start, shrinkage=tokens, swap_rounds=SWAPS.max_rounds if swaps else 0)
        if problem.held_out is None:
            return run
        unigram = problem.mhat.row_sums
        background = 0.5 * unigram / unigram.sum() + 0.5 / unigram.size
        return JudgedRun(_judged(run, problem, Judge(problem.held_out, background, problem.held_out_tokens)))


def _judged(sparse: _EMRun, problem: Problem, judge: Judge) -> Iterator[Run]:
    """Sparse EM, smoothing as far as the judge gains, the same again for all pairs (docs/explanation/fitting.md)."""
    yield sparse
    sharp = sparse.mixture()
    smooth = SmoothRun(problem, sharp, judge)
    yield smooth
    if problem.whole is None:
        return
    problem.engine.release()
    judge.engine.release()
    whole = problem.whole()
    if smooth.gained:
        yield AllPairsRun(whole, smooth.mixture(), SPARSE.revived)
    else:
        yield sparse.with_more_pairs(whole, sharp)


class _EMRun(Run):
    def __init__(self, problem: Problem, start: Mixture, shrinkage: float, swap_rounds: int) -> None:
        self.problem, self.engine, self.tokens = problem, problem.engine, shrinkage
        self.shrinkage = shrinkage / problem.n_tokens
        self.state: State = self.engine.place(start)
        self.phase = "likelihood"
        self.passes = 0
        self.first: float | None = None  # the likelihood before the first pass
        self.gained = 0.0
        self.power = OVER_RELAXATION.first_power
        self.previous: tuple[State, Expectation] | None = None  # the state before the last step
        self.may_have_lost = False  # whether the last step was over-relaxed, and no pass has looked at it yet
        self.supports: list[int] = []  # non-zero topic entries after each pass of the sparse phase
        self.swap_rounds, self.unmixings = swap_rounds, SPARSE.unmixings
        self.wait = LIKELIHOOD.min_passes  # the first pass at which the phase may end
        self.stops = list(LIKELIHOOD.stops)

    def with_more_pairs(self, problem: Problem, sharp: Mixture) -> _EMRun:
        """The sparse phase again, from topics that it found in some of the pairs; topics keep their numbers."""
        run = _EMRun(problem, mixed_with_unigram(sharp, problem, SPARSE.revived), self.tokens, swap_rounds=0)
        run.phase, run.gained, run.wait = "sparse", self.gained, 0
        return run

    def step(self) -> float:
        now = self.engine.expect(self.state, joint=self.passes % LIKELIHOOD.alpha_every == 0)
        self.passes += 1
        return self._likelihood_step(now) if self.phase == "likelihood" else self._sparse_step(now)

    def last_step(self) -> float:
        """A step without over-relaxation. It cannot lose likelihood, so that `mixture` needs no pass to check it."""
        self.power = 1.0
        return self.step()

    def mixture(self) -> Mixture:
        """The current state, or the one before if the last over-relaxed step lost likelihood."""
        state = self.state
        if self.previous is not None and self.settled is None and self.may_have_lost:
            before, expectation = self.previous
            fall = expectation.log_likelihood - self.engine.expect(state).log_likelihood
            if not fall <= (0 if self.phase == "likelihood" else SPARSE.largest_fall * self.gained):
                state = before
        return merged(self.engine.mixture(state), self.problem.n_topics)

    def active(self) -> int:
        return self.engine.active(self.state)

    def _likelihood_step(self, now: Expectation) -> float:
        if self.first is None:
            self.first = now.log_likelihood
        if self.previous is not None:
            before = self.previous[1].log_likelihood
            if not now.log_likelihood >= before:  # `not >=`, so that NaN falls back, too
                now = self._plain_step()
                if not now.log_likelihood > before:
                    self.state = self.previous[0]
                    self._end_likelihood_phase("the likelihood cannot be improved any more")
                    return before
            self.gained = max(self.gained, now.log_likelihood - self.first)
            if reason := self._has_settled(now.log_likelihood - before):
                self._end_likelihood_phase(reason)
                return now.log_likelihood
        self._relaxed_step(now)
        self.power = min(self.power * OVER_RELAXATION.growth, OVER_RELAXATION.largest_power)
        return now.log_likelihood

    def _relaxed_step(self, now: Expectation, shrinkage: float = 0.0) -> None:
        self.previous = (self.state, now)
        self.may_have_lost = self.power != 1 or shrinkage > 0
        self.state = self.engine.maximise(self.state, now, shrinkage=shrinkage, power=self.power)

    def _plain_step(self, shrinkage: float = 0.0) -> Expectation:
        """Replace the last step, which lost likelihood, by a plain EM step from the state before it."""
        assert self.previous is not None
        self.power = OVER_RELAXATION.first_power
        state, expectation = self.previous
        if expectation.joint is None:
            expectation = self.engine.expect(state)
        self.state = self.engine.maximise(state, expectation, shrinkage=shrinkage)
        return self.engine.expect(self.state)

    def _has_settled(self, gain: float) -> str:
        """Why the likelihood phase may end, or an empty string if it goes on."""
        if not self.shrinkage:
            share = self.problem.tolerance * LIKELIHOOD.plain_tolerance
            settled = gain < share * self.gained
            return f"a pass gained less than {share:.2g} of the likelihood gained so far" if settled else ""
        if self.passes < self.wait or gain >= LIKELIHOOD.tolerance * self.gained:
            return ""
        # A step with a large power may gain little because it overshot: try a milder one first.
        if self.power > OVER_RELAXATION.first_power * OVER_RELAXATION.growth:
            self.power = OVER_RELAXATION.first_power
            return ""
        return "a pass gained little likelihood"

    def _end_likelihood_phase(self, reason: str) -> None:
        """Merge some of the spare topics and go on; if none are left, unmix the topics and begin the sparse phase."""
        if not self.shrinkage:
            self.settled = reason
            return
        self.previous, self.power = None, OVER_RELAXATION.first_power
        mixture, n_topics = self.engine.mixture(self.state), self.problem.n_topics
        while self.stops and self.stops[0] * n_topics >= mixture.n_topics:
            self.stops.pop(0)
        if self.stops:
            self.state = self.engine.place(merged(mixture, round(self.stops.pop(0) * n_topics)))
            self.wait = self.passes + LIKELIHOOD.passes_after
            return
        self.phase, self.passes, self.wait = "sparse", 0, 0
        mixture = merged(mixture, n_topics)
        self.state = self._unmixed(mixture, blur_of(mixture.topics, self.problem.n_threads))

    def _sparse_step(self, now: Expectation) -> float:
        if self.previous is not None and self.passes > SPARSE.repair_passes:
            fall = self.previous[1].log_likelihood - now.log_likelihood
            if not fall <= SPARSE.largest_fall * self.gained:
                now = self._plain_step(self.shrinkage)
                self.power = 1.0
        self._relaxed_step(now, self.shrinkage)
        self.power = min(self.power * OVER_RELAXATION.growth, OVER_RELAXATION.first_power)
        self.supports.append(self.engine.active(self.state))
        if self.passes == SWAPS.first_pass:
            self._swap()
        elif self.passes >= max(SPARSE.min_passes * np.sqrt(self._slowness()), self.wait):
            share = SPARSE.window * self.problem.tolerance / self._slowness()
            few = 1 - self.supports[-1] / self.supports[-1 - SPARSE.window] < share
            if few and not self._swap() and not self._unmix():
                self.settled = f"{SPARSE.window} passes removed less than {100 * share:.2g} % of the topics' words"
        return now.log_likelihood

    def _swap(self) -> bool:
        """Replace scattered topics and make the swaps that gain likelihood; returns whether there were any."""
        if self.swap_rounds == 0:
            return False
        self.swap_rounds -= 1
        mhat, n_threads = self.problem.mhat, self.problem.n_threads
        better, n_replaced = replaced(self.engine.mixture(self.state), mhat, n_threads)
        better, n_swaps = swapped(better, mhat, n_threads)
        if n_replaced:
            better = mixed_with_unigram(better, self.problem, SPARSE.revived)
        if n_replaced + n_swaps:
            self.state, self.previous, self.power = self.engine.place(better), None, 1.0
            self.wait = self.passes + SWAPS.passes_after
        return n_replaced + n_swaps > 0

    def _unmix(self) -> bool:
        """Unmix topics that are still blurred and begin the phase again; returns whether there were any."""
        if self.unmixings == 0:
            return False
        mixture = self.engine.mixture(self.state)
        blur = blur_of(mixture.topics, self.problem.n_threads)
        if blur.sum(axis=1).max() <= SPARSE.smallest_blur:
            return False
        self.unmixings -= 1
        self.state, self.previous, self.power = self._unmixed(mixture, blur), None, OVER_RELAXATION.first_power
        self.wait = self.passes + round(SPARSE.min_passes * np.sqrt(self._slowness()))
        return True

    def _unmixed(self, mixture: Mixture, blur: Floats) -> State:
        """The topics without their blur into each other, or with a part of it where shrinkage can do the rest.

        Shrinkage takes `tokens` from each entry in a pass. If it can take all that stand behind an entry before the
        phase may end, then low ratios of entries are mostly noise, and the blur is overestimated: topics are unmixed
        by as much as does not lose more likelihood than a pass may.
        """
        part, place = 1.0, self.engine.place
        if self._tokens_per_entry() < self.tokens * SPARSE.min_passes:
            least = self._likelihood(place(mixture)) - SPARSE.largest_fall * self.gained
            while part > SPARSE.least_unmixing and self._likelihood(place(unmixed(mixture, part * blur))) < least:
                part *= SPARSE.less_unmixing
        return place(unmixed(mixture, part * blur))

    def _likelihood(self, state: State) -> float:
        return self.engine.expect(state, joint=False).log_likelihood

    def _slowness(self) -> float:
        """How many times longer the sparse phase takes, because many tokens stand behind a topic entry."""
        return min(max(1.0, self._tokens_per_entry() / SPARSE.tokens_per_entry), SPARSE.longest)

    def _tokens_per_entry(self) -> float:
        """The tokens that stand behind an entry of the topics, in the mean."""
        return self.problem.n_tokens / (self.problem.mhat.n_words * self.problem.n_topics)
