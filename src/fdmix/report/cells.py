"""Shares of topics over time and groups with their intervals, and the words that rise and fall, for the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fdmix.cells.grouping import Key, shown_key
from fdmix.cells.moments_by_group import MomentsByGroup
from fdmix.display import for_terminal
from fdmix.effects import SharesByGroup, over, word_changes
from fdmix.mixture.mixture import Mixture
from fdmix.report.groups import MAX_GROUPS, MAX_POINTS

N_CHANGES = 6  # words of a topic that rise, and that fall
MAX_SERIES = 4  # groups that are lines over time; more cannot be told apart
LEVEL = 0.95  # of the intervals, as in the rest of the page


def facts_of_cells(mixture: Mixture, cells: MomentsByGroup, n_threads: int | None = None) -> dict[str, Any]:
    """What `GroupShares.facts` gives, with "low" and "high" (null in empty bins) and, over time, "rises", "falls".

    Cells by a calendar and by other columns give the calendar, with "series": the same for the largest groups.
    """
    calendars = [axis for axis in cells.axes if axis.is_ordered]
    grouped = len(calendars) == 1 and len(cells.axes) > 1
    large = cells.along(calendars) if grouped else cells
    shares = over(mixture, large, level=LEVEL, n_threads=n_threads)
    ordered = len(large.axes) == 1 and large.axes[0].is_ordered
    shown = [place for place, key in enumerate(shares.keys) if not (ordered and key[0] is None)]
    if len(shown) > (most := MAX_POINTS if ordered else MAX_GROUPS):
        largest = sorted(shown, key=lambda place: -int(shares.documents[place]))[:most]
        shown = shown[-most:] if ordered else sorted(largest)
    facts = {
        "column": for_terminal(", ".join(map(str, cells.axes))),
        "ordered": ordered,
        "names": [for_terminal(shown_key(shares.keys[place])) for place in shown],
        "nLeftOut": len(shares.keys) - len(shown),
        **_numbers(shares, shown),
    }
    if grouped:
        fine = over(mixture, cells, level=LEVEL, n_threads=n_threads)
        facts |= _series(fine, cells.axes.index(calendars[0]), [shares.keys[place] for place in shown])
    return facts | _changes(mixture, word_changes(mixture, large, shares, n=N_CHANGES, n_threads=n_threads).trend)


def _numbers(shares: SharesByGroup, places: Sequence[int | None]) -> dict[str, Any]:
    """Documents and shares of these cells; null for a cell that is not there."""
    facts: dict[str, Any] = {"documents": [0 if place is None else int(shares.documents[place]) for place in places]}
    for name in ("shares", "errors", "low", "high"):
        table = getattr(shares, name)
        nothing = [None] * shares.n_topics
        facts[name] = [nothing if place is None else [_rounded(value) for value in table[place]] for place in places]
    return facts


def _series(shares: SharesByGroup, calendar: int, bins: list[Key]) -> dict[str, Any]:
    """The shares of the groups with most documents in each bin of the calendar."""
    groups: dict[Key, dict[Key, int]] = {}
    for place, key in enumerate(shares.keys):
        groups.setdefault(key[:calendar] + key[calendar + 1 :], {})[(key[calendar],)] = place
    size = {group: sum(int(shares.documents[place]) for place in at.values()) for group, at in groups.items()}
    largest = sorted(groups, key=lambda group: -size[group])[:MAX_SERIES]
    return {
        "series": [
            {"name": for_terminal(shown_key(group)), **_numbers(shares, [groups[group].get(key) for key in bins])}
            for group in groups if group in largest
        ],
        "nSeriesLeftOut": len(groups) - len(largest),
    }  # fmt: skip


def _changes(mixture: Mixture, trend: dict[str, Any] | None) -> dict[str, Any]:
    """The words of each topic that rise and that fall over time, the surest first."""
    if trend is None:
        return {}
    rises: list[list[str]] = [[] for _ in range(mixture.n_topics)]
    falls: list[list[str]] = [[] for _ in range(mixture.n_topics)]
    for topic, word, z in zip(trend["topic"].tolist(), trend["word"], trend["z"].tolist(), strict=True):
        if z > 0:
            rises[topic].append(for_terminal(word))
        else:
            falls[topic].insert(0, for_terminal(word))
    return {"rises": rises, "falls": falls}


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else float(f"{value:.4g}")
