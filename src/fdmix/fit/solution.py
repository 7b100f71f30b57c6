"""What a fit returns, and what it tells on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fdmix.display import html_table
from fdmix.fit.stopping import Stop
from fdmix.mixture.mixture import Mixture


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of a fit.

    mixture : the fitted topics and how they occur together
    log_likelihoods : before each pass over the pairs, and last of the mixture itself
    converged : whether the fit ended by itself
    reason : why it ended, a sentence
    stop : the same for programs
    """

    mixture: Mixture
    log_likelihoods: list[float]
    converged: bool
    reason: str
    stop: Stop = Stop.CONVERGED

    def _repr_html_(self) -> str:
        rows = [
            ("ended", ("" if self.converged else "early: ") + self.reason),
            ("passes over the pairs", f"{len(self.log_likelihoods) - 1:,}"),
            ("log-likelihood of a pair", f"{self.log_likelihoods[-1]:.4f}"),
        ]
        return html_table("Solution", (), rows) + self.mixture._repr_html_()


@dataclass(frozen=True)
class Progress:
    """What a callback is told after each pass; `mixture()` makes the best mixture so far.

    passes : in all phases so far; phase_passes : in this phase
    phase : "likelihood", "sparse" or "smooth", for the solver "em"; "adam" has one phase. A phase ends when it
        settles, so how many passes it takes is not known before.
    """

    passes: int
    log_likelihood: float
    seconds: float
    active_topics_per_word: float
    phase: str
    mixture: Callable[[], Mixture] = field(repr=False, compare=False)
    phase_passes: int = 0
