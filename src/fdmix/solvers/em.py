"""Sparse EM: maximum likelihood, then the sharpest topics that explain the pairs equally well.

The likelihood has a flat direction: topics can be blurred towards each other while alpha becomes more diagonal,
and M = mu' alpha mu does not change. Maximum likelihood ends anywhere along it. Its sharp end is found in phases:

    likelihood   over-relaxed EM; a step that loses likelihood is replaced by a plain one, which cannot
    unmix        spare topics of the start are merged; then one exact change of basis along the flat direction, both
                 without a pass over the pairs
    swap         topics that stand for two are split, and others merged for them, now and then in the next phase
    sparse       EM that takes a toll off every expected count, until the set of non-zero entries settles; a step that
                 loses much more likelihood than the toll explains is replaced by a plain one, too
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fdmix.engines import Expectation, State
from fdmix.mixture.mixture import Mixture
from fdmix.solvers.contract import Problem, Run, Solver
from fdmix.solvers.moves import merged, unmixed
from fdmix.solvers.swaps import swapped

TOLL = 0.2  # tokens taken off every expected count: a Dirichlet(0.8) prior on topics
POWER = 1.7  # over-relaxation
ALPHA_EVERY = 2  # passes; the others are faster by a fifth, and as many are enough (docs/performance.md)
GROWTH = 1.1  # of the power after each step that gained
LIKELIHOOD_PASSES = 12  # at least, before the sparse phase
LIKELIHOOD_TOLERANCE = 0.0015  # of the likelihood gained; a pass that gains less is the last one
LARGEST_POWER = 8.0
SPARE = 0.04  # topics that the start has too many
LARGEST_FALL = 0.05  # of the likelihood gained, in one pass of the sparse phase
PLAIN = 0.01  # the tolerance is so much smaller where only the likelihood counts: EM creeps at its end
SPARSE_PASSES = 20  # at least
WINDOW = 5  # passes over which the sparse phase is watched
FIRST_SWAP = 10  # passes of the sparse phase, after which topics are sharp enough to be swapped
SWAP_ROUNDS = 4  # at most
AFTER_SWAP = 10  # passes at least
PATIENCE = 30.0  # tokens behind an entry; with more the toll moves it more slowly, and the phase may take longer


@dataclass(frozen=True)
class EM(Solver):
    """Settings of sparse EM.

    sparsity : "auto", or the toll in tokens; 0 leaves out the sparse phase and gives plain maximum likelihood
    swaps : whether topics may be split and merged on the way; None: unless the start is a Mixture, whose topics keep
        their numbers
    """

    sparsity: float | str | None = "auto"
    swaps: bool | None = None

    def __post_init__(self) -> None:
        if self.sparsity == "auto" or self.sparsity is None:
            return
        if isinstance(self.sparsity, str) or not 0 <= self.sparsity < np.inf:
            raise ValueError(f"sparsity is 'auto' or a number of tokens from 0 upwards, not {self.sparsity!r}")

    def spare_topics(self, n_topics: int) -> int:
        """A start with some topics too many finds all of them more surely; the likelihood phase sorts out which."""
        return round(SPARE * n_topics) if self.sparsity else 0

    def begin(self, problem: Problem, start: Mixture) -> Run:
        """Start with the likelihood phase."""
        tokens = TOLL if self.sparsity == "auto" else float(self.sparsity or 0)
        swaps = not problem.keep_numbers if self.swaps is None else self.swaps
        return _EMRun(problem, start, toll=tokens / problem.n_tokens, swap_rounds=SWAP_ROUNDS if swaps else 0)


class _EMRun(Run):
    def __init__(self, problem: Problem, start: Mixture, toll: float, swap_rounds: int) -> None:
        self.problem, self.engine, self.toll = problem, problem.engine, toll
        self.state: State = self.engine.place(start)
        self.phase = "likelihood"
        self.passes = 0
        self.first = self.gained = 0.0
        self.power = POWER
        self.previous: tuple[State, Expectation] | None = None  # where the last step began
        self.supports: list[int] = []
        self.swap_rounds = swap_rounds
        self.wait = 0  # passes until the sparse phase may settle

    def step(self) -> float:
        now = self.engine.expect(self.state, joint=self.passes % ALPHA_EVERY == 0)
        self.passes += 1
        return self._likelihood_step(now) if self.phase == "likelihood" else self._sparse_step(now)

    def mixture(self) -> Mixture:
        """The present state, or the one before if the last over-relaxed step turns out to have lost likelihood."""
        state = self.state
        if self.previous is not None and self.settled is None:
            before, expectation = self.previous
            fall = expectation.log_likelihood - self.engine.expect(state).log_likelihood
            if not fall <= (0 if self.phase == "likelihood" else LARGEST_FALL * self.gained):
                state = before
        return merged(self.engine.mixture(state), self.problem.n_topics)

    def active(self) -> int:
        return self.engine.active(self.state)

    def _likelihood_step(self, now: Expectation) -> float:
        if self.previous is None:
            self.first = now.log_likelihood
        else:
            before = self.previous[1].log_likelihood
            if not now.log_likelihood >= before:  # so that NaN falls back, too
                now = self._plain_step()
                if not now.log_likelihood > before:
                    self.state = self.previous[0]
                    self._leave_likelihood("the likelihood cannot be improved any more")
                    return before
            self.gained = now.log_likelihood - self.first
            self._end_likelihood_phase(now.log_likelihood - before)
        if self.phase == "likelihood" and self.settled is None:
            self._go_on(now)
            self.power = min(self.power * GROWTH, LARGEST_POWER)
        return now.log_likelihood

    def _go_on(self, now: Expectation, toll: float = 0.0) -> None:
        self.previous = (self.state, now)
        self.state = self.engine.maximise(self.state, now, toll=toll, power=self.power)

    def _plain_step(self, toll: float = 0.0) -> Expectation:
        """The last step went wrong: take the plain EM step from where it began instead."""
        assert self.previous is not None
        self.power = POWER
        state, expectation = self.previous
        if expectation.joint is None:
            expectation = self.engine.expect(state)
        self.state = self.engine.maximise(state, expectation, toll=toll)
        return self.engine.expect(self.state)

    def _end_likelihood_phase(self, gain: float) -> None:
        if self.toll:
            if self.passes >= LIKELIHOOD_PASSES and gain < LIKELIHOOD_TOLERANCE * self.gained:
                if self.power > POWER * GROWTH:  # perhaps only because over-relaxation went too far
                    self.power = POWER
                else:
                    self._leave_likelihood("")
        elif gain < self.problem.tolerance * PLAIN * self.gained:
            share = self.problem.tolerance * PLAIN
            self._leave_likelihood(f"a pass gained less than {share:.2g} of the likelihood gained so far")

    def _leave_likelihood(self, reason: str) -> None:
        if not self.toll:
            self.settled = reason
            return
        self.phase, self.passes, self.power, self.previous = "sparse", 0, POWER, None
        fewer = merged(self.engine.mixture(self.state), self.problem.n_topics)
        self.state = self.engine.place(unmixed(fewer, self.problem.n_threads))

    def _sparse_step(self, now: Expectation) -> float:
        if self.previous is not None and self.passes > 3:  # the first passes repair what unmixing cut off
            fall = self.previous[1].log_likelihood - now.log_likelihood
            if not fall <= LARGEST_FALL * self.gained:  # more than the toll explains: over-relaxation went astray
                now = self._plain_step(self.toll)
                self.power = 1.0
        self._go_on(now, self.toll)
        self.power = min(self.power * GROWTH, POWER)
        self.supports.append(self.engine.active(self.state))
        patience = max(1.0, self._tokens_per_entry() / PATIENCE)
        if self.passes == FIRST_SWAP:
            self._swap()
        elif self.passes >= max(SPARSE_PASSES * np.sqrt(patience), self.wait):
            share = WINDOW * self.problem.tolerance / patience
            if 1 - self.supports[-1] / self.supports[-1 - WINDOW] < share and not self._swap():
                self.settled = f"{WINDOW} passes removed less than {100 * share:.2g} % of the topics' words"
        return now.log_likelihood

    def _swap(self) -> bool:
        """Swap topics if that is worth it: whether it was."""
        if self.swap_rounds == 0:
            return False
        self.swap_rounds -= 1
        better, n_swaps = swapped(self.engine.mixture(self.state), self.problem.mhat, self.problem.n_threads)
        if n_swaps:
            self.state, self.previous, self.power = self.engine.place(better), None, 1.0
            self.wait = self.passes + AFTER_SWAP
        return n_swaps > 0

    def _tokens_per_entry(self) -> float:
        """How much data stands behind an entry of the topics, on average."""
        return self.problem.n_tokens / (self.problem.mhat.shape[0] * self.problem.n_topics)
