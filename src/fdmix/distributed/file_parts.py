"""Files as partitions: what a worker reads of them. Workers must reach the files under the same names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fdmix.storage.places import is_remote, place_of, random_access
from fdmix.text.batches import Batch
from fdmix.text.files import STDIN, batches_of, kind_of
from fdmix.text.layouts import Layout, TextError
from fdmix.text.sources import Files, Source
from fdmix.text.tables import parquet_batches

PARTITION_BYTES = 1 << 25  # of files in a partition, as they are stored: 32 MB
MIN_PARTITIONS = 16  # where the files allow it, so that a few workers have something to do
FILE, ROW = "file of the document", "row of the document"  # kept columns that no table has


@dataclass(frozen=True)
class FilePart:
    """A file, or some row groups of a Parquet file.

    name : of the source in the ledger; parts of a file have the same one
    given : the file as the user named it; path : the same for workers, which run in other folders
    first_row : the number of the first document of the part in its file
    """

    name: str
    given: str
    path: Any
    layout: Layout
    size: int
    row_groups: tuple[int, ...] | None = None
    first_row: int = 0

    def batches(self) -> Iterator[Batch]:
        """The documents, with the names of their files and their positions there."""
        row = self.first_row
        given = (
            batches_of(self.path, self.layout)
            if self.row_groups is None
            else parquet_batches(self.path, self.layout, self.row_groups)
        )
        for batch in given:
            rows = range(row, row := row + len(batch))
            kept = dict(batch.kept) | {FILE: [self.given] * len(batch), ROW: list(rows)}
            yield replace(batch, kept=kept, source=self.name)


@dataclass(frozen=True)
class FileParts(Source):
    """The documents of one partition."""

    parts: tuple[FilePart, ...]

    def batches(self) -> Iterator[Batch]:
        """All documents in their order."""
        for part in self.parts:
            yield from part.batches()


def parts_of(files: Files, kept: tuple[tuple[str, str], ...] = ()) -> list[FileParts]:
    """The files in partitions of about equal size: small files together, large Parquet files by their row groups.

    kept : columns to keep
    """
    if STDIN in files.paths:
        raise ValueError("a cluster cannot read standard input: give files that all workers can read")
    pieces: list[FilePart] = []
    seen = set[str]()
    for number, (path, layout) in enumerate(zip(files.paths, files.layouts, strict=True)):
        name = f"{number}/{path}" if str(path) in seen else str(path)  # a file given again is another source
        seen.add(str(path))
        reached = path if is_remote(path) else str(Path(path).absolute())
        size = place_of(path).stat().st_size
        pieces += _pieces(FilePart(name, str(path), reached, replace(layout, kept=kept), size))
    total = sum(piece.size for piece in pieces)
    return _packed(pieces, min(PARTITION_BYTES, max(1, total // MIN_PARTITIONS)))


def _pieces(file: FilePart) -> list[FilePart]:
    """The row groups of a Parquet file whose rows are documents; any other file as one piece."""
    if kind_of(str(file.path)) != "parquet" or file.layout.split == "paragraphs":
        return [file]  # where a row is several documents, the number of the first one in a group is not known
    import pyarrow as pa  # noqa: PLC0415  (slow to import)
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with random_access(place_of(file.path)) as opened, pq.ParquetFile(opened) as parquet:
            groups = [parquet.metadata.row_group(k) for k in range(parquet.metadata.num_row_groups)]
            sizes = [(group.num_rows, group.total_byte_size) for group in groups]
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise TextError(f"{file.path} is not a valid Parquet file: {str(error).splitlines()[0]}") from None
    pieces, row = [], 0
    for number, (n_rows, n_bytes) in enumerate(sizes):
        pieces.append(replace(file, size=n_bytes, row_groups=(number,), first_row=row))
        row += n_rows
    return pieces or [file]


def _packed(pieces: Sequence[FilePart], size: int) -> list[FileParts]:
    """Neighbours together, until they have this size."""
    packed: list[list[FilePart]] = []
    room = 0
    for piece in pieces:
        if room <= 0:
            packed.append([])
            room = size
        packed[-1].append(piece)
        room -= piece.size
    return [FileParts(tuple(some)) for some in packed]
