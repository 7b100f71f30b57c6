"""The paper's optimiser (Algorithm 2): Adam on softmax parameters, with pairs drawn from Mhat.

mu_t = softmax(mu'_t), alpha = softmax(alpha') over all T x T entries. Each step draws B pairs (u, v) ~ Mhat and
ascends the gradient of the mean of log M[u, v].

This file holds the settings, what all runs share, and the plain run in NumPy. With engine="torch", the run of
`torch_adam.py` does the same on the device of the engine.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix.engines import State
from fdmix.engines.torch_engine import TorchEngine
from fdmix.mixture.mixture import Mixture
from fdmix.solvers.contract import Problem, Run, Solver

TINY = 1e-30  # smallest probability of a start's entry and of a pair: keeps logarithms and ratios finite
PRECISIONS = ("auto", "float32", "float64")


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
    batch : pairs drawn for a step, in each process if there are several
    steps : steps in one pass of the loop, which reports the exact likelihood after each pass
    exact : use the gradient of all of Mhat instead of drawn pairs; then a pass is one step
    symmetric : alpha = softmax(alpha' + alpha'^T), as in the authors' code, instead of the paper's softmax(alpha').
        Without it, drawn pairs make alpha slightly asymmetric; the mixture gets (alpha + alpha^T) / 2, whose
        likelihood is never lower
    trace_penalty : weight of trace(alpha), which is subtracted from the likelihood; prevents the drift to diagonal
        alpha
    uniform_share : share of pairs drawn uniformly from the stored pairs, with importance weights, so that rare pairs
        are drawn, too
    precision : of parameters and running means: "float32", "float64" or "auto", which is float32 with engine="torch"
        and float64 with the other engines
    compiled : with engine="torch", whether the update of all parameters is compiled by torch.compile. None: if there
        are enough of them for that to pay. Without a C++ compiler it is not, and the result is the same
    """

    learning_rate: float = 0.01
    batch: int = 512
    steps: int = 100
    exact: bool = False
    symmetric: bool = False
    trace_penalty: float = 0.0
    uniform_share: float = 0.0
    precision: str = "auto"
    compiled: bool | None = None

    def __post_init__(self) -> None:
        if not 0 < self.learning_rate < np.inf or self.batch < 1 or self.steps < 1:
            raise ValueError("learning_rate, batch and steps of Adam must be positive")
        if not np.isfinite(self.trace_penalty):
            raise ValueError(f"Adam's trace_penalty must be a number, not {self.trace_penalty}")
        if not 0 <= self.uniform_share < 1:
            raise ValueError(f"uniform_share must be from 0 to below 1, not {self.uniform_share}")
        if self.precision not in PRECISIONS:
            raise ValueError(f"Adam's precision is one of {', '.join(PRECISIONS)}, not {self.precision!r}")

    @classmethod
    def paper(cls) -> Adam:
        """The paper's settings: learning rate 0.001, plain sampling, softmax over all entries of alpha'."""
        return cls(learning_rate=0.001)

    @classmethod
    def authors(cls) -> Adam:
        """The settings of the authors' later code: learning rate 0.01, batches of 512 pairs, symmetric alpha'."""
        return cls(learning_rate=0.01, batch=512, symmetric=True)

    @property
    def default_start(self) -> str:
        """Random, as in the paper."""
        return "random"

    def begin(self, problem: Problem, start: Mixture) -> Run:
        """Start from softmax parameters of the given mixture."""
        if isinstance(problem.engine, TorchEngine):
            from fdmix.solvers.torch_adam import TorchAdamRun  # noqa: PLC0415  (it needs this file)

            return TorchAdamRun(self, problem, start)
        return NumpyAdamRun(self, problem, start)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The parameters between two passes, as an engine's state; `trace` is that of alpha."""

    state: State
    trace: float


