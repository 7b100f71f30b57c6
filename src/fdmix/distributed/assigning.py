"""The topics of documents on a cluster: each worker writes the Parquet file of its partitions."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fdmix.distributed.engines import opened
from fdmix.distributed.file_parts import FILE, ROW
from fdmix.distributed.partitions import Report
from fdmix.distributed.result_folder import Part, give_same_types, require_all, result_folder
from fdmix.distributed.tokens import source_of_partition
from fdmix.mixture.mixture import Mixture
from fdmix.mixture.sheet import Sheet, typed_columns
from fdmix.storage import replacing
from fdmix.storage.parquet_rows import ParquetRows
from fdmix.storage.places import place_of
from fdmix.text.layouts import Layout
from fdmix.text.recipe import recipe_like
from fdmix.text.sources import Files
from fdmix.text.tokenising import token_batches


@dataclass(frozen=True)
class Assigned:
    """What was written: the files in the order of the partitions, documents, and those without a known word."""

    files: tuple[str, ...]
    n_documents: int
    n_empty: int


def assign(
    documents: Any,
    model: Mixture,
    out: str | os.PathLike[str],
    *,
    column: str | None = None,
    keep: Iterable[str] = (),
    form: str = "main",
    min_share: float = 0.001,
    words: int = 4,
    prior: str | None = None,
    overwrite: bool = False,
    engine: str | None = None,
    cluster: str | None = None,
    report: Report | None = None,
) -> Assigned:
    """Write the topics of documents on a cluster into a folder of Parquet files, one for each partition.

    Workers write the files; no row passes through this process. Each file is written under a temporary name and
    renamed, and so is the folder: it appears when all files are complete. A task that runs again writes the same file
    again. So the folder must be on a disk that all machines share, or at a URL that all can write to; there, a file
    `_SUCCESS` says that the result is complete. A column has the same type in all files.

    Columns: document (its number in the partition, or in its file), partition or file, the columns to keep, topic,
    label (if topics have labels), words, share, known_words.

    documents, column, engine, cluster, report : as in `count_moments`
    keep : columns of the documents to copy; form : "main", "wide" (a column for each topic) or "long"
    min_share : smaller shares are written as 0; words : how many stand for a topic
    prior : as in `Mixture.assign`
    overwrite : replace an earlier result, when the new one is complete; a folder with any other file is refused, and
        so is one at a URL
    """
    out, kept = place_of(out), tuple(dict.fromkeys(keep))
    place = "file" if engine is not None else "partition"
    sheet = Sheet(model.typical_words(words), (place,), form, min_share, model.labels)
    names = _free_names(kept, sheet.names)
    sheet = replace(sheet, carried=(place, *names))
    layout = documents.layouts[0] if isinstance(documents, Files) else Layout(column)
    layout = replace(layout, kept=tuple(zip(names, kept, strict=True)))
    inputs = documents.paths if isinstance(documents, Files) else ()
    with result_folder(out, overwrite, inputs) as folder:
        work = AssignPartition(model, sheet, layout, folder, prior)
        with opened(documents, layout, engine=engine, cluster=cluster, report=report) as partitions:
            written = partitions.listed(work, "assigning")
            parts = [part for part, _, _ in written]
            require_all(folder, parts)
            give_same_types(folder, parts, partitions)
    return Assigned(
        tuple(part.name for part in parts), sum(n for _, n, _ in written), sum(empty for _, _, empty in written)
    )


@dataclass(frozen=True)
class AssignPartition:
    """Write the file of one partition: (the file, documents, documents without a known word)."""

    model: Mixture
    sheet: Sheet
    layout: Layout
    folder: Path
    prior: str | None

    def __call__(self, number: int, content: Any) -> tuple[Part, int, int]:
        """Write `part-00007.parquet`, complete or not at all."""
        recipe = recipe_like(self.model, steps={"min_tokens": 0})
        place, *kept = self.sheet.carried
        name, n_rows, n_documents, n_empty = f"part-{number:05d}.parquet", 0, 0, 0
        with replacing(self.folder / name) as file, ParquetRows(file) as rows:
            for batch in token_batches(source_of_partition(content, self.layout), recipe.cleaning, 1):
                found = self.model.assignment(recipe.corpus([recipe.counts(batch)[0]]), self.prior, n_threads=1)
                n = len(found.theta)
                where = batch.kept.get(FILE) or [number] * n
                carried = {place: where} | {each: list(batch.kept[each]) for each in kept}
                numbers = np.asarray(batch.kept.get(ROW) or range(n_documents, n_documents + n))
                some = self.sheet.rows(0, carried, found)
                rows.write(typed_columns(self.sheet, replace(some, document=numbers[some.document])))
                n_rows, n_documents, n_empty = n_rows + len(some), n_documents + n, n_empty + found.n_empty
            if rows.writer is None:  # a partition without documents has the columns, too
                rows.write(typed_columns(self.sheet, self.sheet.none))
            types = rows.writer.schema.serialize().to_pybytes()
        return Part(name, n_rows, types), n_documents, n_empty


def _free_names(kept: Iterable[str], taken: Iterable[str]) -> list[str]:
    """The names of kept columns in the result: one that is called like another column of it gets a new name."""
    names: list[str] = []
    for name in kept:
        while name in taken or name in names:
            name = f"input_{name}"  # noqa: PLW2901  (until it is free)
        names.append(name)
    return names
