"""Topics of documents as rows of a file, written as they come, under a temporary name until they are complete."""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fdmix.display import for_csv, for_json, for_terminal
from fdmix.mixture.sheet import NO_TOPIC, Rows, Sheet, typed_columns
from fdmix.storage import replacing
from fdmix.storage.parquet_rows import ParquetRows
from fdmix.storage.places import place_of

KINDS = (".parquet", ".csv", ".jsonl")


Write = Callable[[Rows], None]


@contextmanager
def writer(path: str, sheet: Sheet, raw: bool = False) -> Iterator[Write]:
    """A function that appends rows to the file; "-" prints CSV.

    raw : write text in CSV as it is, also where a spreadsheet would take it for a formula
    """
    if path == "-":
        guard = _on_terminal if sys.stdout.isatty() else (_as_it_is if raw else for_csv)
        write = _csv(sys.stdout, sheet, guard)
        yield write
        write(sheet.none)
        return
    kind = place_of(path).suffix.lower()
    if kind not in KINDS:
        raise ValueError(f"the name of the file to write must end in {', '.join(KINDS)}, not {path!r}")
    with replacing(path) as file:
        if kind == ".parquet":
            with ParquetRows(file) as rows:
                yield lambda some: rows.write(typed_columns(sheet, some))
                if rows.writer is None:  # a file without documents has its columns, too
                    rows.write(typed_columns(sheet, sheet.none))
            return
        text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="")
        write = _csv(text, sheet, _as_it_is if raw else for_csv) if kind == ".csv" else _json_lines(text, sheet)
        yield write
        write(sheet.none)
        text.flush()
        text.detach()


def _as_it_is(cell: Any) -> Any:
    return cell


def _on_terminal(cell: Any) -> Any:
    """For a terminal, which is not a spreadsheet but obeys control characters."""
    return for_terminal(cell, lines=True) if isinstance(cell, str) else cell


def _csv(file: Any, sheet: Sheet, guard: Callable[[Any], Any]) -> Write:
    """The header comes with the first rows: an input that cannot be read leaves nothing printed."""
    table = csv.writer(file)
    header = [[guard(name) for name in sheet.names]]
    labels = [guard(label) for label in sheet.labels]
    given = {topic: [guard(label)] for topic, label in sheet.given.items()}
    none = [""] if given else []

    def write(rows: Rows) -> None:
        if header:
            table.writerow(header.pop())
        carried = [[guard(_cell(value)) for value in values] for values in rows.carried.values()]
        for number, topic in enumerate(rows.topic.tolist()):
            label = given.get(topic, none)
            main = [topic, *label, labels[topic], _number(rows.share[number])]
            if topic == NO_TOPIC:
                main = ["", *none, "", ""]
            wide = [] if rows.theta is None else [_number(share) for share in rows.theta[number].tolist()]
            known = [rows.document[number], *(values[number] for values in carried)]
            table.writerow([*known, *main, rows.known[number], *wide])
        file.flush()

    return write


def _cell(value: Any) -> Any:
    """A value of the input as CSV has it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return for_json(value) if isinstance(value, dict | list | tuple) else value


def _number(share: float) -> str:
    return "" if np.isnan(share) else f"{share:.6g}"


def _json_lines(file: Any, sheet: Sheet) -> Write:
    def write(rows: Rows) -> None:
        for number, topic in enumerate(rows.topic.tolist()):
            row: dict[str, Any] = {"document": int(rows.document[number])}
            row |= {name: values[number] for name, values in rows.carried.items()}
            known = topic != NO_TOPIC
            row |= {"topic": topic if known else None}
            row |= {"label": sheet.given.get(topic)} if sheet.given else {}
            row |= {"words": sheet.words[topic] if known else None}
            row |= {"share": round(float(rows.share[number]), 6), "known_words": int(rows.known[number])}
            if rows.theta is not None:
                shares = rows.theta[number]
                row["topics"] = {str(t): round(float(shares[t]), 6) for t in np.flatnonzero(shares > 0)}
            file.write(for_json(row) + "\n")
        file.flush()

    return write
