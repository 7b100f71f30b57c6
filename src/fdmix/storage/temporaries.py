"""Write files and folders under a temporary name and rename them when they are complete.

A file at a URL is written to a temporary file on this machine first, and uploaded in one piece.

A temporary file lies beside its future result and is named like `.0123456789abcdef.fdmix-tmp`. The process that
writes it holds a lock on it (flock). The system releases the lock when the process ends, even if it is killed. So an
unlocked temporary file is a leftover, and the next write into its folder removes it.
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

from fdmix.storage.places import is_remote, place_of, uploaded
from fdmix.storage.remote_path import RemotePath

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

TEMPORARY_NAME = re.compile(r"\.[0-9a-f]{16}\.fdmix-tmp")
MIN_LEFTOVER_SECONDS = 60.0  # a temporary file is created a moment before it is locked: spare young ones
UNLOCKABLE_LEFTOVER_SECONDS = 86_400.0  # one day; where files cannot be locked, older ones are leftovers


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """An open temporary file that replaces the file at a path or URL when the block ends without an error."""
    place = place_of(path)
    if is_remote(place):
        with uploaded(place) as copy:
            yield copy
        return
    path = Path(os.path.realpath(path))  # replace what a symbolic link points to, and keep the link
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} into")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give a file name")
    with temporary_file(path.parent) as (temporary, file):
        yield file
        file.flush()
        os.fsync(file.fileno())
        file.close()
        if path.exists():
            temporary.chmod(path.stat().st_mode)
        temporary.replace(path)
    sync_folder(path.parent)


def temporary_name(folder: Path) -> Path:
    """An unused path in the folder for a temporary file."""
    return folder / f".{secrets.token_hex(8)}.fdmix-tmp"


@contextmanager
def temporary_file(folder: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """(path, open file) of a new locked file; the end of the block removes it unless it was renamed."""
    remove_leftovers(folder)
    path = temporary_name(folder)
    try:
        file = path.open("xb")
    except OSError as error:
        raise _not_writable(folder, error) from None
    try:
        with file, _lock(path):
            yield path, file
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """The path of a new locked folder; the end of the block removes it unless it was renamed."""
    remove_leftovers(folder)
    path = temporary_name(folder)
    try:
        path.mkdir()
    except OSError as error:
        raise _not_writable(folder, error) from None
    try:
        with _lock(path):
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def require_writable(folder: Path | RemotePath) -> None:
    """Raise an OSError if no file can be created in the folder; tries it with a temporary file."""
    if isinstance(folder, RemotePath):
        folder.require_writable()
        return
    with temporary_file(folder):
        pass


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files and folders in a folder whose processes have ended."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if TEMPORARY_NAME.fullmatch(entry.name) and not entry.is_symlink():
                with suppress(OSError):
                    _remove_if_leftover(Path(entry.path), time.time() - entry.stat().st_mtime)


def sync_folder(folder: Path) -> None:
    """Write the folder's entries to the disk, so that a rename survives a power failure; does nothing on Windows."""
    if is_remote(folder):
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Only one process at a time runs the block for a folder; others wait. No protection where locks do not work.

    They do not work for folders at URLs.
    """
    if is_remote(folder):
        yield
        return
    with _lock(folder, wait=True):
        yield


def _remove_if_leftover(path: Path, age: float) -> None:
    if age < MIN_LEFTOVER_SECONDS:
        return
    with _lock(path) as acquired:
        if age > UNLOCKABLE_LEFTOVER_SECONDS if acquired is None else acquired:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


@contextmanager
def _lock(path: Path, wait: bool = False) -> Iterator[bool | None]:
    """True if this process got the lock, False if another one holds it, None if the path cannot be locked."""
    descriptor: Any = None
    acquired: bool | None = None
    if fcntl is not None:
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                acquired = True
            except BlockingIOError:
                acquired = False
    try:
        yield acquired
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _not_writable(folder: Path, error: OSError) -> OSError:
    return type(error)(f"no file can be written into the folder {folder} ({error.strerror}): choose another one")
