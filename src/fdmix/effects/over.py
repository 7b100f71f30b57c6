"""Shares of topics in each cell, with error bars, lifts and trends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from fdmix.cells.calendar import BINS, first_day
from fdmix.cells.grouping import Axis, Key
from fdmix.cells.moments_by_group import MomentsByGroup
from fdmix.effects.intervals import Spread
from fdmix.effects.margins import NO_FOLDS, Floats, Margin, WordMatch
from fdmix.effects.share_fit import ShareEstimate, ShareFit
from fdmix.effects.testing import adjusted, checked_level, half_widths, p_values, pooled_freedom
from fdmix.mixture.frames import as_frame
from fdmix.mixture.mixture import Mixture
from fdmix.runtime.threads import in_threads, one_blas_thread

MIN_BINS = 3  # of a trend
DEFAULT_LEVEL = 0.9


@dataclass(frozen=True, eq=False, repr=False)
class SharesByGroup:
    """Shares of topics in each cell, with error bars. Cells without documents are there, too, with NaN.

    axes, keys : what the cells are, C of them, in order
    documents : (C,); known : (C,), the share of tokens whose words the topics have
    shares : (C, T), the most likely shares; errors : their standard errors; low, high : intervals of the level
    lifts : (C, T), a share divided by that in all cells together; lift_errors : standard errors
    whole, whole_errors : (T,), the shares in all cells together
    estimates : (C, T), shares without the bound at zero, which tests and trends use; freedom : (C,), of the errors
    level : of the intervals
    """

    axes: tuple[Axis, ...]
    keys: tuple[Key, ...]
    documents: Any
    known: Floats
    shares: Floats
    errors: Floats
    low: Floats
    high: Floats
    lifts: Floats
    lift_errors: Floats
    whole: Floats
    whole_errors: Floats
    estimates: Floats
    freedom: Any
    level: float

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return int(self.whole.size)

    def __repr__(self) -> str:
        axes = ", ".join(map(str, self.axes))
        return f"SharesByGroup({axes}: {len(self.keys):,} cells x {self.n_topics:,} topics)"

    def columns(self) -> dict[str, Any]:
        """A row for each cell and topic; None where a cell has no documents."""
        n_cells, n_topics = self.shares.shape
        rows: dict[str, Any] = {
            str(axis): [key[place] for key in self.keys for _ in range(n_topics)]
            for place, axis in enumerate(self.axes)
        }
        rows["documents"] = np.repeat(self.documents, n_topics)
        rows["topic"] = np.tile(np.arange(n_topics), n_cells)
        numbers = {"share": self.shares, "error": self.errors, "low": self.low, "high": self.high}
        numbers |= {"lift": self.lifts, "lift_error": self.lift_errors}
        return rows | {name: _with_gaps(values) for name, values in numbers.items()}

    def to_frame(self, library: str | None = None) -> Any:
        """`columns` as a table of pandas, polars or Arrow; None takes the first of these that is installed."""
        return as_frame(self.columns(), library)

    def trends(self) -> dict[str, Any]:
        """The slope of each topic's share over the bins of the calendar, for each group: columns of a table.

        Least squares, weighted by documents: the slope is the change of the share per bin. `low` and `high` hold the
        slope's interval; `q` is its p-value after Benjamini and Hochberg: of the slopes with q below 0.05, at most
        5 % are false, on average. Groups with fewer than three bins that have documents are left out.
        """
        calendars = [place for place, axis in enumerate(self.axes) if axis.is_ordered]
        if len(calendars) != 1:
            raise ValueError("a trend needs cells by one calendar, such as month(date)")
        place = calendars[0]
        groups: dict[Key, list[int]] = {}
        for cell, key in enumerate(self.keys):
            if key[place] is not None and self.freedom[cell] > 0:
                groups.setdefault((*key[:place], *key[place + 1 :]), []).append(cell)
        groups = {group: cells for group, cells in groups.items() if len(cells) >= MIN_BINS}
        if not groups:
            raise ValueError(f"a trend needs {MIN_BINS} bins with documents")
        found = [self._slopes(place, cells) for cells in groups.values()]
        slopes, errors, freedom = (np.concatenate(each) for each in zip(*found, strict=True))
        widths, p = half_widths(errors, freedom, self.level), p_values(slopes, errors, freedom)
        others = [axis for axis in self.axes if not axis.is_ordered]
        named = {
            str(axis): [group[k] for group in groups for _ in range(self.n_topics)] for k, axis in enumerate(others)
        }
        return named | {
            "topic": np.tile(np.arange(self.n_topics), len(groups)),
            "bins": np.repeat([len(cells) for cells in groups.values()], self.n_topics),
            "slope": slopes,
            "error": errors,
            "low": slopes - widths,
            "high": slopes + widths,
            "p": p,
            "q": adjusted(p),
        }

    def _slopes(self, place: int, cells: list[int]) -> tuple[Floats, Floats, Floats]:
        """(slopes, errors, freedom) of all topics: sum_c w_c (x_c - mean) s_c / sum_c w_c (x_c - mean)^2."""
        kind = BINS[self.axes[place].bin or "day"]
        x = np.array([kind.number(first_day(self.keys[cell][place] or "")) for cell in cells], float)
        w = np.asarray(self.documents, float)[cells]
        centred = w * (x - np.average(x, weights=w))
        coefficients = centred / (centred @ x)
        variances = coefficients[:, None] ** 2 * self.errors[cells] ** 2
        freedom = pooled_freedom(variances, np.asarray(self.freedom)[cells, None])
        return coefficients @ self.estimates[cells], np.sqrt(variances.sum(axis=0)), freedom


def over(
    mixture: Mixture, cells: MomentsByGroup, *, level: float = DEFAULT_LEVEL, n_threads: int | None = None
) -> SharesByGroup:
    """Shares and lifts of topics in each cell, with error bars.

    The topics are held fixed, and the shares of each cell are fitted to its word margin (see `share_fit`). Error bars
    are a jackknife over the folds of the cell (see `intervals`). They say how much other documents from the same
    source would change the shares; they do not include the uncertainty of the topics themselves.

    level : of the intervals `low` to `high`
    """
    checked_level(level)
    if not cells.n_folds:
        raise ValueError(NO_FOLDS)
    words = WordMatch.of(mixture, cells.vocabulary, cells.n_words)
    with one_blas_thread:
        margins = list(in_threads(lambda cell: Margin.of(cell, words), cells.cells.values(), n_threads))
        total = reduce(add, margins)
        if total.is_empty:
            raise ValueError("no cell has a word that the topics have")
        whole = ShareFit(words.topics, mixture.shares).fit(total)
        fit = ShareFit(words.topics, whole.shares)
        found = list(in_threads(lambda m: None if m.is_empty else fit.fit(m), margins, n_threads))
    by_key = dict(zip(cells.cells, zip(found, margins, strict=True), strict=True))
    return _gathered(cells, by_key, whole, level)


def _gathered(
    cells: MomentsByGroup, found: dict[Key, tuple[ShareEstimate | None, Margin]], whole: ShareEstimate, level: float
) -> SharesByGroup:
    """All cells as arrays, NaN where nothing is known."""
    documents = cells.documents()
    keys, n_topics = tuple(documents), whole.shares.size
    counted = np.array(list(documents.values()))
    estimates = [found[key][0] if key in found else None for key in keys]
    some = np.array([place for place, estimate in enumerate(estimates) if estimate is not None])
    fitted = [estimate for estimate in estimates if estimate is not None]
    shares = np.array([estimate.shares for estimate in fitted])
    unbiased = np.array([estimate.estimates for estimate in fitted])
    spread = Spread.of(
        shares, np.array([e.errors for e in fitted]), [e.freedom for e in fitted], np.maximum(counted[some], 1)
    )
    low, high, errors = spread.intervals(unbiased, level)
    above_zero = np.where(whole.shares > 0, whole.shares, np.nan)
    lifts = shares / above_zero

    def everywhere(values: Any) -> Floats:
        table = np.full((len(keys), n_topics), np.nan)
        table[some] = values
        return table

    freedom = np.zeros(len(keys))
    freedom[some] = spread.freedom.ravel()
    return SharesByGroup(
        axes=cells.axes,
        keys=keys,
        documents=counted,
        known=np.array([found[key][1].known if key in found else np.nan for key in keys]),
        shares=everywhere(shares),
        errors=everywhere(errors),
        low=everywhere(np.minimum(low, shares)),
        high=everywhere(np.maximum(high, shares)),
        lifts=everywhere(lifts),
        # relative variances add up; the cell is part of the whole, which makes the sum a little too large
        lift_errors=everywhere(np.sqrt(errors**2 + (lifts * whole.errors) ** 2) / above_zero),
        whole=whole.shares,
        whole_errors=whole.errors,
        estimates=everywhere(unbiased),
        freedom=freedom,
        level=level,
    )


def _with_gaps(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.ravel().tolist()]
