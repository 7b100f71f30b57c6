"""What a path holds: moments, text, or a folder of either."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add
from pathlib import Path

from fdmix.moments import Moments
from fdmix.storage import MAGIC


def is_moments(path: str | Path) -> bool:
    """Whether a file begins like one of ours."""
    path = Path(path)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def moments_files(paths: Iterable[str]) -> list[Path]:
    """The files of moments among these paths and in these folders, if there is nothing but moments; else none."""
    found: list[Path] = []
    for name in paths:
        path = Path(name)
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if is_moments(p))
            if not inside:
                return []
            found += inside
        elif is_moments(path):
            found.append(path)
        else:
            return []
    return found


def added(paths: Iterable[Path]) -> Moments:
    """The moments of all files together."""
    return reduce(add, (Moments.load(path) for path in paths))
