"""Check the JSON facts that a file states about itself, before any code relies on them.

A checksum shows that a file is unchanged since it was written. It does not show that the program that wrote it was
correct. So a loader passes each fact through one of the checks below; a new fact needs a new line in its loader.
"""

from __future__ import annotations

import json
import re
from typing import Any

MAX_DEPTH = 32  # nested lists and objects; the files of fdmix have five levels
MAX_NUMBER = 2**63 - 1  # the largest number that an int64 array holds
SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")  # half of a surrogate pair: UTF-8 cannot store it alone


def parse_json(text: bytes) -> Any:
    """The value of a JSON text. A ValueError refuses text that is invalid, nested too deeply or cannot be encoded.

    >>> parse_json(b'{"words": 3}')
    {'words': 3}
    """
    try:
        value = json.loads(text.decode("utf-8"))
        if SURROGATE_ESCAPE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
    except ValueError:
        raise ValueError("it is not valid JSON") from None
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _children(node) if isinstance(child, dict | list)]
        if not level:
            return value
    raise ValueError("its JSON is nested too deeply")


def mapping(value: Any, name: str) -> dict[str, Any]:
    """The value, if it is a JSON object."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be an object, not {_shown(value)}")
    return value


def stated_number(value: Any, name: str, least: int = 0) -> int:
    """The value, if it is a whole number from `least` upwards that fits into 64 bits; True and 1.0 are refused."""
    if type(value) is not int or not least <= value <= MAX_NUMBER:
        raise ValueError(f"{name} must be a whole number from {least} upwards, not {_shown(value)}")
    return value


def string(value: Any, name: str) -> str:
    """The value, if it is a string."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string, not {_shown(value)}")
    return value


def strings(value: Any, name: str) -> tuple[str, ...]:
    """The value as a tuple, if it is a list of strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{name} must be a list of strings, not {_shown(value)}")
    return tuple(value)


def tallies(value: Any, name: str) -> dict[str, int]:
    """The value, if it maps strings to how often each was seen: whole numbers from 1 upwards."""
    for item, n in mapping(value, name).items():
        stated_number(n, f"the number of {item[:40]!r} in {name}", least=1)
    return dict(value)


def reason(error: Exception) -> str:
    """Why a file is refused, for an error message."""
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)


def _children(node: Any) -> Any:
    return node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
