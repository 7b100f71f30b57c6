"""One file of named arrays: memory-mapped, versioned, checksummed; nothing in it is executed.

bytes 0-7    b"fdmix\\r\\n\\x1a"     a text-mode copy or a foreign file shows at once
bytes 8-15   length of the header, little-endian
bytes 16-47  SHA-256 of the header
header       JSON: kind, version, the writer's facts, and for each array its dtype, shape, offset, SHA-256
arrays       raw little-endian bytes, each beginning at a multiple of 64
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from fdmix.runtime.threads import in_threads
from fdmix.storage.facts import parsed
from fdmix.storage.temporaries import settle, temporary_file

MAGIC = b"fdmix\r\n\x1a"
PREAMBLE = struct.Struct("<8sQ32s")
ALIGNMENT = 64
DTYPES = {"<i8": np.int64, "<i4": np.int32, "<f8": np.float64, "<f4": np.float32, "|u1": np.uint8}


class FileError(ValueError):
    """A file that cannot be used: foreign, newer, truncated or corrupted."""


def write_arrays(
    path: str | os.PathLike[str], kind: str, version: int, facts: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write named arrays and JSON facts to `path`, all or nothing."""
    contiguous = {name: _little_endian(array) for name, array in arrays.items()}
    entries: dict[str, Any] = {}
    offset = 0  # counted from the first array, so that it does not depend on the header's own length
    digests = in_threads(_digest, contiguous.values())
    for (name, array), digest in zip(contiguous.items(), digests, strict=True):
        entries[name] = {"dtype": array.dtype.str, "shape": array.shape, "offset": offset, "sha256": digest}
        offset += _aligned(array.nbytes)
    header = json.dumps(
        {"kind": kind, "version": version, "facts": facts, "arrays": entries, "bytes": offset},
        ensure_ascii=False,
    ).encode()
    with replacing(path) as file:
        file.write(PREAMBLE.pack(MAGIC, len(header), hashlib.sha256(header).digest()))
        file.write(header)
        _pad(file, PREAMBLE.size + len(header))
        for array in contiguous.values():
            file.write(array.data)
            _pad(file, array.nbytes)


def read_arrays(path: str | os.PathLike[str], kind: str, newest: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what `write_arrays` wrote: the facts, and the arrays, memory-mapped and read-only.

    Header and arrays are checked against their checksums first. The file stays mapped: save over it, which puts a new
    file in its place, but do not cut or change it in place while it is in use.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if path.is_dir():
        raise FileError(f"{path} is a folder, not a file of {kind}")
    with path.open("rb") as file:
        header, start = _read_header(file, path, kind, newest)
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    arrays = {}
    for name, entry in header["arrays"].items():
        dtype = np.dtype(DTYPES[entry["dtype"]])
        size = math.prod(entry["shape"])
        flat = np.frombuffer(mapped, dtype, size, start + entry["offset"])
        arrays[name] = flat.reshape(entry["shape"])
    wanted = [entry["sha256"] for entry in header["arrays"].values()]
    for name, digest, expected in zip(arrays, in_threads(_digest, arrays.values()), wanted, strict=True):
        if digest != expected:
            raise FileError(f"{path} is corrupted: the checksum of {name!r} does not match")
    return header["facts"], arrays


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A new file under a temporary name that takes the place of `path` only when it is complete."""
    path = Path(os.path.realpath(path))  # a link stays a link
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
    settle(path.parent)


def _read_header(file: IO[bytes], path: Path, kind: str, newest: int) -> tuple[dict[str, Any], int]:
    size = path.stat().st_size
    preamble = file.read(PREAMBLE.size)
    if preamble[: len(MAGIC)] != MAGIC[: len(preamble)] or not preamble:
        raise FileError(f"{path} is not a file of fdmix {kind}")
    truncated = FileError(f"{path} is truncated: it has {size:,} bytes, too few for what it should hold")
    if len(preamble) < PREAMBLE.size:
        raise truncated
    _, length, digest = PREAMBLE.unpack(preamble)
    if length > size - PREAMBLE.size:
        raise truncated
    text = file.read(length)
    if hashlib.sha256(text).digest() != digest:
        raise FileError(f"{path} is corrupted: the checksum of its header does not match")
    header = _parsed(text, path)
    if header["kind"] != kind:
        raise FileError(f"{path} holds {header['kind']}, not {kind}")
    if header["version"] > newest:
        raise FileError(
            f"{path} was written by a newer fdmix (format {header['version']}, this one reads up to {newest}): "
            "upgrade fdmix"
        )
    start = PREAMBLE.size + _aligned_gap(PREAMBLE.size, length)
    if size < start + header["bytes"]:
        raise truncated
    if size > start + header["bytes"]:
        raise FileError(f"{path} is corrupted: {size - start - header['bytes']:,} bytes too many at its end")
    return header, start


def _parsed(text: bytes, path: Path) -> dict[str, Any]:
    """The header as a dictionary of the expected form, whoever wrote it."""
    try:
        header = parsed(text)
        total = header["bytes"]
        well_formed = (
            isinstance(header["kind"], str)
            and type(header["version"]) is int
            and header["version"] >= 1
            and isinstance(header["facts"], dict)
            and type(total) is int
            and total >= 0
            and all(_is_entry(entry, total) for entry in header["arrays"].values())
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        well_formed = False
    if not well_formed:
        raise FileError(f"{path} is corrupted: its header makes no sense")
    return header


def _is_entry(entry: Any, total: int) -> bool:
    shape, offset = entry["shape"], entry["offset"]
    if not isinstance(shape, list) or len(shape) not in (1, 2):
        return False
    if not all(type(n) is int and 0 <= n <= total for n in [offset, *shape]):
        return False
    nbytes = math.prod(shape) * np.dtype(DTYPES[entry["dtype"]]).itemsize
    return offset % ALIGNMENT == 0 and offset + nbytes <= total and isinstance(entry["sha256"], str)


def _little_endian(array: Any) -> Any:
    array = np.ascontiguousarray(array)
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if array.dtype.str not in DTYPES:
        raise TypeError(f"cannot store an array of {array.dtype}")
    return array


def _digest(array: Any) -> str:
    return hashlib.sha256(memoryview(array).cast("B") if array.size else b"").hexdigest()


def _aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def _aligned_gap(begun: int, length: int) -> int:
    return _aligned(begun + length) - begun


def _pad(file: IO[bytes], written: int) -> None:
    file.write(bytes(_aligned(written) - written))
