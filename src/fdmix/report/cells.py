"""Shares of topics over time and groups with their intervals, and the words that rise and fall, for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from fdmix.cells.grouping import shown_key
from fdmix.cells.moments_by_group import MomentsByGroup
from fdmix.display import for_terminal
from fdmix.effects import over, word_changes
from fdmix.mixture.mixture import Mixture
from fdmix.report.groups import MAX_GROUPS, MAX_POINTS

N_CHANGES = 6  # words of a topic that rise, and that fall
LEVEL = 0.95  # of the intervals, as in the rest of the page


def facts_of_cells(mixture: Mixture, cells: MomentsByGroup, n_threads: int | None = None) -> dict[str, Any]:
    """What `GroupShares.facts` gives, with "low" and "high" (null in empty bins) and, over time, "rises", "falls"."""
    shares = over(mixture, cells, level=LEVEL, n_threads=n_threads)
    ordered = len(cells.axes) == 1 and cells.axes[0].is_ordered
    shown = [place for place, key in enumerate(shares.keys) if not (ordered and key[0] is None)]
    if len(shown) > (most := MAX_POINTS if ordered else MAX_GROUPS):
        largest = sorted(shown, key=lambda place: -int(shares.documents[place]))[:most]
        shown = shown[-most:] if ordered else sorted(largest)
    facts = {
        "column": for_terminal(", ".join(map(str, cells.axes))),
        "ordered": ordered,
        "names": [for_terminal(shown_key(shares.keys[place])) for place in shown],
        "documents": [int(shares.documents[place]) for place in shown],
        "nLeftOut": len(shares.keys) - len(shown),
    }
    for name in ("shares", "errors", "low", "high"):
        facts[name] = [[_rounded(value) for value in getattr(shares, name)[place]] for place in shown]
    return facts | _changes(mixture, word_changes(mixture, cells, shares, n=N_CHANGES, n_threads=n_threads).trend)


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
