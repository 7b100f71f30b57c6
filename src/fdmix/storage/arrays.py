"""Write named arrays to one file and read them back, memory-mapped and verified by checksums.

The format has a version. Loading a file never executes code from it. Its layout:

bytes 0-7    b"fdmix\\r\\n\\x1a", which reveals foreign files and copies made in text mode
bytes 8-15   length of the header, little-endian
bytes 16-47  SHA-256 of the header
header       JSON: kind, version, the writer's facts, and the dtype, shape, offset and SHA-256 of each array
arrays       raw little-endian bytes; each array starts at a multiple of 64 bytes
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from fdmix.runtime.threads import in_threads
from fdmix.storage.facts import parse_json
from fdmix.storage.places import local_copy, place_of
from fdmix.storage.scratch import chunks, disk_full_in_words
from fdmix.storage.temporaries import replacing

MAGIC = b"fdmix\r\n\x1a"
PREAMBLE = struct.Struct("<8sQ32s")  # MAGIC, length of the header, SHA-256 of the header
CAN_REPLACE_MAPPED_FILES = os.name != "nt"  # Windows refuses to rename a file over one that is memory-mapped
ALIGNMENT = 64  # bytes; a cache line
MAX_HEADER = 1 << 28  # bytes to read of a file of unknown size, whose header may be damaged
DTYPES = {"<i8": np.int64, "<i4": np.int32, "<f8": np.float64, "<f4": np.float32, "|u1": np.uint8}


class FileError(ValueError):
    """The file cannot be used: another program or a newer fdmix wrote it, or it is truncated or corrupted."""


def write_arrays(
    path: str | os.PathLike[str], kind: str, version: int, facts: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write named arrays and JSON facts to `path`. If writing fails, an existing file stays as it was."""
    contiguous = {name: _little_endian(array) for name, array in arrays.items()}
    entries: dict[str, Any] = {}
    offset = 0  # from the first array: offsets must not depend on the length of the header that stores them
    digests = in_threads(_digest, contiguous.values())
    for (name, array), digest in zip(contiguous.items(), digests, strict=True):
        entries[name] = {"dtype": array.dtype.str, "shape": array.shape, "offset": offset, "sha256": digest}
        offset += _aligned(array.nbytes)
    header = json.dumps(
        {"kind": kind, "version": version, "facts": facts, "arrays": entries, "bytes": offset},
        ensure_ascii=False,
    ).encode()
    with disk_full_in_words(place_of(path).parent), replacing(path) as file:
        file.write(PREAMBLE.pack(MAGIC, len(header), hashlib.sha256(header).digest()))
        file.write(header)
        _pad(file, PREAMBLE.size + len(header))
        for array in contiguous.values():
            for chunk in chunks(array):
                file.write(chunk.data)
            _pad(file, array.nbytes)


def read_arrays(path: str | os.PathLike[str], kind: str, newest: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """(facts, arrays) of a file that `write_arrays` wrote; the arrays are read-only, and memory-mapped.

    On Windows they are read into memory instead, since a mapped file cannot be replaced there.
    The checksums of the header and of all arrays are verified first. The arrays stay valid if the file is replaced by
    a new one, as `write_arrays` does. They do not if another program changes or truncates the file in place.

    kind : what the file must hold
    newest : the newest version of the format that the caller understands
    """
    path = place_of(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if path.is_dir():
        raise FileError(f"{path} is a folder, not a file of {kind}")
    with local_copy(path) as local, local.open("rb") as file:
        header, start = _read_header(file, path, kind, newest)
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if CAN_REPLACE_MAPPED_FILES else _whole(file)
    arrays = {}
    for name, entry in header["arrays"].items():
        dtype = np.dtype(DTYPES[entry["dtype"]])
        size = math.prod(entry["shape"])
        flat = np.frombuffer(content, dtype, size, start + entry["offset"])
        arrays[name] = flat.reshape(entry["shape"])
    wanted = [entry["sha256"] for entry in header["arrays"].values()]
    for name, digest, expected in zip(arrays, in_threads(_digest, arrays.values()), wanted, strict=True):
        if digest != expected:
            raise FileError(f"{path} is corrupted: the checksum of {name!r} does not match")
    return header["facts"], arrays


def stored_kind(path: str | os.PathLike[str]) -> str | None:
    """What a file of `write_arrays` says that it holds; None for other and for damaged files."""
    path = place_of(path)
    if not path.is_file():
        return None
    with path.open("rb") as file:
        preamble = file.read(PREAMBLE.size)
        if len(preamble) < PREAMBLE.size or not preamble.startswith(MAGIC):
            return None
        _, length, _ = PREAMBLE.unpack(preamble)
        size = path.stat().st_size or MAX_HEADER  # a web server may not tell the size
        try:
            return str(_parsed_header(file.read(min(length, size)), path)["kind"])
        except FileError:
            return None


def _read_header(file: IO[bytes], path: Path, kind: str, newest: int) -> tuple[dict[str, Any], int]:
    """(header, position of the first array in the file); `path` is its name in messages."""
    size = os.fstat(file.fileno()).st_size
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
    header = _parsed_header(text, path)
    if header["kind"] != kind:
        raise FileError(f"{path} holds {header['kind']}, not {kind}")
    if header["version"] > newest:
        raise FileError(
            f"{path} was written by a newer fdmix (format {header['version']}, this one reads up to {newest}): "
            "upgrade fdmix"
        )
    start = _aligned(PREAMBLE.size + length)
    if size < start + header["bytes"]:
        raise truncated
    if size > start + header["bytes"]:
        raise FileError(f"{path} is corrupted: {size - start - header['bytes']:,} bytes too many at its end")
    return header, start


def _parsed_header(text: bytes, path: Path) -> dict[str, Any]:
    """The header as a dictionary. Its form is checked: a matching checksum does not prove that fdmix wrote it."""
    try:
        header = parse_json(text)
        total = header["bytes"]
        well_formed = (
            isinstance(header["kind"], str)
            and type(header["version"]) is int
            and header["version"] >= 1
            and isinstance(header["facts"], dict)
            and type(total) is int
            and total >= 0
            and all(_is_valid_entry(entry, total) for entry in header["arrays"].values())
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        well_formed = False
    if not well_formed:
        raise FileError(f"{path} is corrupted: its header makes no sense")
    return header


def _is_valid_entry(entry: Any, total: int) -> bool:
    """Whether the header describes an array that lies within the `total` bytes of all arrays."""
    shape, offset = entry["shape"], entry["offset"]
    if not isinstance(shape, list) or len(shape) not in (1, 2):
        return False
    if not all(type(n) is int and 0 <= n <= total for n in [offset, *shape]):
        return False
    nbytes = math.prod(shape) * np.dtype(DTYPES[entry["dtype"]]).itemsize
    return offset % ALIGNMENT == 0 and offset + nbytes <= total and isinstance(entry["sha256"], str)


def _whole(file: IO[bytes]) -> bytes:
    """The whole file in memory."""
    file.seek(0)
    return file.read()


def _little_endian(array: Any) -> Any:
    array = np.ascontiguousarray(array)
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if array.dtype.str not in DTYPES:
        raise TypeError(f"cannot store an array of {array.dtype}")
    return array


def _digest(array: Any) -> str:
    digest = hashlib.sha256()
    for chunk in chunks(array):
        digest.update(chunk.data)
    return digest.hexdigest()


def _aligned(nbytes: int) -> int:
    """`nbytes`, rounded up to a multiple of ALIGNMENT."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def _pad(file: IO[bytes], written: int) -> None:
    file.write(bytes(_aligned(written) - written))
