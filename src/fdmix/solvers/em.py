"""Sparse EM: maximum likelihood, then the sharpest topics that explain the pairs equally well.

The likelihood has a flat direction: topics can be blurred towards each other while alpha becomes more diagonal,
and M = mu' alpha mu does not change. Maximum likelihood ends anywhere along it. Three phases find its sharp end:

    likelihood   over-relaxed EM; a step that would lose likelihood is replaced by a plain one, which cannot
    unmix        one exact change of basis along the flat direction: no pass over the pairs
    sparse       EM that takes a toll off every expected count, until the set of non-zero entries settles
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix.engines import Expectation, State
from fdmix.mixture import Mixture
from fdmix.solvers.solver import Problem, Run, Solver

Floats = np.ndarray[Any, np.dtype[np.float64]]
TOLL = 0.2  # tokens taken off every expected count: a Dirichlet(0.8) prior on topics
POWER = 1.7  # over-relaxation
GROWTH = 1.1  # of the power after each step that gained, where only the likelihood counts
LIKELIHOOD_PASSES = (12, 20)  # at least, at most, before the sparse phase
LIKELIHOOD_TOLERANCE = 0.01
PLAIN = 0.01  # the tolerance is so much smaller where only the likelihood counts: EM creeps at its end
SPARSE_PASSES = 20  # at least
WINDOW = 5  # passes over which the sparse phase is watched
FLOOR = 0.02  # what unmixing leaves at least of an entry: EM may revive it, the toll may end it
BLUR_QUANTILE = 0.10
BLUR_WORDS = 200
LARGEST_BLUR = 0.9  # row sums below 1 keep I + B well conditioned


@dataclass(frozen=True)
class EM(Solver):
    """Settings of sparse EM.

    sparsity : "auto", or the toll in tokens; 0 leaves out the sparse phase and gives plain maximum likelihood
    """

    sparsity: float | str | None = "auto"

    def __post_init__(self) -> None:
        if self.sparsity == "auto" or self.sparsity is None:
            return
        if isinstance(self.sparsity, str) or not 0 <= self.sparsity < np.inf:
            raise ValueError(f"sparsity is 'auto' or a number of tokens from 0 upwards, not {self.sparsity!r}")

    def begin(self, problem: Problem, start: Mixture) -> Run:
        """Start with the likelihood phase."""
        tokens = TOLL if self.sparsity == "auto" else float(self.sparsity or 0)
        return _EMRun(problem, start, toll=tokens / problem.n_tokens)


class _EMRun(Run):
    def __init__(self, problem: Problem, start: Mixture, toll: float) -> None:
        self.problem, self.engine, self.toll = problem, problem.engine, toll
        self.state: State = self.engine.place(start)
        self.phase = "likelihood"
        self.passes = 0
        self.first = -np.inf
        self.previous: tuple[State, Expectation] | None = None  # where the last over-relaxed step began
        self.power = POWER
        self.supports: list[int] = []

    def step(self) -> float:
        return self._likelihood_step() if self.phase == "likelihood" else self._sparse_step()

    def mixture(self) -> Mixture:
        return self.engine.mixture(self.state)

    def active(self) -> int:
        return self.engine.active(self.state)

    def _likelihood_step(self) -> float:
        now = self.engine.expect(self.state)
        self.passes += 1
        if self.previous is None:
            self.first = now.log_likelihood
        else:
            before = self.previous[1].log_likelihood
            if now.log_likelihood < before:
                self._fall_back()
                return before
            self._end_likelihood_phase(now.log_likelihood, before)
        if self.phase == "likelihood" and self.settled is None:
            self.previous = (self.state, now)
            self.state = self.engine.maximise(self.state, now, power=self.power)
            if not self.toll:
                self.power *= GROWTH
        return now.log_likelihood

    def _fall_back(self) -> None:
        """An over-relaxed step lost likelihood: take the plain EM step from where it began."""
        assert self.previous is not None
        self.power = POWER
        state, expectation = self.previous
        plain = self.engine.maximise(state, expectation)
        now = self.engine.expect(plain)
        if now.log_likelihood <= expectation.log_likelihood:
            self.state = state
            self._leave_likelihood("the likelihood cannot be improved any more")
            return
        self.state = self.engine.maximise(plain, now, power=POWER)
        self.previous = (plain, now)

    def _end_likelihood_phase(self, now: float, before: float) -> None:
        gain, gained = now - before, now - self.first
        if self.toll:
            least, most = LIKELIHOOD_PASSES
            if self.passes >= most or (self.passes >= least and gain < LIKELIHOOD_TOLERANCE * gained):
                self._leave_likelihood("")
        elif gain < self.problem.tolerance * PLAIN * gained:
            share = self.problem.tolerance * PLAIN
            self._leave_likelihood(f"a pass gained less than {share:.2g} of the likelihood gained so far")

    def _leave_likelihood(self, reason: str) -> None:
        if not self.toll:
            self.settled = reason
            return
        self.phase = "sparse"
        self.passes = 0
        self.state = self.engine.place(unmixed(self.engine.mixture(self.state)))

    def _sparse_step(self) -> float:
        now = self.engine.expect(self.state)
        self.state = self.engine.maximise(self.state, now, toll=self.toll, power=POWER)
        self.passes += 1
        self.supports.append(self.engine.active(self.state))
        if self.passes >= SPARSE_PASSES:
            removed = 1 - self.supports[-1] / self.supports[-1 - WINDOW]
            if removed < WINDOW * self.problem.tolerance:
                self.settled = (
                    f"{WINDOW} passes removed less than {WINDOW * self.problem.tolerance:.0%} of the topics' words"
                )
        return now.log_likelihood


def unmixed(mixture: Mixture) -> Mixture:
    """Undo the blur of topics into each other: an exact change of basis, but for entries cut off at zero.

    If topics were blurred, mu = (I + B') mu_sharp up to the scale of each topic, where B[s, t] is how much of s
    there is in t. On the words that belong to s alone, mu_t / mu_s is just that share, and elsewhere it is more: a
    low quantile of the ratio over the words of s finds it. The new alpha = (I + B) alpha (I + B)' leaves M as it is.
    """
    blur = _blur(mixture.topics)
    blur *= np.minimum(1, LARGEST_BLUR / np.maximum(blur.sum(axis=1, keepdims=True), 1e-12))
    change = np.eye(mixture.n_topics) + blur
    sharp = np.maximum(np.linalg.solve(change.T, mixture.topics), FLOOR * mixture.topics)
    scale = sharp.sum(axis=1)
    alpha = change @ mixture.correlations @ change.T * np.outer(scale, scale)
    return Mixture(sharp / scale[:, None], alpha / alpha.sum())


def _blur(topics: Floats) -> Floats:
    """B[s, t]: the low quantile, over the top words of s weighted by mu_s, of mu_t(u) / mu_s(u)."""
    n_topics, n_words = topics.shape
    top = min(BLUR_WORDS, n_words)
    blur = np.zeros((n_topics, n_topics))
    for s in range(n_topics):
        words = np.argpartition(-topics[s], top - 1)[:top]
        words = words[topics[s, words] > 0]
        weight = topics[s, words]
        ratios = topics[:, words] / weight
        order = np.argsort(ratios, axis=1)
        reached = np.cumsum(weight[order], axis=1) >= BLUR_QUANTILE * weight.sum()
        at = np.take_along_axis(order, reached.argmax(axis=1)[:, None], axis=1)
        blur[s] = np.take_along_axis(ratios, at, axis=1).ravel()
        blur[s, s] = 0
    return blur
