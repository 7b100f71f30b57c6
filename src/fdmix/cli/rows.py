"""Topics of documents as rows of a file, written as they come, under a temporary name until they are complete."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fdmix.storage import replacing

Write = Callable[[int, list[Any] | None, Any], None]
KINDS = (".parquet", ".csv", ".jsonl")


@contextmanager
def writer(path: str, n_topics: int, with_id: bool) -> Iterator[Write]:
    """A function that appends (number of the first document, ids, theta) to the file; "-" prints CSV."""
    names = ["document", *(["id"] if with_id else []), *(f"topic_{t}" for t in range(n_topics))]
    if path == "-":
        yield _csv(sys.stdout, names)
        sys.stdout.flush()
        return
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise ValueError(f"the name of the file to write must end in {', '.join(KINDS)}, not {path!r}")
    with replacing(path) as file:
        if kind == ".parquet":
            with _parquet(file, names) as write:
                yield write
            return
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        yield _csv(text, names) if kind == ".csv" else _json_lines(text, names)
        text.flush()
        text.detach()


def _columns(first: int, ids: Any, theta: Any) -> list[Any]:
    numbers = np.arange(first, first + len(theta))
    return [numbers, *([] if ids is None else [ids]), *np.asarray(theta).T]


def _csv(file: Any, names: list[str]) -> Write:
    rows = csv.writer(file)
    rows.writerow(names)

    def write(first: int, ids: list[Any] | None, theta: Any) -> None:
        for number, shares in enumerate(theta):
            known = [] if ids is None else [ids[number]]
            rows.writerow([first + number, *known, *(f"{share:.6g}" for share in shares)])

    return write


def _json_lines(file: Any, names: list[str]) -> Write:
    def write(first: int, ids: list[Any] | None, theta: Any) -> None:
        for number, shares in enumerate(theta):
            row: dict[str, Any] = {"document": first + number}
            if ids is not None:
                row["id"] = ids[number]
            row["topics"] = {str(t): round(float(shares[t]), 6) for t in np.flatnonzero(shares > 5e-7)}
            file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")

    return write


@contextmanager
def _parquet(file: Any, names: list[str]) -> Iterator[Write]:
    import pyarrow as pa  # noqa: PLC0415  (slow to import)
    import pyarrow.parquet as pq  # noqa: PLC0415

    table_writer: list[Any] = []

    def write(first: int, ids: list[Any] | None, theta: Any) -> None:
        texts = None if ids is None else pa.array([None if i is None else str(i) for i in ids], pa.string())
        table = pa.table(dict(zip(names, _columns(first, texts, theta), strict=True)))
        if not table_writer:
            table_writer.append(pq.ParquetWriter(file, table.schema))
        table_writer[0].write_table(table)

    try:
        yield write
        if not table_writer:
            write(0, [] if "id" in names else None, np.empty((0, len(names) - 1 - ("id" in names))))
    finally:
        for opened in table_writer:
            opened.close()
