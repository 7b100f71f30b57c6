"""Read the rows of the first sheet of an Excel file."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

from fdmix.storage.places import local_copy, place_of
from fdmix.storage.remote_path import RemotePath
from fdmix.text.batches import Batch, Row, in_batches, paragraphs
from fdmix.text.layouts import Layout, TextError, chosen_column, known_column

MAX_CELLS = 100_000_000  # of a sheet, empty ones included: the reader keeps all of them in memory
CELL_REFERENCE = re.compile(rb'\br="([A-Z]*)([0-9]+)"')  # of a cell, r="B17", or of a row, r="17"
PIECE_BYTES, OVERLAP_BYTES = 1 << 20, 64  # pieces overlap, as a reference may lie across the end of a piece


def sheet_batches(given: str | RemotePath, layout: Layout) -> Iterator[Batch]:
    """The rows of the first sheet, which is read into memory as a whole."""
    place, path = place_of(given), str(given)
    with local_copy(place) as local:
        rows = _cells(str(local), path)
    size = place.stat().st_size
    rows_read = ((row, size * number // len(rows)) for number, row in enumerate(_rows(rows, layout, path), start=1))
    yield from in_batches(paragraphs(rows_read) if layout.split == "paragraphs" else rows_read, layout.names)


def _cells(local: str, path: str) -> list[list[Any]]:
    """The cells of the first sheet, without empty rows; `path` is its name in messages."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook  # noqa: PLC0415
    except ImportError as missing:
        raise ImportError(
            f"{path}: Excel files need python-calamine: pip install 'fdmix[excel]', or save the sheet as CSV"
        ) from missing
    _refuse_huge_sheets(local, path)
    try:
        with CalamineWorkbook.from_path(local) as book:
            return [row for row in book.get_sheet_by_index(0).to_python() if any(cell != "" for cell in row)]
    except (CalamineError, ValueError) as error:
        raise TextError(f"{path} is not a valid Excel file, or is protected by a password: {error}") from None


def _refuse_huge_sheets(local: str, path: str) -> None:
    """Raise a TextError if a cell of a sheet is so far away that the reader would run out of memory."""
    try:
        with zipfile.ZipFile(local) as book:
            sheets = [name for name in book.namelist() if name.startswith("xl/worksheets/") and name.endswith(".xml")]
            for name in sheets:
                with book.open(name) as sheet:
                    n_rows, n_columns = _extent(sheet)
                if n_rows * n_columns > MAX_CELLS:
                    raise TextError(
                        f"{path} has a sheet of {n_rows:,} rows and {n_columns:,} columns, most of them empty: "
                        "delete the cells that are far away, or save the sheet as CSV"
                    )
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError):
        return  # the reader finds the same error and explains it


def _extent(sheet: IO[bytes]) -> tuple[int, int]:
    """(last row, last column) that a sheet refers to."""
    n_rows = n_columns = 1
    rest = b""
    while piece := sheet.read(PIECE_BYTES):
        rest += piece
        for column, row in set(CELL_REFERENCE.findall(rest)):
            n_rows = max(n_rows, int(row[:12]))
            number = 0
            for letter in column[:4]:
                number = 26 * number + letter - ord("A") + 1
            n_columns = max(n_columns, number)
        rest = rest[-OVERLAP_BYTES:]
    return n_rows, n_columns


def _rows(rows: list[list[Any]], layout: Layout, path: str) -> Iterator[Row]:
    """The text and the kept columns of each row."""
    if not rows:
        return
    first = [str(_value(cell)) for cell in rows[0]]
    header = first if layout.header else [str(number) for number in range(1, len(first) + 1)]
    body = rows[1:] if layout.header else rows
    text_columns = [name for i, name in enumerate(header) if any(isinstance(row[i], str) and row[i] for row in body)]
    column = header.index(chosen_column(header, text_columns, layout.column, path))
    kept = [header.index(known_column(header, name, path)) for _, name in layout.kept]
    for row in body:
        yield str(_value(row[column])), tuple(None if row[i] == "" else _value(row[i]) for i in kept)


def _value(cell: Any) -> Any:
    """The value of a cell, with whole numbers as int: Excel stores all numbers as floating point."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell
