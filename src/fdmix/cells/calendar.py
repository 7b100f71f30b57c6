"""Dates as people write them, and the days, weeks, months, quarters and years that they fall into.

A date with a time of day counts by the date that is written in it: no time zone is converted, and an offset such as
+02:00 changes nothing.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NAME = r"(?P<name>[A-Za-z]{3,9})\.?"
TIME = r"(?:[T ,].*)?"  # a time of day and a zone: not looked at
FORMS = [
    re.compile(form)
    for form in (
        rf"(?P<year>\d{{4}})([-/.])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}}){TIME}",  # 2021-03-25T12:00:00Z
        r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?:T\d.*)?",  # 20210325
        rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.(?P<year>\d{{4}}){TIME}",  # 25.03.2021
        rf"(?:[A-Za-z]{{3,9}},? +)?(?P<day>\d{{1,2}})[ -]+{NAME}[ ,-]+(?P<year>\d{{4}}){TIME}",  # Thu, 25 Mar 2021
        rf"(?:[A-Za-z]{{3,9}},? +)?{NAME} +(?P<day>\d{{1,2}}),? +(?P<year>\d{{4}}){TIME}",  # March 25, 2021
        rf"[A-Za-z]{{3}} {NAME} +(?P<day>\d{{1,2}}) [\d:]+ (?:[-+\w]+ )?(?P<year>\d{{4}})",  # Thu Mar 25 12:00 2021
        r"(?P<year>\d{4})[-/](?P<month>\d{1,2})",  # 2021-03
        rf"{NAME},? +(?P<year>\d{{4}})",  # March 2021
        r"(?P<year>\d{4})",
    )
]
SLASHES = re.compile(rf"(\d{{1,2}})/(\d{{1,2}})/(\d{{4}}){TIME}")
FULL_DATE, MONTH_ONLY, YEAR_ONLY = "a date", "a month without a day", "a year without a month"
MAX_SHOWN = 40  # characters of a value in an error message
EXAMPLE = "write it like 2021-03-25"


@dataclass(frozen=True)
class Bin:
    """A kind of calendar bin: its number of a date, and the label of a number. Numbers of neighbours differ by 1."""

    name: str
    number: Callable[[datetime.date], int]
    label: Callable[[int], str]
    needs: tuple[str, ...]  # how exact a date must be

    def number_of_label(self, label: str) -> int:
        """The number of the bin with this label; the label of a finer date, such as a day, names the bin it is in."""
        return self.number(first_day(label))


def _monday(week: int) -> datetime.date:
    return datetime.date.fromordinal(7 * week + 1)


def _week_label(week: int) -> str:
    year, number, _ = _monday(week).isocalendar()
    return f"{year:04}-W{number:02}"


BINS = {
    each.name: each
    for each in (
        Bin("day", lambda day: day.toordinal(), lambda n: datetime.date.fromordinal(n).isoformat(), (FULL_DATE,)),
        Bin("week", lambda day: (day.toordinal() - 1) // 7, _week_label, (FULL_DATE,)),
        Bin(
            "month",
            lambda day: 12 * day.year + day.month - 1,
            lambda n: f"{n // 12:04}-{n % 12 + 1:02}",
            (FULL_DATE, MONTH_ONLY),
        ),
        Bin(
            "quarter",
            lambda day: 4 * day.year + (day.month - 1) // 3,
            lambda n: f"{n // 4:04}-Q{n % 4 + 1}",
            (FULL_DATE, MONTH_ONLY),
        ),
        Bin("year", lambda day: day.year, lambda n: f"{n:04}", (FULL_DATE, MONTH_ONLY, YEAR_ONLY)),
    )
}
COARSER = {
    "day": ("day", "week", "month", "quarter", "year"),
    "week": ("week",),
    "month": ("month", "quarter", "year"),
    "quarter": ("quarter", "year"),
    "year": ("year",),
}


def first_day(label: str) -> datetime.date:
    """The first day of a bin, by its label.

    >>> first_day("2021-Q2"), first_day("2021-W01")
    (datetime.date(2021, 4, 1), datetime.date(2021, 1, 4))
    """
    try:
        if match := re.fullmatch(r"(\d{4})-W(\d\d)", label):
            return datetime.date.fromisocalendar(int(match[1]), int(match[2]), 1)
        if match := re.fullmatch(r"(\d{4})-Q([1-4])", label):
            return datetime.date(int(match[1]), 3 * int(match[2]) - 2, 1)
        if match := re.fullmatch(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?", label):
            return datetime.date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
    except ValueError:
        pass
    raise ValueError(
        f"{label[:MAX_SHOWN]!r} is not a bin of the calendar: write 2021, 2021-Q1, 2021-03, 2021-W09 or 2021-03-25"
    )


def bin_of_label(label: str) -> Bin:
    """The kind of bin that a label names.

    >>> bin_of_label("2021").name, bin_of_label("2021-W01").name, bin_of_label("2021-01-04").name
    ('year', 'week', 'day')
    """
    first_day(label)
    kind = {"W": "week", "Q": "quarter"}.get(label[5:6]) or ("year", "month", "day")[label.count("-")]
    return BINS[kind]


def last_day(label: str) -> datetime.date:
    """The last day of a bin, by its label.

    >>> last_day("2021-02"), last_day("2021")
    (datetime.date(2021, 2, 28), datetime.date(2021, 12, 31))
    """
    kind = bin_of_label(label)
    if kind.name == "day" or kind.number(datetime.date.max) == kind.number_of_label(label):
        return first_day(label) if kind.name == "day" else datetime.date.max
    return first_day(kind.label(kind.number_of_label(label) + 1)) - datetime.timedelta(days=1)


def row_number(position: int) -> str:
    """The name of a row in an error message.

    >>> row_number(0)
    'row 1'
    """
    return f"row {position + 1:,}"


def bin_numbers(
    values: Sequence[Any], kind: str, column: str, place: Callable[[int], str] = row_number
) -> list[int | None]:
    """The number of the bin of each value, None where the value is missing. A ValueError names the row of a bad date.

    place : the name of a row in an error message, by its position

    Dates such as 03/25/2021 are read by the order that the whole column allows: one with a number above 12 decides.

    >>> [BINS["month"].label(n) for n in bin_numbers(["2021-03-25", "1 April 2021"], "month", "date")]
    ['2021-03', '2021-04']
    """
    chosen, known = BINS[kind], dict[Any, int | None]()
    day_first = _day_comes_first(values, column)
    numbers = []
    for row, value in enumerate(values):
        key = value if isinstance(value, str) else (type(value), str(value))
        if key not in known:
            try:
                known[key] = _number(value, chosen, day_first)
            except ValueError as error:
                raise ValueError(f"{place(row)}, column {column!r}: {error}") from None
        numbers.append(known[key])
    return numbers


def is_missing(value: Any) -> bool:
    """Whether a value stands for nothing: None, an empty text, NaN or NaT."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or bool(value != value)  # noqa: PLR0124  (NaN and NaT differ from themselves)


