"""The interface of all engines. Solvers hand an engine's arrays back to it and never look inside them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.mixture.mixture import Mixture
from fdmix.moments.pair_matrix import PairMatrix

# Over-relaxation raises the factor by which an entry changes to a power. A larger factor is treated as this one when
# it is raised, so that one entry cannot take over its topic in a single step.
LARGEST_FACTOR = 1e4


@dataclass(frozen=True, eq=False)
class State:
    """Topics P[u, t] = mu_t(u) and alpha, in the layout and memory of the engine."""

    topics: Any
    correlations: Any


@dataclass(frozen=True, eq=False)
class Expectation:
    """The result of one pass over the pairs: the likelihood of a state and the factors of its EM step.

    With R = Mhat / M and H = R P:

    log_likelihood : L = sum Mhat log M
    topic_factors : H alpha = (dL/dP) / 2; EM multiplies the topics P by it
    joint : P' H = dL/dalpha; EM multiplies alpha by it. None if it was not asked for
    """

    log_likelihood: float
    topic_factors: Any
    joint: Any


class Engine(ABC):
    """Passes over one Mhat for one number of topics."""

    @abstractmethod
    def __init__(self, mhat: PairMatrix | sp.csr_array, n_topics: int, n_threads: int | None = None) -> None: ...

    @abstractmethod
    def place(self, mixture: Mixture) -> State:
        """The mixture in the engine's own layout."""

    @abstractmethod
    def mixture(self, state: State) -> Mixture:
        """The state as a mixture."""

    @abstractmethod
    def expect(self, state: State, *, joint: bool = True) -> Expectation:
        """The likelihood and its derivatives, by one pass over the pairs.

        joint : whether to compute dL/dalpha. Without it, H alpha = R (P alpha) needs two matrix products fewer.

        A pair with M = 0 adds nothing to the derivatives. It adds -inf to L, or, in float32, Mhat log of a tiny
        number.
        """

    @abstractmethod
    def maximise(self, state: State, expectation: Expectation, shrinkage: float = 0.0, power: float = 1.0) -> State:
        """The state after one EM step: mu <- [mu (H alpha) - shrinkage]+ and alpha <- alpha (P' H), both normalised.

        alpha stays as it is if `expectation.joint` is None.

        shrinkage : subtracted from every expected count, in units in which all counts of the corpus sum to 1. It is
            the effect of a Dirichlet prior below 1, which makes topics sparse. A word always keeps its best topic,
            and a topic that would lose all its words is not shrunk.
        power : over-relaxation: the factor by which an entry changes is raised to this power
        """

    @abstractmethod
    def gradient(self, state: State) -> tuple[Any, Any]:
        """(dL/dmu, dL/dalpha) as NumPy arrays of shape (T, N) and (T, T)."""

    def release(self) -> None:  # noqa: B027  (most engines hold nothing that they could make anew)
        """Free memory that the next pass makes anew, for an engine that will not be used for a while."""

    @property
    def is_shared(self) -> bool:
        """Whether several processes share the fit; usually this is the only one."""
        return False

    def any(self, flag: bool) -> bool:
        """Whether the flag is set in any of the processes that share the fit; usually this is the only one."""
        return flag

    def correlations(self, state: State) -> Any:
        """alpha of the state as a NumPy array of shape (T, T)."""
        return state.correlations

    def reweigh(self, state: State, expectation: Expectation) -> State:
        """The state after an EM step on alpha alone, alpha <- alpha (P' H), with the topics held fixed."""
        alpha = state.correlations * (expectation.joint + expectation.joint.T)
        return replace(state, correlations=alpha / alpha.sum())

    def topics_of(self, state: State, numbers: Any) -> Any:
        """The words of some topics, (topics, N), as a NumPy array in the caller's order of words."""
        return self.mixture(state).topics[numbers].copy()

    def assembled(self, old: State, new: State, numbers: Any, topics: Any) -> State:
        """A state of the old topics, except those of the given numbers, whose words are given; alpha is the new one.

        It is what constraints on topics need after a step. Engines may do it without a copy of all topics.
        """
        words = np.array(self.mixture(old).topics)
        words[numbers] = topics
        return self.place(Mixture(words, self.mixture(new).correlations))

    @abstractmethod
    def active(self, state: State) -> int:
        """The number of non-zero topic entries."""
