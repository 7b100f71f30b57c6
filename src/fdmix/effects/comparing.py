"""Differences of the shares of topics between two sets of documents, with intervals and control of false reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix.cells.moments_by_group import MomentsByGroup
from fdmix.effects.margins import Floats, Margin, WordMatch
from fdmix.effects.over import DEFAULT_LEVEL
from fdmix.effects.share_fit import ShareEstimate, ShareFit
from fdmix.effects.testing import adjusted, checked_level, half_widths, p_values, pooled_freedom
from fdmix.mixture.frames import as_frame
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments


@dataclass(frozen=True, eq=False, repr=False)
class Differences:
    """The shares of topics in b minus those in a, one number for each topic.

    shares_a, shares_b : the most likely shares; differences : unbiased, so not always exactly b - a
    errors : standard errors; low, high : intervals of the level
    p : two-sided p-values; q : after Benjamini and Hochberg: of the topics with q below 0.05, at most 5 % do not
        differ, on average
    """

    shares_a: Floats
    shares_b: Floats
    differences: Floats
    errors: Floats
    low: Floats
    high: Floats
    p: Floats
    q: Floats
    level: float

    def __repr__(self) -> str:
        return f"Differences({self.p.size:,} topics, {int((self.q < 0.05).sum()):,} differ with q < 0.05)"

    def columns(self) -> dict[str, Any]:
        """A row for each topic."""
        return {
            "topic": np.arange(self.p.size),
            "share_a": self.shares_a,
            "share_b": self.shares_b,
            "difference": self.differences,
            "error": self.errors,
            "low": self.low,
            "high": self.high,
            "p": self.p,
            "q": self.q,
        }

    def to_frame(self, library: str | None = None) -> Any:
        """`columns` as a table of pandas, polars or Arrow; None takes the first of these that is installed."""
        return as_frame(self.columns(), library)


def compare(
    mixture: Mixture, a: Moments | MomentsByGroup, b: Moments | MomentsByGroup, *, level: float = DEFAULT_LEVEL
) -> Differences:
    """How the shares of topics differ between two sets of documents, which must not share documents.

    a, b : moments with folds, or cells: `compare(mixture, cells.select(party="D"), cells.select(party="R"))`
    """
    checked_level(level)
    first, second = (_estimate(mixture, each) for each in (a, b))
    differences = second.estimates - first.estimates
    variances = np.array([first.errors**2, second.errors**2])
    errors = np.sqrt(variances.sum(axis=0))
    freedom = pooled_freedom(variances, np.array([[first.freedom], [second.freedom]]))
    widths, p = half_widths(errors, freedom, level), p_values(differences, errors, freedom)
    return Differences(
        first.shares, second.shares, differences, errors, differences - widths, differences + widths,
        p, adjusted(p), level,
    )  # fmt: skip


def _estimate(mixture: Mixture, given: Moments | MomentsByGroup) -> ShareEstimate:
    words = WordMatch.of(mixture, given.vocabulary, given.n_words)
    if isinstance(given, MomentsByGroup):
        margins = [Margin.of(cell, words) for cell in given.cells.values()]
        margin = margins[0]
        for other in margins[1:]:
            margin = margin + other
    else:
        margin = Margin.of(given, words)
    if margin.is_empty:
        raise ValueError("one of the two sets of documents has no word that the topics have")
    found = ShareFit(words.topics, mixture.shares).fit(margin)
    if found.freedom < 1:
        raise ValueError("one of the two sets has too few documents for error bars: all of them are in one fold")
    return found
