"""The paper's optimiser (Algorithm 2): Adam on softmax parameters, with pairs drawn from Mhat.

mu_t = softmax(mu'_t), alpha = softmax(alpha' + alpha'^T) over all T x T entries. Each step draws B pairs
(u, v) ~ Mhat and ascends the gradient of the mean of log M[u, v].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix.mixture.mixture import Mixture
from fdmix.solvers.contract import Problem, Run, Solver

TINY = 1e-30  # smallest probability of a start's entry and of a pair: keeps logarithms and ratios finite


@dataclass(frozen=True)
class AdamUpdate:
    """The constants of Adam's update. The values are the defaults of Kingma and Ba (2015).

    beta_1, beta_2 : decay of the running means of the gradient and of its square, for each step
    epsilon : added to the root of the running mean square
    """

    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8


UPDATE = AdamUpdate()
WINDOW = 10  # passes whose mean is compared with that of as many before: evens out the noise of drawn pairs


@dataclass(frozen=True)
class Adam(Solver):
    """Settings of the paper's optimiser.

    learning_rate : Adam's step size
    batch : pairs drawn for a step
    steps : steps in one pass of the loop, which reports the exact likelihood after each pass
    exact : use the gradient of all of Mhat instead of drawn pairs; then a pass is one step
    trace_penalty : weight of trace(alpha), which is subtracted from the likelihood; prevents the drift to diagonal
        alpha
    uniform_share : share of pairs drawn uniformly from the stored pairs, with importance weights, so that rare pairs
        are drawn, too
    """

    learning_rate: float = 0.01
    batch: int = 512
    steps: int = 100
    exact: bool = False
    trace_penalty: float = 0.0
    uniform_share: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.learning_rate < np.inf or self.batch < 1 or self.steps < 1:
            raise ValueError("learning_rate, batch and steps of Adam must be positive")
        if not np.isfinite(self.trace_penalty):
            raise ValueError(f"Adam's trace_penalty must be a number, not {self.trace_penalty}")
        if not 0 <= self.uniform_share < 1:
            raise ValueError(f"uniform_share must be from 0 to below 1, not {self.uniform_share}")

    @classmethod
    def paper(cls) -> Adam:
        """The paper's settings: learning rate 0.001, plain sampling."""
        return cls(learning_rate=0.001)

    @classmethod
    def authors(cls) -> Adam:
        """The settings of the authors' later code: learning rate 0.01, batches of 512 pairs."""
        return cls(learning_rate=0.01, batch=512)

    def begin(self, problem: Problem, start: Mixture) -> Run:
        """Start from softmax parameters of the given mixture."""
        return _AdamRun(self, problem, start)


