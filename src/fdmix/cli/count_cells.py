"""count --by: from text to a file of moments by group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fdmix.cells import MomentsByGroup
from fdmix.cells.grouping import MISSING, axes_of
from fdmix.cli.console import print_json, say, show, steps, timed
from fdmix.cli.tables import plain_table
from fdmix.display import for_terminal, shown_word
from fdmix.text.grouped import read_moments_by
from fdmix.text.sources import Files

MAX_ROWS = 40  # cells in the table of documents; --json lists all


def count_cells(files: Files, by: str, cleaning: Any, like: Any, out: Path, as_json: bool, **counting: Any) -> None:
    """Count the word pairs of each group, write the file, and say how many documents each cell has."""
    axes_of(by)  # refuses what is not a group, before any work
    with steps() as bars, timed() as seconds:
        cells = read_moments_by(files, by, preset=cleaning, like=like, report=bars.report, **counting)
        cells.save(out)
        took = seconds()
    say(f"Read {len(files.paths):,} file(s) in {took:.1f} s.")
    for source in cells.ledger.counted_twice():
        say(f"Warning: {source.times} files hold the same {source.documents:,} documents as {source.name}.")
    if as_json:
        print_json({"moments by group": str(out)} | cell_facts(cells) | {"seconds": round(took, 3)})
    else:
        show_documents(cells)
    say(f"Wrote {out}: {cells!r}")


def cell_facts(cells: MomentsByGroup) -> dict[str, Any]:
    """What moments by group hold, for JSON and `info`."""
    first = next(iter(cells.cells.values()))
    names = [str(axis) for axis in cells.axes]
    return {
        "groups": names,
        "documents": cells.n_documents,
        "words": cells.n_words,
        "weighting": first.weighting,
        "folds": cells.n_folds,
        "vocabulary": "open" if cells.is_open else "closed",
        "cells": [
            dict(zip(names, key, strict=True)) | {"documents": n, "pairs": _pairs(cells, key)}
            for key, n in cells.documents().items()
        ],
        "sources": cells.ledger.facts()["sources"],
    }


def show_documents(cells: MomentsByGroup) -> None:
    """Print the number of documents of each cell; long tables are cut."""
    table = plain_table()
    for axis in cells.axes:
        table.add_column(for_terminal(str(axis)), overflow="fold", no_wrap=axis.is_ordered)
    table.add_column("documents", justify="right", no_wrap=True)
    documents = cells.documents()
    for key, n in list(documents.items())[:MAX_ROWS]:
        table.add_row(*shown_labels(key), f"{n:,}")
    show(table)
    if len(documents) > MAX_ROWS:
        say(f"... and {len(documents) - MAX_ROWS:,} more cells (--json lists all).")


def shown_labels(key: tuple[str | None, ...]) -> list[str]:
    """The labels of a cell, safe to print."""
    return [MISSING if label is None else shown_word(label) for label in key]


def _pairs(cells: MomentsByGroup, key: tuple[str | None, ...]) -> int:
    return cells.cells[key].n_pairs if key in cells.cells else 0