def _number(value: Any, kind: Bin, day_first: bool | None) -> int | None:
    if is_missing(value):
        return None
    date, exactness = _date(value, day_first)
    if exactness not in kind.needs:
        raise ValueError(f"{_shown(value)} is {exactness}, which has no {kind.name}: {EXAMPLE}")
    return kind.number(date)


def _date(value: Any, day_first: bool | None) -> tuple[datetime.date, str]:
    """(a date, how exact it is)."""
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[D]").item()
    if isinstance(value, datetime.datetime):
        return value.date(), FULL_DATE
    if isinstance(value, datetime.date):
        return value, FULL_DATE
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        if not 1000 <= value <= 9999 and not 10_000_101 <= value <= 99_991_231:
            raise ValueError(f"the number {value} is not a date (a Unix time must be converted first): {EXAMPLE}")
        value = str(value)
    if not isinstance(value, str):
        raise ValueError(f"{_shown(value)} is not a date: {EXAMPLE}")
    text = value.strip()
    if match := SLASHES.fullmatch(text):
        first, second, year = (int(part) for part in match.groups())
        return _checked(year, second if day_first else first, first if day_first else second, value), FULL_DATE
    for form in FORMS:
        if match := form.fullmatch(text):
            return _from_parts(match.groupdict(), value)
    raise ValueError(f"{_shown(value)} is not a date: {EXAMPLE}")


def _from_parts(parts: dict[str, str | None], value: Any) -> tuple[datetime.date, str]:
    month, day = parts.get("month"), parts.get("day")
    if name := parts.get("name"):
        if name[:3].lower() not in MONTHS:
            raise ValueError(f"{_shown(value)} is not a date: {EXAMPLE}")
        month = str(MONTHS.index(name[:3].lower()) + 1)
    exactness = FULL_DATE if day else MONTH_ONLY if month else YEAR_ONLY
    return _checked(int(parts["year"] or 0), int(month or 1), int(day or 1), value), exactness


def _checked(year: int, month: int, day: int, value: Any) -> datetime.date:
    try:
        return datetime.date(year, month, day)
    except ValueError:
        raise ValueError(f"{_shown(value)} is not a date of the calendar: {EXAMPLE}") from None


def _day_comes_first(values: Sequence[Any], column: str) -> bool | None:
    """Whether 03/04/2021 is in April, by the other dates of the column; None if there are no such dates."""
    found = [match for value in values if isinstance(value, str) and (match := SLASHES.fullmatch(value.strip()))]
    day_first = any(int(match[1]) > 12 for match in found)
    month_first = any(int(match[2]) > 12 for match in found)
    if not found:
        return None
    if day_first == month_first:
        why = "both orders occur" if day_first else "no date of the column tells which"
        raise ValueError(
            f"column {column!r}: in dates such as {_shown(found[0][0])}, is the day or the month first ({why})? "
            "Write them like 2021-03-25"
        )
    return day_first


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return repr(text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}...")
