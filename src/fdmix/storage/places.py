"""Paths and URLs as one: every name of a file or folder that a user gives passes through `place_of`."""

from __future__ import annotations

import difflib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeGuard, cast

from fdmix.storage.remote_path import RemotePath
from fdmix.storage.urls import COLLAPSED_URL, is_url, scheme_of

COPY_BYTES = 1 << 20
CLOSE = 0.75  # how alike two names must be, from 0 to 1: a letter too few, too many or swapped is


def place_of(name: str | os.PathLike[str]) -> Path:
    """The file or folder of this name: a Path, or a `RemotePath` for a URL.

    A RemotePath has the methods of Path that fdmix uses, so it goes wherever a Path goes. `Path("s3://a/b")`, which
    holds "s3:/a/b", is understood, too.
    """
    if isinstance(name, RemotePath):
        return cast(Path, name)
    text = os.fspath(name)
    if not isinstance(name, str) and COLLAPSED_URL.match(text):
        text = COLLAPSED_URL.sub(r"\1://", text, count=1)
    if not is_url(text):
        return Path(name)
    if scheme_of(text) == "file":
        return Path(text[len("file://") :])
    return cast(Path, RemotePath(text))


def is_remote(place: Any) -> TypeGuard[RemotePath]:
    """Whether a place is a URL."""
    return isinstance(place, RemotePath)


def did_you_mean(place: Path) -> str:
    """The end of a sentence about a file that is not there: a similar name in the same folder, or nothing."""
    if is_remote(place):
        return ""
    try:
        names = [path.name for path in place.parent.iterdir()]
    except (OSError, ValueError):  # no file system has a name with a NUL
        return ""
    close = difflib.get_close_matches(place.name, names, 1, CLOSE)
    return f"; did you mean {place.with_name(close[0])}?" if close else ""


@contextmanager
def local_copy(place: Path) -> Iterator[Path]:
    """The file itself if it is local, otherwise a copy in the folder for temporary files, until the block ends."""
    if not is_remote(place):
        yield place
        return
    with tempfile.TemporaryDirectory(prefix="fdmix-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / (place.name or "file")
        with place.open() as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target, COPY_BYTES)
        yield copy


@contextmanager
def random_access(place: Path) -> Iterator[IO[bytes]]:
    """The open file, which can seek. Where a web server sends whole files only, this is a copy."""
    found = place.open_with_seek() if is_remote(place) else place.open("rb")
    if found is not None:
        with found:
            yield found
        return
    with local_copy(place) as copy, copy.open("rb") as file:
        yield file


@contextmanager
def uploaded(place: RemotePath) -> Iterator[IO[bytes]]:
    """An open temporary file on this machine, uploaded when the block ends without an error."""
    place.refuse_web()
    with tempfile.TemporaryDirectory(prefix="fdmix-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / place.name
        with copy.open("w+b") as file:
            yield file
            file.flush()
        place.upload(copy)
