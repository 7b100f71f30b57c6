"""By what documents are grouped: `month(date),party` as axes, and the cell of each document."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fdmix.cells.calendar import BINS, COARSER, bin_numbers, first_day, is_missing, row_number

Key = tuple[str | None, ...]  # a label for each axis; None where the value is missing
MISSING = "(missing)"  # how a missing value is shown
PART = re.compile(r"\s*(?:(?P<bin>\w+)\s*\(\s*(?P<binned>[^(),]+?)\s*\)|(?P<column>[^(),]+?))\s*")
NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")
MAX_CELLS = 20_000  # more groups than this are almost certainly a mistake, such as grouping by an id


@dataclass(frozen=True)
class Axis:
    """A column, and the kind of calendar bin that its dates are put into, or None for a column of groups.

    >>> Axis("date", "month").labels(["2021-03-25", None])
    ['2021-03', None]
    """

    column: str
    bin: str | None = None

    def __str__(self) -> str:
        return self.column if self.bin is None else f"{self.bin}({self.column})"

    @property
    def is_ordered(self) -> bool:
        """Whether the axis is a calendar, whose bins have an order and may have gaps."""
        return self.bin is not None

    def labels(self, values: Sequence[Any], place: Callable[[int], str] = row_number) -> list[str | None]:
        """The label of each value; None where it is missing."""
        if self.bin is None:
            return [None if is_missing(value) else _text(value) for value in values]
        label = BINS[self.bin].label
        shown: dict[int, str] = {}
        numbers = bin_numbers(values, self.bin, self.column, place)
        return [None if n is None else shown.setdefault(n, label(n)) for n in numbers]

    def coarsened(self, label: str | None, to: Axis) -> str | None:
        """The label on a coarser axis of the same column: the year of a month."""
        if label is None or to.bin == self.bin or to.bin is None:
            return label
        return BINS[to.bin].label(BINS[to.bin].number(first_day(label)))

    def can_become(self, other: Axis) -> bool:
        """Whether bins of this axis add up to those of the other one; weeks belong to no month."""
        if self.column != other.column or (self.bin is None) != (other.bin is None):
            return False
        return self.bin is None or other.bin in COARSER[self.bin]

    def in_order(self, labels: Iterable[str | None]) -> list[str | None]:
        """Labels in order, with the empty bins between the first and the last one; the missing value is last."""
        present = set(labels)
        known = sorted((label for label in present if label is not None), key=_number_or_text)
        if self.bin is not None and known:
            numbers = [BINS[self.bin].number(first_day(label)) for label in known]
            known = [BINS[self.bin].label(n) for n in range(min(numbers), max(numbers) + 1)]
        return [*known, *([None] if None in present else [])]


def axes_of(by: str | Iterable[str | Axis]) -> tuple[Axis, ...]:
    """The axes of `month(date),party`, or of a list of such parts.

    >>> [str(axis) for axis in axes_of("month(date), party")]
    ['month(date)', 'party']
    """
    parts = by.split(",") if isinstance(by, str) else list(by)
    axes = tuple(part if isinstance(part, Axis) else _axis(part) for part in parts)
    columns = [axis.column for axis in axes]
    if not axes:
        raise ValueError("say by what to group, such as 'month(date)' or 'month(date),party'")
    if len(set(columns)) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise ValueError(f"the column {twice!r} is named twice: a finer bin can be added up to a coarser one later")
    return axes


def keys_of(
    axes: Sequence[Axis],
    columns: Mapping[str, Any],
    n_documents: int,
    place: Callable[[int], str] = row_number,
) -> list[Key]:
    """The cell of each document, by the values of its columns; `place` names a document in an error message."""
    for axis in axes:
        if axis.column not in columns:
            known = ", ".join(map(repr, columns)) or "none"
            raise ValueError(f"the documents have no column {axis.column!r}; they have {known}")
    keys = list(zip(*(axis.labels(_listed(columns[axis.column]), place) for axis in axes), strict=True))
    if len(keys) != n_documents:
        raise ValueError(f"the columns have {len(keys):,} values for {n_documents:,} documents")
    if len(distinct := set(keys)) > MAX_CELLS:
        raise ValueError(
            f"{', '.join(map(str, axes))} gives {len(distinct):,} groups, more than {MAX_CELLS:,}: group by a column "
            "with fewer values, or by coarser bins"
        )
    return keys


def shown_key(key: Key) -> str:
    """A cell as people read it.

    >>> shown_key(("2021-03", None))
    '2021-03, (missing)'
    """
    return ", ".join(MISSING if label is None else label for label in key)


def _axis(part: str) -> Axis:
    match = PART.fullmatch(part)
    if match is None:
        raise ValueError(f"{part!r} is not a group: write a column, such as party, or a bin, such as month(date)")
    if match["bin"] is None:
        return Axis(match["column"])
    if match["bin"] not in BINS:
        raise ValueError(f"{match['bin']!r} is not a calendar bin: there are {', '.join(BINS)}")
    return Axis(match["binned"], match["bin"])


def _text(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, np.datetime64):
        value = value.item()
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value).strip()


def _number_or_text(label: str) -> tuple[bool, float, str]:
    """For sorting: numbers by size, then texts."""
    return (False, float(label), label) if NUMBER.fullmatch(label) else (True, 0.0, label)


def _listed(values: Any) -> list[Any]:
    array = values if isinstance(values, np.ndarray) else None
    if array is not None and array.dtype.kind == "M":
        return list(array)
    return list(values.tolist() if array is not None else values)