class AdamRun(Run):
    """Passes of Adam: the exact likelihood, then `steps` steps."""

    phase = "adam"

    def __init__(self, settings: Adam, problem: Problem) -> None:
        self.settings, self.problem, self.engine = settings, problem, problem.engine
        self.n_steps = 0
        self.objectives: list[float] = []  # likelihood minus penalty, after each pass
        self.best: Snapshot | None = None
        self.steps_per_second = None

    @abstractmethod
    def take_steps(self, n: int) -> None:
        """Take n steps, and wait until the device has taken them."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """The present parameters, with alpha made symmetric; later steps do not change it."""

    def step(self) -> float:
        """The likelihood of the present parameters, then the steps of a pass."""
        now = self.snapshot()
        log_likelihood = self._log_likelihood(now)
        self.objectives.append(self._objective(now, log_likelihood))
        if self.objectives[-1] >= max(self.objectives):
            self.best = now
        n = 1 if self.settings.exact else self.settings.steps
        begin = time.perf_counter()
        self.take_steps(n)
        self.steps_per_second = n / max(time.perf_counter() - begin, 1e-9)
        self.n_steps += n
        self._settle()
        return log_likelihood

    def mixture(self) -> Mixture:
        """The best of the mixtures between passes and the current one."""
        now = self.snapshot()
        worse = self.objectives and self._objective(now, self._log_likelihood(now)) < max(self.objectives)
        return self.engine.mixture((self.best if worse and self.best is not None else now).state)

    def _log_likelihood(self, now: Snapshot) -> float:
        log_likelihood = self.engine.expect(now.state, joint=False).log_likelihood
        if np.isnan(log_likelihood):
            raise FloatingPointError("Adam's parameters are no longer finite: use a smaller learning_rate")
        return log_likelihood

    def _objective(self, now: Snapshot, log_likelihood: float) -> float:
        return log_likelihood - self.settings.trace_penalty * now.trace

    def _settle(self) -> None:
        gained = self.objectives[-1] - self.objectives[0]
        if len(self.objectives) > 2 * WINDOW:
            recent, earlier = np.mean(self.objectives[-WINDOW:]), np.mean(self.objectives[-2 * WINDOW : -WINDOW])
            if recent - earlier < self.problem.tolerance * gained:
                self.settled = f"ten passes gained less than {self.problem.tolerance:g} of the likelihood gained"


class NumpyAdamRun(AdamRun):
    """The plain run: topics as rows, each formula on one line."""

    def __init__(self, settings: Adam, problem: Problem, start: Mixture) -> None:
        super().__init__(settings, problem)
        self.dtype = np.float32 if settings.precision == "float32" else np.float64
        self.parameters = [a.astype(self.dtype) for a in softmax_parameters(start, settings.symmetric)]
        self.first_moments = [np.zeros_like(p) for p in self.parameters]
        self.second_moments = [np.zeros_like(p) for p in self.parameters]
        self.n_updates = 0
        self.draw = _PairSampler(problem, settings.uniform_share)

    def active(self) -> int:
        """All entries are positive."""
        return int(self.parameters[0].size)

    def take_steps(self, n: int) -> None:
        """Take n steps."""
        for _ in range(n):
            self._update(self._exact_gradient() if self.settings.exact else self._drawn_gradient())

    def snapshot(self) -> Snapshot:
        """mu and the symmetric part of alpha, in the engine's layout."""
        mu, alpha = self._softmax()
        if not (np.isfinite(mu).all() and np.isfinite(alpha).all()):
            raise FloatingPointError("Adam's parameters are no longer finite: use a smaller learning_rate")
        mixture = Mixture(mu, _symmetric(alpha))
        return Snapshot(self.engine.place(mixture), float(np.trace(alpha)))

    def _softmax(self) -> tuple[Any, Any]:
        topics, correlations = self.parameters
        if self.settings.symmetric:
            correlations = correlations + correlations.T
        mu = np.exp(topics - topics.max(axis=1, keepdims=True))
        alpha = np.exp(correlations - correlations.max())
        return mu / mu.sum(axis=1, keepdims=True), alpha / alpha.sum()

    def _update(self, gradients: tuple[Any, Any]) -> None:
        """Adam's update of the parameters by the gradient with respect to them."""
        self.n_updates += 1
        for k, gradient in enumerate(gradients):
            m, v = self.first_moments[k], self.second_moments[k]
            m += (1 - UPDATE.beta_1) * (gradient - m)
            v += (1 - UPDATE.beta_2) * (gradient**2 - v)
            mean = m / (1 - UPDATE.beta_1**self.n_updates)
            mean_square = v / (1 - UPDATE.beta_2**self.n_updates)
            self.parameters[k] += self.settings.learning_rate * mean / (np.sqrt(mean_square) + UPDATE.epsilon)

    def _through_softmax(self, mu: Any, alpha: Any, d_mu: Any, d_alpha: Any) -> tuple[Any, Any]:
        """d/dx of f(softmax(x)) = softmax(x) (df - <softmax(x), df>); alpha' + alpha'^T counts each entry twice."""
        d_alpha = d_alpha - self.settings.trace_penalty * np.eye(len(alpha), dtype=alpha.dtype)
        by_alpha = alpha * (d_alpha - np.sum(alpha * d_alpha))
        if self.settings.symmetric:
            by_alpha = by_alpha + by_alpha.T
        return mu * (d_mu - np.sum(mu * d_mu, axis=1, keepdims=True)), by_alpha

    def _exact_gradient(self) -> tuple[Any, Any]:
        """The gradient of L at the symmetric part of alpha, by one pass of the engine."""
        mu, alpha = self._softmax()
        d_mu, d_alpha = self.engine.gradient(self.engine.place(Mixture(mu, _symmetric(alpha))))
        return self._through_softmax(mu, alpha, d_mu, _symmetric(d_alpha))

    def _drawn_gradient(self) -> tuple[Any, Any]:
        return self.batch_gradient(*self.draw(self.settings.batch))

    def batch_gradient(self, u: Any, v: Any, weight: Any) -> tuple[Any, Any]:
        """The gradient of the mean of weight_k log M[u_k, v_k], with M[u, v] = mu(u)' alpha mu(v)."""
        mu, alpha = self._softmax()
        left, right = mu[:, u], mu[:, v]
        to_left, to_right = alpha @ right, alpha.T @ left  # dM/dmu(u) and dM/dmu(v)
        ratio = (weight / np.maximum(np.einsum("tk,tk->k", left, to_left), TINY) / u.size).astype(self.dtype)
        d_mu = np.zeros_like(mu)
        np.add.at(d_mu.T, u, (to_left * ratio).T)
        np.add.at(d_mu.T, v, (to_right * ratio).T)
        return self._through_softmax(mu, alpha, d_mu, (left * ratio) @ right.T)


def softmax_parameters(start: Mixture, symmetric: bool) -> tuple[Any, Any]:
    """(mu', alpha') of a mixture; half of log alpha where the softmax is that of alpha' + alpha'^T."""
    logs = np.log(np.maximum(start.correlations, TINY))
    return np.log(np.maximum(start.topics, TINY)), logs / 2 if symmetric else logs


class _PairSampler:
    """Draws pairs (u, v) ~ Mhat by binary search in the running sum of the stored entries.

    This takes O(log nnz) time a drawn pair and 8 bytes a stored pair.
    """

    def __init__(self, problem: Problem, uniform_share: float) -> None:
        self.mhat, self.rng, self.uniform_share = problem.mhat.matrix, problem.rng, uniform_share
        self.running = np.cumsum(self.mhat.data)

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
