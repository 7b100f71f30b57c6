"""Facts that a file states about itself: JSON, parsed strictly, and checked by kind before anything relies on them.

A checksum tells that a file is as it was written, not that a sound program wrote it. So each fact goes through one of
the checks below when a file is loaded; a new fact needs one more line in its loader.
"""

from __future__ import annotations

import json
import re
from typing import Any

DEEPEST = 32  # levels of lists and objects; our own files have five
LARGEST = 2**63 - 1
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # the escape of half a character


def parsed(text: bytes) -> Any:
    """The value that JSON text holds; anything that could fail later is refused with a ValueError.

    >>> parsed(b'{"words": 3}')
    {'words': 3}
    """
    try:
        value = json.loads(text.decode("utf-8"))
        if SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
    except ValueError:
        raise ValueError("it is not valid JSON") from None
    level = [value]
    for _ in range(DEEPEST):
        level = [child for node in level for child in _children(node) if isinstance(child, dict | list)]
        if not level:
            return value
    raise ValueError("its JSON is nested too deeply")


def mapping(value: Any, name: str) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be an object, not {_shown(value)}")
    return value


def stated_number(value: Any, name: str, least: int = 0) -> int:
    """A whole number from `least` upwards that fits 64 bits; True and 1.0 are none."""
    if type(value) is not int or not least <= value <= LARGEST:
        raise ValueError(f"{name} must be a whole number from {least} upwards, not {_shown(value)}")
    return value


def string(value: Any, name: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string, not {_shown(value)}")
    return value


def strings(value: Any, name: str) -> tuple[str, ...]:
    """A list of strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{name} must be a list of strings, not {_shown(value)}")
    return tuple(value)


def tallies(value: Any, name: str) -> dict[str, int]:
    """How often each of some strings was seen: whole numbers from 1 upwards."""
    for item, n in mapping(value, name).items():
        stated_number(n, f"the number of {item[:40]!r} in {name}", least=1)
    return dict(value)


def reason(error: Exception) -> str:
    """Why a file is refused, in words."""
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)


def _children(node: Any) -> Any:
    return node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
