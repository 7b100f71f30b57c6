"""Docstrings of the Python packages installed here: real text that every machine with Python has."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

BEFORE = re.compile(r"(?:def|class)[ ]+(\w+)[^\n]*(?:\n[^\n]*){0,30}?:[ \t]*(?:\#[^\n]*)?\n[ \t]+[rR]?\Z")
REACH = 1_500  # characters from a name to its docstring, at most
FEWEST_LETTERS = 200
LARGEST_FILE = 1_000_000
SKIPPED = {"tests", "test", "_vendor", "pip", "idlelib", "site-packages"}


def installed_docstrings(most: int) -> tuple[list[str], list[str]]:
    """(names, texts) of at most `most` docstrings, evenly from all packages, each text once."""
    found: dict[str, str] = {}
    for name, text in _docstrings():
        found.setdefault(text, name)
    step = max(1.0, len(found) / most)
    chosen = [int(i * step) for i in range(min(most, len(found)))]
    listed = list(found.items())
    return [listed[i][1] for i in chosen], [listed[i][0] for i in chosen]


def _docstrings() -> Iterator[tuple[str, str]]:
    """All of them, by file name, without those of tests."""
    for root in dict.fromkeys(Path(sysconfig.get_paths()[name]) for name in ("purelib", "platlib", "stdlib")):
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            if SKIPPED.intersection(parts) or path.stat().st_size > LARGEST_FILE:
                continue
            module = ".".join(part for part in parts if part != "__init__")
            for name, text in _of_source(path.read_text(encoding="utf-8", errors="replace")):
                yield f"{module}.{name}", text


def _of_source(source: str) -> Iterator[tuple[str, str]]:
    """(name, docstring) of the functions and classes: triple-quoted strings right after a definition's colon."""
    pieces = source.split('"""')
    for before, text in zip(pieces[::2], pieces[1::2], strict=False):
        if len(text) >= FEWEST_LETTERS:
            start = max(before.rfind("def ", -REACH), before.rfind("class ", -REACH))
            if start >= 0 and (found := BEFORE.match(before, start)):
                yield found[1], text
