"""Check parameters that must be whole numbers, in the same way everywhere."""

from __future__ import annotations

from numbers import Integral
from typing import Any


def whole_number(name: str, value: Any, least: int = 0) -> int:
    """The value as an int; a ValueError names the parameter if the value is not a whole number from `least` upwards.

    NumPy's integers are accepted. True, False and 3.0 are refused.

    >>> whole_number("n_threads", 2, least=1)
    2
    """
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else least - 1
    if number < least:
        raise ValueError(f"{name} must be a whole number from {least} upwards, not {value!r}")
    return number
