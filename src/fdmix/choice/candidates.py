"""The numbers of topics to try."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fdmix.runtime.whole_numbers import whole_number

STEPS = 12  # numbers of a range such as 10..300


def numbers_of_topics(given: str | int | Iterable[int], steps: int = STEPS) -> tuple[int, ...]:
    """The numbers of topics to try, in rising order.

    given : numbers; or text such as "10,20,50" or "10..300", a range of `steps` numbers with equal ratios

    >>> numbers_of_topics("5..40", steps=4)
    (5, 10, 20, 40)
    >>> numbers_of_topics("2,3,10..20", steps=3)
    (2, 3, 10, 14, 20)
    """
    steps = whole_number("steps", steps, least=2)
    if isinstance(given, str):
        numbers = [number for part in given.split(",") for number in _part(part.strip(), given, steps)]
    else:
        each = [given] if isinstance(given, int) else list(given)
        numbers = [whole_number("a number of topics", number, least=1) for number in each]
    if not any(number > 1 for number in numbers):
        raise ValueError("give at least one number of topics above 1, for instance 10..300")
    return tuple(sorted(set(numbers)))


def _part(part: str, given: str, steps: int) -> list[int]:
    """The numbers of one part of the text, "20" or "10..300"."""
    ends = [end.strip() for end in part.split("..")]
    if len(ends) > 2 or not all(end.isascii() and end.isdigit() and len(end) <= 6 for end in ends):
        raise ValueError(f"numbers of topics are given as 10..300 or 10,20,50, not as {given!r}")
    low, high = int(ends[0]), int(ends[-1])
    if low < 1 or low > high:
        raise ValueError(f"a range of topics goes from 1 or more up to a larger number, not {part!r}")
    return np.rint(np.geomspace(low, high, steps if high > low else 1)).astype(int).tolist()
