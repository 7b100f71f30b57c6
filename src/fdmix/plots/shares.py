"""Shares of topics over time or in groups of documents, with bands of uncertainty."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fdmix.cells.grouping import shown_key
from fdmix.effects.over import SharesByGroup
from fdmix.metrics.arguments import as_mixture
from fdmix.plots.style import COLUMN, FAMILIES, MIDDLE, PLAIN, SMALL, drawing, figure_of, panels, shown_text

MAX_LINES = 6  # unless topics are chosen; more lines cannot be told apart
INTERVAL = 1.96  # standard errors: 95% of a normal distribution
MAX_PANELS = 4  # groups of shares over time, the largest
NAMES_CHARACTERS = 44  # of the names of groups below a figure, side by side
MAX_NAME = 22  # characters
MIN_YEARS = 2  # of months; over fewer years, months are named, because whole years give too few ticks
MONTH = re.compile(r"(\d{4})-(\d{2})")


@dataclass(frozen=True, eq=False)
class _Shares:
    """Shares (groups, topics) with their bands, None if unknown; whether groups are a line, and where they stand."""

    names: list[str]
    shares: Any
    low: Any
    high: Any
    ordered: bool
    column: str


def topic_shares(
    shares: Any,
    groups: Sequence[Any] | None = None,
    *,
    low: Any = None,
    high: Any = None,
    mixture: Any = None,
    topics: Sequence[int] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """A figure of the shares of topics in groups of documents: lines over time, or points for other groups.

    shares : (groups, topics), with the names of the groups; or what `fdmix.effects.over` gives, with intervals; or
        what `fdmix.report.group_shares` gives, which has standard errors: bands are then 95% intervals
    groups : years, months ("2024-03") and other numbers make lines, other names points
    low, high : (groups, topics), the ends of the bands, optional
    mixture : names the topics
    topics : their numbers; None takes those that differ most between groups, 6 at most

    Shares by a calendar and by other columns have a panel for each group, of the four with most documents.
    """
    if isinstance(shares, SharesByGroup) and axes is None and (series := _by_group(shares)):
        return _draw_series(series, mixture, topics)
    given = _given(shares, groups, low, high)
    chosen = _chosen(given, topics)
    names = _topic_names(mixture, given.shares.shape[1])
    with drawing(axes, COLUMN if given.ordered else COLUMN + 0.6, 0.68 * COLUMN) as here:
        _draw_topics(here, given, chosen, names)
        return figure_of(here)


def _topic_names(mixture: Any, n_topics: int) -> list[str]:
    names = [f"topic {t}" for t in range(n_topics)] if mixture is None else as_mixture(mixture).topic_names(2)
    if len(names) != n_topics:
        raise ValueError(f"the shares are those of {n_topics} topics, and the model has {len(names)}")
    return names


def _draw_topics(here: Axes, given: _Shares, chosen: list[int], names: list[str], top: float | None = None) -> None:
    """The lines or points of the chosen topics, and their names; `top` is the highest share of the axis."""
    places = _places(given)
    for number, topic in enumerate(chosen):
        colour = FAMILIES[number % len(FAMILIES)]
        shift = 0.0 if given.ordered else (number - (len(chosen) - 1) / 2) * 0.6 / len(chosen)
        _draw(here, given, topic, places + shift, colour)
    here.set(ylabel="share of the topic", xlabel=shown_text(given.column) if given.column else "")
    here.xaxis.label.set(**PLAIN)
    here.set_ylim(0, top)
    here.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.6g}%")
    here.yaxis.set_major_locator(MaxNLocator(4))
    _name_groups(here, given, places)
    _name_topics(here, given, chosen, places, names)


def _by_group(found: SharesByGroup) -> dict[str, _Shares]:
    """The shares over time of the groups with most documents; none unless there are a calendar and other columns."""
    calendars = [place for place, axis in enumerate(found.axes) if axis.is_ordered]
    if len(calendars) != 1 or len(found.axes) == 1:
        return {}
    at = calendars[0]
    groups: dict[Any, list[int]] = {}
    for place, key in enumerate(found.keys):
        if key[at] is not None:
            groups.setdefault(key[:at] + key[at + 1 :], []).append(place)
    sizes = {group: int(np.sum(np.asarray(found.documents)[places])) for group, places in groups.items()}
    largest = sorted(groups, key=lambda group: -sizes[group])[:MAX_PANELS]
    return {
        shown_key(group): _Shares(
            [str(found.keys[place][at]) for place in groups[group]], found.shares[groups[group]],
            found.low[groups[group]], found.high[groups[group]], True, str(found.axes[at]),
        )
        for group in groups if group in largest
    }  # fmt: skip


def _draw_series(series: dict[str, _Shares], mixture: Any, topics: Sequence[int] | None) -> Figure:
    """A panel for each group, with the same topics, years and shares."""
    together = np.concatenate([given.shares for given in series.values()])
    first = next(iter(series.values()))
    chosen = _chosen(replace(first, shares=together), topics)
    names = _topic_names(mixture, together.shape[1])
    top = 1.05 * max(float(np.nanmax(given.high[:, chosen])) for given in series.values())
    with panels(None, len(series), 1, COLUMN, 0.6 * COLUMN) as found:
        for here, (name, given) in zip(found, series.items(), strict=True):
            _draw_topics(here, given, chosen, names, top)
            here.set_title(shown_text(name, 2 * MAX_NAME), loc="left", fontsize=MIDDLE, fontweight="bold", **PLAIN)
            here.set_xlabel(here.get_xlabel() if here is found[-1] else "")
        return figure_of(found[0])


def _given(shares: Any, groups: Sequence[Any] | None, low: Any, high: Any) -> _Shares:
    if isinstance(shares, SharesByGroup):
        return _of_cells(shares)
    if isinstance(shares, Mapping):
        values, errors = np.array(shares["shares"], float), INTERVAL * np.array(shares["errors"], float)
        low, high = np.maximum(values - errors, 0), values + errors
        return _Shares(list(shares["names"]), values, low, high, bool(shares["ordered"]), str(shares["column"]))
    values = np.asarray(shares, np.float64)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError("shares are a table of groups x topics, with at least one of each")
    names = [str(name) for name in (range(len(values)) if groups is None else groups)]
    if len(names) != len(values):
        raise ValueError(f"there are shares of {len(values)} groups and names of {len(names)}")
    if (low is None) != (high is None):
        raise ValueError("a band has two ends: give low and high, or neither")
    low, high = (None if end is None else np.asarray(end, np.float64) for end in (low, high))
    if low is not None and not low.shape == high.shape == values.shape:
        raise ValueError("low and high must have the shape of the shares, groups x topics")
    return _Shares(names, values, low, high, all(_number(name) is not None for name in names), "")


def _of_cells(found: SharesByGroup) -> _Shares:
    """What `over` found. Bins of a calendar without documents are gaps of lines; other cells are left out."""
    ordered = len(found.axes) == 1 and found.axes[0].is_ordered
    known: Any = ~np.isnan(found.shares).any(axis=1)
    kept = [place for place, key in enumerate(found.keys) if (key[0] is not None if ordered else known[place])]
    if not known[kept].any():
        raise ValueError("no cell has documents, so there are no shares to draw")
    names, column = [shown_key(found.keys[place]) for place in kept], ", ".join(map(str, found.axes))
    return _Shares(names, found.shares[kept], found.low[kept], found.high[kept], ordered, column)


def _chosen(given: _Shares, topics: Sequence[int] | None) -> list[int]:
    n_topics = given.shares.shape[1]
    if topics is None:
        return [int(t) for t in np.argsort(-_spread(given.shares), kind="stable")[:MAX_LINES]]
    chosen = [int(t) for t in topics]
    if not chosen or min(chosen) < 0 or max(chosen) >= n_topics:
        raise ValueError(f"topics are chosen by their numbers, from 0 to {n_topics - 1}")
    return chosen


def _spread(shares: Any) -> Any:
    """How far the shares of each topic differ between groups that have any."""
    known = shares[~np.isnan(shares).any(axis=1)]
    return np.ptp(known, axis=0)


def _number(name: str) -> float | None:
    """A year, a month or another number as a place on a line, or None."""
    if found := MONTH.fullmatch(name):
        return int(found[1]) + (int(found[2]) - 1) / 12
    try:
        number = float(name)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _places(given: _Shares) -> Any:
    """Where groups stand: at their number, or one after the other."""
    numbers = [_number(name) for name in given.names]
    known = given.ordered and None not in numbers and len(set(numbers)) == len(numbers)
    return np.array(numbers, float) if known else np.arange(len(numbers), dtype=float)


def _draw(axes: Axes, given: _Shares, topic: int, places: Any, colour: str) -> None:
    values = given.shares[:, topic]
    if given.ordered:
        order = np.argsort(places, kind="stable")
        if given.low is not None:
            ends = given.low[order, topic], given.high[order, topic]
            axes.fill_between(places[order], *ends, color=colour, alpha=0.2, linewidth=0)
        axes.plot(places[order], values[order], color=colour, linewidth=1.2)
        return
    if given.low is not None:
        axes.vlines(places, given.low[:, topic], given.high[:, topic], color=colour, linewidth=1)
    axes.plot(places, values, "o", color=colour, markersize=3)


def _name_groups(axes: Axes, given: _Shares, places: Any) -> None:
    months = all(MONTH.fullmatch(name) for name in given.names) and np.ptp(places) < MIN_YEARS
    numbered = given.ordered and not months and not np.array_equal(places, np.arange(len(places)))
    if numbered:
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        return
    texts, step = [shown_text(name, MAX_NAME) for name in given.names], 1
    while given.ordered and step < len(texts) and _are_long(texts[::step]):
        step += 1
    turned: dict[str, Any] = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(places[::step], texts[::step], **(turned if _are_long(texts[::step]) else {}), **PLAIN)


def _are_long(texts: list[str]) -> bool:
    """Whether these names of groups, with room between them, are wider than a column."""
    return sum(len(text) + 2 for text in texts) > NAMES_CHARACTERS


def _name_topics(axes: Axes, given: _Shares, chosen: list[int], places: Any, names: list[str]) -> None:
    """The names at the right, each at the height of its last share, moved apart where they would overlap."""
    last = int(np.argmax(np.where(np.isnan(given.shares).any(axis=1), -np.inf, places)))
    top = axes.get_ylim()[1]
    points_high = axes.get_window_extent().height / axes.figure.dpi * 72
    least = (SMALL + 1.5) / points_high * top
    heights = _apart(given.shares[last, chosen], least, top)
    right = axes.get_xlim()[1]
    for number, (topic, height) in enumerate(zip(chosen, heights, strict=True)):
        axes.annotate(
            shown_text(names[topic], MAX_NAME), (right, height), (3, 0), textcoords="offset points", va="center",
            color=FAMILIES[number % len(FAMILIES)], fontsize=SMALL, annotation_clip=False, **PLAIN,
        )  # fmt: skip
    axes.set_xlim(right=right)
    axes.set_ylim(0, top)


def _apart(heights: Any, least: float, top: float) -> Any:
    """The heights, moved so that neighbours are at least this far apart, and none is above the top if it fits.

    >>> _apart(np.array([0.5, 0.5, 0.1]), 0.2, 1.0).round(2).tolist()
    [0.5, 0.7, 0.1]
    """
    placed = np.array(heights, float)
    below = -np.inf
    for place in np.argsort(placed, kind="stable"):
        placed[place] = below = max(placed[place], below + least)
    above = top + least
    for place in np.argsort(-placed, kind="stable"):
        placed[place] = above = min(placed[place], above - least)
    return placed
