"""What a solver is: settings that can begin a run; a run that takes steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from fdmix.engines import Engine
from fdmix.mixture.mixture import Mixture


@dataclass(frozen=True, eq=False)
class Problem:
    """What a run is given: the moments behind an engine, and when to call it settled.

    tolerance : a run has settled when a pass moves less than this share of what it watches
    keep_numbers : whether topic t of the start must stay topic t, so that no two may be swapped
    """

    engine: Engine
    mhat: sp.csr_array
    n_topics: int
    n_tokens: int
    tolerance: float
    rng: np.random.Generator
    n_threads: int | None = None
    keep_numbers: bool = False


class Run(ABC):
    """One fit in progress."""

    phase: str
    settled: str | None = None  # why it is finished, as an English sentence

    @abstractmethod
    def step(self) -> float:
        """Take one pass; return the log-likelihood of the mixture before it."""

    @abstractmethod
    def mixture(self) -> Mixture:
        """The best mixture so far."""

    @abstractmethod
    def active(self) -> int:
        """The number of topic entries that are not zero."""


class Solver(ABC):
    """Settings of a way to fit."""

    def spare_topics(self, n_topics: int) -> int:
        """How many topics more than asked for the start should have."""
        return 0

    @abstractmethod
    def begin(self, problem: Problem, start: Mixture) -> Run:
        """Start a run."""