class _AdamRun(Run):
    phase = "adam"

    def __init__(self, settings: Adam, problem: Problem, start: Mixture) -> None:
        self.settings, self.problem, self.engine = settings, problem, problem.engine
        self.parameters = [
            np.log(np.maximum(start.topics, TINY)),
            np.log(np.maximum(start.correlations, TINY)) / 2,  # half, because alpha = softmax(alpha' + alpha'^T)
        ]
        self.first_moments = [np.zeros_like(p) for p in self.parameters]
        self.second_moments = [np.zeros_like(p) for p in self.parameters]
        self.n_steps = 0
        self.objectives: list[float] = []  # likelihood minus penalty, after each pass
        self.best = start
        self.draw = _PairSampler(problem, settings.uniform_share)

    def step(self) -> float:
        mixture = Mixture(*self._softmax())
        log_likelihood = self._log_likelihood(mixture)
        self.objectives.append(log_likelihood - self._penalty(mixture))
        if self.objectives[-1] >= max(self.objectives):
            self.best = mixture
        for _ in range(1 if self.settings.exact else self.settings.steps):
            self._adam_step()
        gained = self.objectives[-1] - self.objectives[0]
        if len(self.objectives) > 2 * WINDOW:
            recent, earlier = np.mean(self.objectives[-WINDOW:]), np.mean(self.objectives[-2 * WINDOW : -WINDOW])
            if recent - earlier < self.problem.tolerance * gained:
                self.settled = f"ten passes gained less than {self.problem.tolerance:g} of the likelihood gained"
        return log_likelihood

    def mixture(self) -> Mixture:
        """The best of the mixtures between passes and the current one."""
        current = Mixture(*self._softmax())
        if self.objectives and self._log_likelihood(current) - self._penalty(current) < max(self.objectives):
            return self.best
        return current

    def _log_likelihood(self, mixture: Mixture) -> float:
        return self.problem.engine.expect(self.problem.engine.place(mixture)).log_likelihood

    def _penalty(self, mixture: Mixture) -> float:
        return self.settings.trace_penalty * float(mixture.correlations.trace())

    def active(self) -> int:
        return int(self.parameters[0].size)

    def _softmax(self) -> tuple[Any, Any]:
        topics, correlations = self.parameters
        mu = np.exp(topics - topics.max(axis=1, keepdims=True))
        alpha = np.exp(correlations + correlations.T - (correlations + correlations.T).max())
        return mu / mu.sum(axis=1, keepdims=True), alpha / alpha.sum()

    def _adam_step(self) -> None:
        mu, alpha = self._softmax()
        d_mu, d_alpha = self._exact_gradient(mu, alpha) if self.settings.exact else self._drawn_gradient(mu, alpha)
        d_alpha = d_alpha - self.settings.trace_penalty * np.eye(len(alpha))
        gradients = [
            # d/dx of f(softmax(x)) = softmax(x) (df - <softmax(x), df>)
            mu * (d_mu - np.sum(mu * d_mu, axis=1, keepdims=True)),
            2 * alpha * (_symmetric(d_alpha) - np.sum(alpha * d_alpha)),
        ]
        self.n_steps += 1
        for k, gradient in enumerate(gradients):
            m, v = self.first_moments[k], self.second_moments[k]
            m += (1 - UPDATE.beta_1) * (gradient - m)
            v += (1 - UPDATE.beta_2) * (gradient**2 - v)
            mean = m / (1 - UPDATE.beta_1**self.n_steps)
            mean_square = v / (1 - UPDATE.beta_2**self.n_steps)
            self.parameters[k] += self.settings.learning_rate * mean / (np.sqrt(mean_square) + UPDATE.epsilon)

    def _exact_gradient(self, mu: Any, alpha: Any) -> tuple[Any, Any]:
        engine = self.problem.engine
        return engine.gradient(engine.place(Mixture(mu, alpha)))

    def _drawn_gradient(self, mu: Any, alpha: Any) -> tuple[Any, Any]:
        """The gradient of the mean of weight_k log M[u_k, v_k], with M[u, v] = mu(u)' alpha mu(v)."""
        u, v, weight = self.draw(self.settings.batch)
        left, right = mu[:, u], mu[:, v]
        a_left, a_right = alpha @ left, alpha @ right
        ratio = weight / np.maximum(np.einsum("tk,tk->k", left, a_right), TINY) / u.size
        d_mu = np.zeros_like(mu)
        np.add.at(d_mu.T, u, (a_right * ratio).T)
        np.add.at(d_mu.T, v, (a_left * ratio).T)
        return d_mu, (left * ratio) @ right.T


class _PairSampler:
    """Draws pairs (u, v) ~ Mhat by binary search in the running sum of the stored entries.

    This takes O(log nnz) time a drawn pair and 8 bytes a stored pair. An alias table would save a microsecond of a
    step that updates all N x T parameters.
    """

    def __init__(self, problem: Problem, uniform_share: float) -> None:
        self.mhat, self.rng, self.uniform_share = problem.mhat, problem.rng, uniform_share
        self.running = np.cumsum(problem.mhat.data)

    def __call__(self, n: int) -> tuple[Any, Any, Any]:
        mhat = self.mhat
        stored = np.searchsorted(self.running, self.rng.random(n) * self.running[-1], side="right")
        stored = np.minimum(stored, mhat.nnz - 1)
        weight = np.ones(n)
        if self.uniform_share:
            uniform = self.rng.random(n) < self.uniform_share
            stored = np.where(uniform, self.rng.integers(0, mhat.nnz, n), stored)
            chance = mhat.data[stored]  # importance weight = wanted / drawn probability
            weight = chance / ((1 - self.uniform_share) * chance + self.uniform_share / mhat.nnz)
        u = np.searchsorted(mhat.indptr, stored, side="right") - 1
        return u, mhat.indices[stored], weight


def _symmetric(matrix: Any) -> Any:
    return (matrix + matrix.T) / 2
