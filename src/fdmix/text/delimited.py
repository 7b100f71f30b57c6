"""Rows of CSV files: comma, semicolon, tab or bar between the columns, with a header or without."""

from __future__ import annotations

import csv
import logging
import re
import sys
from collections.abc import Iterator
from itertools import chain
from typing import IO

from fdmix.text.batches import Row
from fdmix.text.layouts import Layout, TextError, chosen_column, known_column

log = logging.getLogger("fdmix")
DELIMITERS = (",", ";", "\t", "|")
SAMPLE_LINES, SAMPLE_CHARACTERS = 100, 1 << 16  # to find the delimiter
NUMBER = re.compile(r"[-+]?[\d.,]*\d[\d.,:/-]*")  # also dates
FEWEST_WORDS = 5  # of a text; names of columns are shorter
NO_HEADER = "if its first row is data, say header=False (on the command line --no-header)"


def csv_rows(file: IO[str], layout: Layout, path: str, usual: str = ",") -> Iterator[Row]:
    """The text of each row, and the columns that travel along; `usual` is the delimiter to try first."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    sample = _beginning(file)
    delimiter = layout.delimiter or found_delimiter(sample, usual)
    reader = csv.reader(chain(sample, file), delimiter=delimiter, strict=True)
    begun = 0  # the line before the present row
    try:
        first = next((row for row in reader if row), None)
        if first is None:
            return
        header = first if layout.header else [str(number) for number in range(1, len(first) + 1)]
        if layout.header and layout.delimiter is None and len(header) == 1:
            _refuse_to_guess(sample, delimiter, path)
        wanted = _places(header, layout, path)
        if not layout.header:
            yield first[wanted[0]], tuple(first[i] for i in wanted[1:])
        begun = reader.line_num
        for row in reader:
            if row and len(row) != len(header):
                raise TextError(
                    f"{path}, line {begun + 1:,}: the row has {len(row)} columns and the first one {len(header)}; "
                    "is there a separator or a quotation mark in a text that is not quoted?"
                )
            if row:
                yield row[wanted[0]], tuple(row[i] for i in wanted[1:])
            begun = reader.line_num
    except csv.Error as error:
        raise TextError(f"{path}, line {begun + 1:,}: {error} (a quotation mark that is not closed?)") from None


def found_delimiter(sample: list[str], usual: str) -> str:
    r"""What separates the columns: what gives each row of the beginning the same number of columns, two or more.

    The usual one if it does, or if none does: then there is one column.

    >>> found_delimiter(["id;text\n", "1;one, two\n", "2;three\n"], ",")
    ';'
    >>> found_delimiter(["text\n", "one; two\n", "three; four\n"], ",")
    ','
    """
    widths = {delimiter: _width(sample, delimiter) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: (widths[delimiter] > 1 and delimiter == usual, widths[delimiter]))
    return best if widths[best] > 1 else usual


def _width(sample: list[str], delimiter: str) -> int:
    """The number of columns, 0 if rows differ."""
    widths = set(_widths(sample, delimiter))
    return widths.pop() if len(widths) == 1 else 0


def _widths(sample: list[str], delimiter: str) -> list[int]:
    """The number of columns of each row but the last, which the end of the sample may have cut."""
    try:
        rows = [row for row in csv.reader(sample, delimiter=delimiter) if row]
    except csv.Error:
        return []
    return [len(row) for row in (rows[:-1] if len(rows) > 2 else rows)]


def _beginning(file: IO[str]) -> list[str]:
    lines: list[str] = []
    size = 0
    while len(lines) < SAMPLE_LINES and size < SAMPLE_CHARACTERS and (line := file.readline()):
        lines.append(line)
        size += len(line)
    return lines


def _refuse_to_guess(sample: list[str], delimiter: str, path: str) -> None:
    """Refuse a file that has one column, unless its rows have another delimiter here and there."""
    for other in DELIMITERS:
        first, *rest = _widths(sample, other) or [0]
        if other != delimiter and first > 1 and any(width > 1 for width in rest):
            raise TextError(
                f"{path}: what separates the columns? Its header is {sample[0].strip()[:60]!r}. Give delimiter="
                f"{_name(other)!r}, or delimiter={_name(delimiter)!r} if all of a row is one text"
            )


def _name(delimiter: str) -> str:
    return "tab" if delimiter == "\t" else delimiter


def _places(header: list[str], layout: Layout, path: str) -> list[int]:
    """Where the text is in a row, and where the columns that travel along are."""
    suspicious = layout.header and any(_is_like_data(cell) for cell in header)
    try:
        column = chosen_column(header, header, layout.column, path)
        wanted = [header.index(column), *(header.index(known_column(header, name, path)) for _, name in layout.kept)]
    except TextError as error:
        raise TextError(f"{error}; {NO_HEADER}" if suspicious else str(error)) from None
    if suspicious and layout.column is None and column != "text":
        log.warning(f"{path}: the first row, {header[0][:60]!r}, was taken for the column's name; {NO_HEADER}.")
    return wanted


def _is_like_data(cell: str) -> bool:
    return NUMBER.fullmatch(cell.strip()) is not None or len(cell.split()) >= FEWEST_WORDS
