"""Read the rows of JSON files: one value per line, or one array of values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

from fdmix.text.batches import Row
from fdmix.text.layouts import Layout, TextError, chosen_column, known_column


def json_rows(file: IO[str], layout: Layout, path: str) -> Iterator[Row]:
    """The rows of a JSON file, whose values are objects with the text in a column, or strings."""
    column: str | None = None
    for number, found in enumerate(_values(file, path), start=1):
        if isinstance(found, str) and layout.column is None and not layout.kept:
            yield found, ()
            continue
        if not isinstance(found, dict):
            raise TextError(f"{path}, entry {number:,}: an object with the text in a column is expected")
        if column is None:
            text_columns = [name for name, value in found.items() if isinstance(value, str)]
            column = chosen_column(list(found), text_columns, layout.column, path)
            for _, name in layout.kept:
                known_column(list(found), name, path)
        text = found.get(column)
        if text is not None and not isinstance(text, str):
            raise TextError(f"{path}, entry {number:,}: column {column!r} holds {type(text).__name__}, not text")
        yield text or "", tuple(found.get(name) for _, name in layout.kept)


def _values(file: IO[str], path: str) -> Iterator[Any]:
    """The values of a JSON file that has one value per line, or one value in all; an array gives its elements."""
    is_first = True
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        if is_first and (line.lstrip().startswith("[") or line.strip() == "{"):
            line += file.read()  # noqa: PLW2901  (one value over many lines)
        is_first = False
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise TextError(f"{path}, line {number:,} is not JSON: {error}") from None
        if isinstance(found, list):
            yield from found
        else:
            yield found
