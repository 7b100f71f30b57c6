"""The folder that workers write a table into, one Parquet file for each partition: complete, or not there.

On a disk, files are written into a temporary folder, which is renamed at the end. A bucket cannot rename: there,
files get their names at once, and a file `_SUCCESS` at the end says that all are there, as Spark does.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from fdmix.distributed.partitions import ClusterError, Partitions
from fdmix.storage.parquet_rows import give_types, wider_schema
from fdmix.storage.places import is_remote, place_of
from fdmix.storage.remote_path import RemotePath
from fdmix.storage.temporaries import require_writable, temporary_folder, temporary_name

RESULT_NAME = re.compile(r"part-\d{5,}\.parquet")
COMPLETE = "_SUCCESS"


@dataclass(frozen=True)
class Part:
    """The file of one partition: its name, its rows, and the types of its columns, as Arrow stores a schema."""

    name: str
    n_rows: int
    types: bytes

    @property
    def schema(self) -> pa.Schema:
        """The types of the columns."""
        return pa.ipc.read_schema(pa.py_buffer(self.types))


@contextmanager
def result_folder(out: Path, overwrite: bool, inputs: Iterable[Any]) -> Iterator[Path]:
    """A place for the files of workers, which becomes the folder `out` when the block ends without an error.

    inputs : the files of the documents, which must not lie in a folder that is replaced
    """
    if is_remote(out):
        with _in_bucket(out):
            yield cast(Path, out)
        return
    if out.exists():
        _refuse_to_replace(out, overwrite, inputs)
    if not out.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {out.parent} to write {out.name} into")
    with temporary_folder(out.parent) as folder:
        yield folder.absolute()  # workers run in other folders
        for entry in folder.iterdir():  # a worker that was killed leaves its temporary file
            if not RESULT_NAME.fullmatch(entry.name):
                entry.unlink()
        _move(folder, out)


def require_all(folder: Path, parts: Sequence[Part]) -> None:
    """Raise a ClusterError if a file that a worker wrote is not in the folder."""
    found = {entry.name for entry in folder.iterdir()} if parts else set()
    if missing := [part.name for part in parts if part.name not in found]:
        raise ClusterError(
            f"{len(missing)} files are not where the workers wrote them ({folder / missing[0]}): choose a folder "
            "that all machines share"
        )


def give_same_types(folder: Path, parts: Sequence[Part], partitions: Partitions) -> None:
    """Give columns the same types in all files, as wide as the widest; workers write those again that have others.

    Types follow the values: a column is empty in one partition, and has numbers in a second and text in a third.
    """
    if not parts:
        return
    wanted = reduce(wider_schema, (part.schema for part in parts))
    others = [part for part in parts if not part.schema.equals(wanted)]
    for part in others:
        if part.n_rows == 0:  # needs nothing but the names and types of columns
            give_types(folder / part.name, wanted)
    if any(part.n_rows for part in others):
        types = wanted.serialize().to_pybytes()
        partitions.listed(
            GiveTypes(folder, tuple(part.name for part in parts), types), "giving columns the same types"
        )


@dataclass(frozen=True)
class GiveTypes:
    """Give the file of one partition the types of all; its documents are not needed."""

    folder: Path
    names: tuple[str, ...]
    types: bytes

    def __call__(self, number: int, content: Any) -> None:
        """Write the file again if its types are others."""
        give_types(self.folder / self.names[number], pa.ipc.read_schema(pa.py_buffer(self.types)))


@contextmanager
def _in_bucket(out: RemotePath) -> Iterator[None]:
    if out.exists():
        raise FileExistsError(f"{out} exists already, and folders at URLs are not replaced: give another name")
    require_writable(out.parent)
    try:
        yield
    except BaseException:
        with suppress(Exception):  # the first error is what the user must see
            for entry in out.iterdir():
                entry.unlink()
        raise
    (out / COMPLETE).write_nothing()


def _refuse_to_replace(out: Path, overwrite: bool, inputs: Iterable[Any]) -> None:
    """Refuse to replace anything but an earlier result of `assign`, and that only if it is to be replaced."""
    if not overwrite:
        raise FileExistsError(f"{out} exists already: give another name, or remove it")
    if not out.is_dir() or out.is_symlink():
        raise FileExistsError(f"{out} is not a folder that assign wrote: give another name")
    others = sorted(entry.name for entry in out.iterdir() if not RESULT_NAME.fullmatch(entry.name))
    if others:
        raise FileExistsError(f"{out} holds files that assign did not write ({others[0]}): give another name")
    if any(out.resolve() in place_of(path).resolve().parents for path in inputs if not is_remote(path)):
        raise FileExistsError(f"{out} holds the documents: give another name for the result")


def _move(folder: Path, out: Path) -> None:
    """Give the folder its name; an earlier result is removed after it was renamed."""
    if not out.exists():
        folder.rename(out)
        return
    earlier = temporary_name(out.parent)
    out.rename(earlier)
    try:
        folder.rename(out)
    except OSError:
        earlier.rename(out)
        raise
    shutil.rmtree(earlier, ignore_errors=True)
