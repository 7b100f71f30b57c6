"""What every engine can do. Its arrays may live anywhere, in any layout: solvers only hand them on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp

from fdmix.mixture.mixture import Mixture

LARGEST_FACTOR = 1e4  # a larger change of an entry is not made larger still by over-relaxation


@dataclass(frozen=True, eq=False)
class State:
    """Topics P[u, t] = mu_t(u) and alpha, where and how the engine keeps them."""

    topics: Any
    correlations: Any


@dataclass(frozen=True, eq=False)
class Expectation:
    """What one pass over the pairs says about a state.

    With R = Mhat / M and H = R P:   lift = H alpha = (dL/dP) / 2,   joint = P' H = dL/dalpha, or None.
    """

    log_likelihood: float
    lift: Any
    joint: Any


class Engine(ABC):
    """The passes over one Mhat for one number of topics."""

    @abstractmethod
    def __init__(self, mhat: sp.csr_array, n_topics: int, n_threads: int | None = None) -> None: ...

    @abstractmethod
    def place(self, mixture: Mixture) -> State:
        """Bring a mixture to where the engine works."""

    @abstractmethod
    def mixture(self, state: State) -> Mixture:
        """Bring a state back."""

    @abstractmethod
    def expect(self, state: State, *, joint: bool = True) -> Expectation:
        """One pass over the pairs: the likelihood and its derivatives.

        joint : whether dL/dalpha is wanted. Without it H alpha = R (P alpha) needs two matrix products less.

        A pair that the model gives no chance adds nothing to the derivatives; its part of L is -inf, or, in
        float32, that of a tiny chance.
        """

    @abstractmethod
    def maximise(self, state: State, expectation: Expectation, toll: float = 0.0, power: float = 1.0) -> State:
        """The EM step: mu <- [mu (H alpha) - toll]+ with columns normalised, alpha <- alpha (P' H) if that is known.

        toll : taken off every expected count (of a total of 1), the Dirichlet(< 1) prior of sparse topics. A word
            keeps its best topic, and a topic that would lose everything pays no toll.
        power : over-relaxation: the factor by which an entry changes is raised to this power
        """

    @abstractmethod
    def gradient(self, state: State) -> tuple[Any, Any]:
        """(dL/dmu, dL/dalpha) as NumPy arrays of shape (T, N) and (T, T)."""

    @abstractmethod
    def active(self, state: State) -> int:
        """The number of topic entries that are not zero."""
