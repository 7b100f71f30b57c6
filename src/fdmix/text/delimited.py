"""Read the rows of CSV files, with comma, semicolon, tab or vertical bar as delimiter, with or without a header."""

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
SAMPLE_LINES, SAMPLE_CHARACTERS = 100, 1 << 16  # at the beginning of a file, read to find the delimiter
NUMBER_OR_DATE = re.compile(r"[-+]?[\d.,]*\d[\d.,:/-]*")
MIN_WORDS_OF_TEXT = 5  # a header cell with this many words is probably data
NO_HEADER_HINT = "if its first row is data, say header=False (on the command line --no-header)"


def csv_rows(file: IO[str], layout: Layout, path: str, default: str = ",") -> Iterator[Row]:
    """The rows of a CSV file; `default` is the delimiter to prefer if none is given."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    sample = _first_lines(file)
    delimiter = layout.delimiter or found_delimiter(sample, default)
    reader = csv.reader(chain(sample, file), delimiter=delimiter, strict=True)
    last_line = 0  # of the row before the current one
    try:
        first = next((row for row in reader if row), None)
        if first is None:
            return
        header = first if layout.header else [str(number) for number in range(1, len(first) + 1)]
        if layout.header and layout.delimiter is None and len(header) == 1:
            _refuse_ambiguous_delimiter(sample, delimiter, path)
        wanted = _positions(header, layout, path)
        if not layout.header:
            yield first[wanted[0]], tuple(first[i] for i in wanted[1:])
        last_line = reader.line_num
        for row in reader:
            if row and len(row) != len(header):
                raise TextError(
                    f"{path}, line {last_line + 1:,}: the row has {len(row)} columns and the first one "
                    f"{len(header)}; is there a separator or a quotation mark in a text that is not quoted?"
                )
            if row:
                yield row[wanted[0]], tuple(row[i] for i in wanted[1:])
            last_line = reader.line_num
    except csv.Error as error:
        raise TextError(f"{path}, line {last_line + 1:,}: {error} (a quotation mark that is not closed?)") from None


def found_delimiter(sample: list[str], default: str) -> str:
    r"""The delimiter that gives all rows of a sample the same number of columns, two or more.

    If several do, the default comes first, then the one with the most columns. If none does, the file has one column
    and the delimiter is the default.

    >>> found_delimiter(["id;text\n", "1;one, two\n", "2;three\n"], ",")
    ';'
    >>> found_delimiter(["text\n", "one; two\n", "three; four\n"], ",")
    ','
    """
    widths = {delimiter: _width(sample, delimiter) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: (widths[delimiter] > 1 and delimiter == default, widths[delimiter]))
    return best if widths[best] > 1 else default


def _width(sample: list[str], delimiter: str) -> int:
    """The number of columns, 0 if the rows do not agree."""
    widths = set(_widths(sample, delimiter))
    return widths.pop() if len(widths) == 1 else 0


def _widths(sample: list[str], delimiter: str) -> list[int]:
    """The number of columns of each row, without the last row: the sample may end within it."""
    try:
        rows = [row for row in csv.reader(sample, delimiter=delimiter) if row]
    except csv.Error:
        return []
    return [len(row) for row in (rows[:-1] if len(rows) > 2 else rows)]


def _first_lines(file: IO[str]) -> list[str]:
    lines: list[str] = []
    size = 0
    while len(lines) < SAMPLE_LINES and size < SAMPLE_CHARACTERS and (line := file.readline()):
        lines.append(line)
        size += len(line)
    return lines


def _refuse_ambiguous_delimiter(sample: list[str], delimiter: str, path: str) -> None:
    """Raise a TextError if a file with one column may have more: another delimiter is in its header and some rows."""
    for other in DELIMITERS:
        first, *rest = _widths(sample, other) or [0]
        if other != delimiter and first > 1 and any(width > 1 for width in rest):
            raise TextError(
                f"{path}: what separates the columns? Its header is {sample[0].strip()[:60]!r}. Give delimiter="
                f"{_name(other)!r}, or delimiter={_name(delimiter)!r} if all of a row is one text"
            )


def _name(delimiter: str) -> str:
    return "tab" if delimiter == "\t" else delimiter


def _positions(header: list[str], layout: Layout, path: str) -> list[int]:
    """The position of the text in a row, followed by the positions of the kept columns."""
    looks_like_data = layout.header and any(_looks_like_data(cell) for cell in header)
    try:
        column = chosen_column(header, header, layout.column, path)
        wanted = [header.index(column), *(header.index(known_column(header, name, path)) for _, name in layout.kept)]
    except TextError as error:
        raise TextError(f"{error}; {NO_HEADER_HINT}" if looks_like_data else str(error)) from None
    if looks_like_data and layout.column is None and column != "text":
        log.warning(f"{path}: the first row, {header[0][:60]!r}, was taken for the column's name; {NO_HEADER_HINT}.")
    return wanted


def _looks_like_data(cell: str) -> bool:
    return NUMBER_OR_DATE.fullmatch(cell.strip()) is not None or len(cell.split()) >= MIN_WORDS_OF_TEXT
