"""What a fit returns, and what it tells on the way."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from fdmix.display import html_table
from fdmix.fit.stopping import Stop
from fdmix.mixture.mixture import Mixture

MAX_CURVE_POINTS = 300  # likelihoods that a mixture keeps of its fit: enough for a picture


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of a fit.

    mixture : the fitted topics and how they occur together; its provenance tells the story of the fit, for the report
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

    def __post_init__(self) -> None:
        told = dict(self.mixture.provenance) | {"fit": self._story()}
        object.__setattr__(self, "mixture", replace(self.mixture, provenance=told))

    def _story(self) -> dict[str, object]:
        """How the fit went: some of its likelihoods with the passes they belong to, and why it ended."""
        step = math.ceil(len(self.log_likelihoods) / MAX_CURVE_POINTS) or 1
        last = len(self.log_likelihoods) - 1
        passes = sorted({*range(0, last + 1, step), *([last] if last >= 0 else [])})
        kept = [(number, self.log_likelihoods[number]) for number in passes]
        curve = [[number, float(f"{value:.7g}")] for number, value in kept if math.isfinite(value)]
        return {"passes": max(last, 0), "curve": curve, "converged": self.converged, "reason": self.reason}

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
    steps_per_second : of Adam in this pass; None for other solvers
    """

    passes: int
    log_likelihood: float
    seconds: float
    active_topics_per_word: float
    phase: str
    mixture: Callable[[], Mixture] = field(repr=False, compare=False)
    phase_passes: int = 0
    steps_per_second: float | None = None
