"""Large arrays in temporary files instead of memory.

Within `on_disk(folder, beyond)`, results of more than `beyond` bytes are written to files in the folder and mapped.
The system reads what is used and drops it from memory when other data need the place. The files have no name, so that
they are gone when nobody uses them any more, also after Ctrl-C or a kill.
"""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

CHUNK_BYTES = 1 << 26  # of a mapped array that are read at a time


@dataclass(frozen=True)
class Scratch:
    """Where large arrays go, and from how many bytes on."""

    folder: Path
    beyond: float


_current: ContextVar[Scratch | None] = ContextVar("scratch", default=None)


@contextmanager
def on_disk(folder: Path, beyond: float) -> Iterator[None]:
    """Results of more than `beyond` bytes become files in the folder until the block ends; it may be nested."""
    token = _current.set(Scratch(folder, beyond))
    try:
        yield
    finally:
        _current.reset(token)


def folder_for(n_bytes: float) -> Path | None:
    """The folder for a result of this many bytes, or None if it belongs into memory."""
    scratch = _current.get()
    return scratch.folder if scratch is not None and n_bytes > scratch.beyond else None


class ArrayFile:
    """An array that grows in a file without a name, and is mapped once it is complete."""

    def __init__(self, folder: Path, dtype: Any) -> None:
        self.folder, self.dtype, self.size = folder, np.dtype(dtype), 0
        try:
            file = tempfile.TemporaryFile(dir=folder, prefix="fdmix-", buffering=0)  # noqa: SIM115  (closed below)
        except OSError as error:
            raise type(error)(f"no temporary file can be written into {folder} ({error.strerror})") from None
        self.file: IO[bytes] = file
        weakref.finalize(self, file.close)  # also after an error

    def append(self, array: Any) -> None:
        """Write the array to the end of the file."""
        data = np.ascontiguousarray(array, self.dtype).data.cast("B") if array.size else memoryview(b"")
        with disk_full_in_words(self.folder):
            while data:
                data = data[self.file.write(data) :]  # an unbuffered write may stop early
        self.size += array.size

    def mapped(self) -> Any:
        """The whole array, read-only; the file is removed when the last such array is."""
        with self.file:
            if not self.size:
                return np.empty(0, self.dtype)
            return np.frombuffer(mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ), self.dtype)


def zeros_on_disk(size: int, dtype: Any, folder: Path) -> Any:
    """Zeros that are mapped from a file without a name and can be written to; its place on the disk is reserved."""
    n_bytes = size * np.dtype(dtype).itemsize
    with tempfile.TemporaryFile(dir=folder, prefix="fdmix-") as file, disk_full_in_words(folder):
        if hasattr(os, "posix_fallocate"):  # without it, a full disk would end the program at the first write
            os.posix_fallocate(file.fileno(), 0, n_bytes)
        else:
            file.truncate(n_bytes)
        return np.frombuffer(mmap.mmap(file.fileno(), n_bytes, access=mmap.ACCESS_WRITE), dtype)


def in_file(array: Any, folder: Path) -> Any:
    """A copy of the array that is mapped from a file without a name."""
    file = ArrayFile(folder, array.dtype)
    file.append(array)
    return file.mapped()


def room_in_memory() -> float:
    """Bytes that one array may take in memory; there is no limit outside of `on_disk`."""
    scratch = _current.get()
    return float("inf") if scratch is None else scratch.beyond


@contextmanager
def disk_full_in_words(folder: Path) -> Iterator[None]:
    """Turns the error that a disk is full into a sentence that names the folder."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise OSError(f"the disk is full: there is no room left in {folder}. Free some space and try again") from None


def forget(array: Any, begin: int = 0, end: int | None = None) -> None:
    """Tell the system that this part of a mapped array is not needed soon; does nothing to arrays in memory."""
    mapping = _mapping_of(array)
    if mapping is None or not hasattr(mapping, "madvise"):
        return
    start = array.ctypes.data - np.frombuffer(mapping, np.uint8).ctypes.data
    first = -(-(start + begin * array.itemsize) // mmap.PAGESIZE) * mmap.PAGESIZE
    last = start + (array.size if end is None else end) * array.itemsize
    if last > first:
        mapping.madvise(mmap.MADV_DONTNEED, first, last - first)


def is_mapped(array: Any) -> bool:
    """Whether the array is mapped from a file."""
    return _mapping_of(array) is not None


def chunks(array: Any) -> Iterator[Any]:
    """A contiguous array as flat pieces; each is dropped from memory afterwards if the array is mapped."""
    flat = array.reshape(-1)
    step = max(1, CHUNK_BYTES // array.itemsize)
    for begin in range(0, flat.size, step):
        yield flat[begin : begin + step]
        forget(flat, begin, min(begin + step, flat.size))


def _mapping_of(array: Any) -> mmap.mmap | None:
    """The mapped file that an array is a view of."""
    while isinstance(array, np.ndarray):
        array = array.base
    if isinstance(array, memoryview):
        array = array.obj
    return array if isinstance(array, mmap.mmap) else None
