"""Whole numbers that people give as parameters: checked in one way everywhere."""

from __future__ import annotations

from numbers import Integral
from typing import Any


def whole_number(name: str, value: Any, least: int = 0) -> int:
    """The value as an int, or a ValueError that names the parameter.

    NumPy's whole numbers are taken, True and False are not, and neither is 3.0.

    >>> whole_number("n_threads", 2, least=1)
    2
    """
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else least - 1
    if number < least:
        raise ValueError(f"{name} must be a whole number from {least} upwards, not {value!r}")
    return number
