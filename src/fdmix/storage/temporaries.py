"""Temporary files and folders that become results when they are complete; those of killed processes are removed.

Each has a name of the form `.0123456789abcdef.fdmix-tmp` beside its future result, and its process holds a lock on it
(flock), which the system releases when the process ends, however it ends. So one that nobody has locked is left over.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NAME = re.compile(r"\.[0-9a-f]{16}\.fdmix-tmp")
YOUNG = 60.0  # seconds; a temporary has its lock only an instant after it has its name
OLD = 86_400.0  # seconds after which one counts as left over where files cannot be locked


def temporary_name(folder: Path) -> Path:
    """A new name in the folder."""
    return folder / f".{secrets.token_hex(8)}.fdmix-tmp"


@contextmanager
def temporary_file(folder: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """(path, open file) of a new file, which is removed at the end unless it was renamed."""
    remove_leftovers(folder)
    path = temporary_name(folder)
    try:
        file = path.open("xb")
    except OSError as error:
        raise _refusal(folder, error) from None
    try:
        with file, _lock(path):
            yield path, file
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """The path of a new folder, which is removed at the end unless it was renamed."""
    remove_leftovers(folder)
    path = temporary_name(folder)
    try:
        path.mkdir()
    except OSError as error:
        raise _refusal(folder, error) from None
    try:
        with _lock(path):
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def require_writable(folder: Path) -> None:
    """Refuse a folder in which no file can be created, found out by creating one."""
    with temporary_file(folder):
        pass


def remove_leftovers(folder: Path) -> None:
    """Remove the temporaries in a folder whose processes are gone."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if NAME.fullmatch(entry.name) and not entry.is_symlink():
                with suppress(OSError):
                    _remove_if_left(Path(entry.path), time.time() - entry.stat().st_mtime)


def settle(folder: Path) -> None:
    """Make sure that a rename in the folder outlives a power failure, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Wait until no other process is in this block with the same folder; where folders cannot be locked, go on."""
    with _lock(folder, wait=True):
        yield


def _remove_if_left(path: Path, age: float) -> None:
    if age < YOUNG:
        return
    with _lock(path) as free:
        if free if free is not None else age > OLD:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


@contextmanager
def _lock(path: Path, wait: bool = False) -> Iterator[bool | None]:
    """True: we have the lock; False: another process has it; None: the system cannot lock this."""
    descriptor: Any = None
    free: bool | None = None
    if fcntl is not None:
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                free = True
            except BlockingIOError:
                free = False
    try:
        yield free
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _refusal(folder: Path, error: OSError) -> OSError:
    return type(error)(f"no file can be written into the folder {folder} ({error.strerror}): choose another one")
