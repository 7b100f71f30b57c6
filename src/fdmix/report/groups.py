"""Shares of topics in groups of documents, such as years or sections, with standard errors."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fdmix.display import for_terminal

MAX_GROUPS = 60  # in the page; the smallest ones beyond that are left out
MAX_POINTS = 200  # the same for years and dates, which make a line


class GroupShares:
    """Means of theta for each value of a column, added up batch by batch."""

    def __init__(self, n_topics: int) -> None:
        self.n_topics = n_topics
        self.sums: dict[Any, Any] = {}  # by value: (documents, sum of theta, sum of theta^2)

    def add(self, theta: Any, values: list[Any]) -> None:
        """Add documents; one without a value or with NaN topics is left out."""
        groups: dict[Any, list[int]] = {}
        for place, value in enumerate(values):
            if not _is_missing(value):
                groups.setdefault(_as_key(value), []).append(place)
        for value, places in groups.items():
            rows = theta[places]
            rows = rows[~np.isnan(rows).any(axis=1)]
            n, total, squares = self.sums.get(value, (0, np.zeros(self.n_topics), np.zeros(self.n_topics)))
            self.sums[value] = n + len(rows), total + rows.sum(axis=0), squares + (rows**2).sum(axis=0)

    def facts(self, column: str) -> dict[str, Any] | None:
        """{"column", "ordered", "names", "documents", "shares", "errors"}; None if no document has a value."""
        known = {value: sums for value, sums in self.sums.items() if sums[0] > 0}
        if not known:
            return None
        ordered = all(isinstance(value, int | float) or _is_date(value) for value in known)
        largest = sorted(known, key=lambda value: -known[value][0])[: MAX_POINTS if ordered else MAX_GROUPS]
        names = sorted(largest, key=None if ordered and len({type(v) for v in largest}) == 1 else str)
        shares, errors = [], []
        for value in names:
            n, total, squares = known[value]
            mean = total / n
            variance = np.maximum(squares / n - mean**2, 0) * (n / max(n - 1, 1))
            shares.append([float(f"{x:.4g}") for x in mean])
            errors.append([float(f"{x:.2g}") for x in np.sqrt(variance / n)])
        return {
            "column": for_terminal(column),
            "ordered": ordered,
            "names": [for_terminal(str(value)) for value in names],
            "documents": [known[value][0] for value in names],
            "shares": shares,
            "errors": errors,
            "nLeftOut": len(known) - len(names),
        }


def groups_of_column(n_topics: int, name: str) -> tuple[GroupShares, Any]:
    """(empty groups, a function for `representatives(watch=...)` that fills them)."""
    groups = GroupShares(n_topics)

    def watch(theta: Any, kept: Mapping[str, list[Any]]) -> None:
        groups.add(theta, kept[name])

    return groups, watch


def _as_key(value: Any) -> Any:
    """Dates by month: a day has too few documents."""
    if isinstance(value, datetime.date):
        return f"{value.year:04}-{value.month:02}"
    return value if isinstance(value, str | int | float) else str(value)


def _is_date(value: Any) -> bool:
    return isinstance(value, str) and len(value) >= 4 and value[:4].isdigit() and set(value) <= set("0123456789-/.")


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))
