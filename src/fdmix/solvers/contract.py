"""The interface of solvers: a Solver holds settings and begins a Run; a Run takes one pass at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fdmix.engines import Engine
from fdmix.mixture.mixture import Mixture
from fdmix.moments.pair_matrix import PairMatrix, as_pair_matrix


@dataclass(frozen=True, eq=False)
class Problem:
    """The pairs to fit, the engine for them, and when a run has settled.

    mhat : the pairs, also taken as a symmetric CSR matrix
    tolerance : a run has settled when a pass changes the quantity that it watches by less than this share
    keep_numbers : whether topic t of the start must stay topic t, which rules out swaps
    held_out : an engine for the pairs of documents that are not in mhat, to judge by, if there are any
    held_out_tokens : of these documents
    whole : sets up the problem with the pairs of all documents, if the held-out ones are to be learned from, too
    """

    engine: Engine
    mhat: PairMatrix
    n_topics: int
    n_tokens: int
    tolerance: float
    rng: np.random.Generator
    n_threads: int | None = None
    keep_numbers: bool = False
    held_out: Engine | None = None
    held_out_tokens: float = 0.0
    whole: Callable[[], Problem] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "mhat", as_pair_matrix(self.mhat))


class Run(ABC):
    """One fit in progress."""

    engine: Engine  # of the pairs that the run is fitting
    phase: str
    settled: str | None = None  # the reason why the run has finished, as a sentence; None before that
    steps_per_second: float | None = None  # of the last pass, for solvers whose passes have many steps

    @abstractmethod
    def step(self) -> float:
        """Take one pass; return the log-likelihood of the mixture before it."""

    def last_step(self) -> float:
        """The same for the last pass of a fixed number, if a run knows one after which `mixture` is cheaper."""
        return self.step()

    @abstractmethod
    def mixture(self) -> Mixture:
        """The best mixture so far."""

    @abstractmethod
    def active(self) -> int:
        """The number of non-zero topic entries."""


class Solver(ABC):
    """Settings of a method of fitting."""

    @property
    def judges(self) -> bool:
        """Whether a run makes use of held-out pairs."""
        return False

    @property
    def default_start(self) -> str:
        """The start of `fdmix.fit.starts` that the method uses unless another one is asked for."""
        return "anchors"

    def spare_topics(self, n_topics: int) -> int:
        """The number of topics that the start should have beyond those asked for."""
        return 0

    @abstractmethod
    def begin(self, problem: Problem, start: Mixture) -> Run:
        """Start a run."""
