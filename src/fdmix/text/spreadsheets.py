"""Rows of Excel files: of the first sheet, whose first row names the columns."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from fdmix.text.batches import Batch, Row, in_batches, paragraphs
from fdmix.text.layouts import Layout, TextError, chosen_column, known_column

MOST_CELLS = 100_000_000  # of a sheet, empty ones included, all of which the reader keeps in memory
PLACE = re.compile(rb'\br="([A-Z]*)([0-9]+)"')  # of a cell or row: r="B17", r="17"
PIECE, OVERLAP = 1 << 20, 64  # bytes


def sheet_batches(path: str, layout: Layout) -> Iterator[Batch]:
    """The rows of the first sheet; the sheet is held in memory."""
    rows = _cells(path)
    size = Path(path).stat().st_size
    placed = ((row, size * number // len(rows)) for number, row in enumerate(_rows(rows, layout, path), start=1))
    yield from in_batches(paragraphs(placed) if layout.split == "paragraphs" else placed, layout.names)


def _cells(path: str) -> list[list[Any]]:
    try:
        from python_calamine import CalamineError, CalamineWorkbook  # noqa: PLC0415
    except ImportError as missing:
        raise ImportError(
            f"{path}: Excel files need python-calamine: pip install 'fdmix[excel]', or save the sheet as CSV"
        ) from missing
    _refuse_vast_sheets(path)
    try:
        with CalamineWorkbook.from_path(path) as book:
            return [row for row in book.get_sheet_by_index(0).to_python() if any(cell != "" for cell in row)]
    except (CalamineError, ValueError) as error:
        raise TextError(f"{path} is not a valid Excel file, or is protected by a password: {error}") from None


def _refuse_vast_sheets(path: str) -> None:
    """Refuse a sheet whose last row and last column are so far out that the reader would run out of memory."""
    try:
        with zipfile.ZipFile(path) as book:
            sheets = [name for name in book.namelist() if name.startswith("xl/worksheets/") and name.endswith(".xml")]
            for name in sheets:
                with book.open(name) as sheet:
                    n_rows, n_columns = _extent(sheet)
                if n_rows * n_columns > MOST_CELLS:
                    raise TextError(
                        f"{path} has a sheet of {n_rows:,} rows and {n_columns:,} columns, most of them empty: "
                        "delete the cells that are far away, or save the sheet as CSV"
                    )
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError):
        return  # the reader of the sheet says what is wrong


def _extent(sheet: IO[bytes]) -> tuple[int, int]:
    """The last row and the last column that a sheet names."""
    n_rows = n_columns = 1
    rest = b""
    while piece := sheet.read(PIECE):
        rest += piece
        for column, row in set(PLACE.findall(rest)):
            n_rows = max(n_rows, int(row[:12]))
            number = 0
            for letter in column[:4]:
                number = 26 * number + letter - ord("A") + 1
            n_columns = max(n_columns, number)
        rest = rest[-OVERLAP:]
    return n_rows, n_columns


def _rows(rows: list[list[Any]], layout: Layout, path: str) -> Iterator[Row]:
    if not rows:
        return
    first = [str(_plain(cell)) for cell in rows[0]]
    header = first if layout.header else [str(number) for number in range(1, len(first) + 1)]
    body = rows[1:] if layout.header else rows
    text_columns = [name for i, name in enumerate(header) if any(isinstance(row[i], str) and row[i] for row in body)]
    column = header.index(chosen_column(header, text_columns, layout.column, path))
    kept = [header.index(known_column(header, name, path)) for _, name in layout.kept]
    for row in body:
        yield str(_plain(row[column])), tuple(None if row[i] == "" else _plain(row[i]) for i in kept)


def _plain(cell: Any) -> Any:
    """Whole numbers as such: a sheet stores all numbers as fractions."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell
