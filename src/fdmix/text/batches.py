"""Batches of documents as UTF-8 bytes: what every source gives and the tokeniser reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

BATCH_CHARACTERS = 1 << 22  # about 4 MB of text: several batches per thread fit into memory
BLANK_LINE = re.compile(r"\r?\n[ \t\r\f\v]*\n\s*")


@dataclass(frozen=True, eq=False)
class Batch:
    """Some documents: document d is the UTF-8 text data[offsets[d] : offsets[d + 1]].

    kept : for each column that the user wants to keep, its values, one per document
    consumed : bytes (or rows) of the source read so far, for progress reports
    source : the name of the file that the documents come from
    """

    data: Any
    offsets: Any
    kept: Mapping[str, list[Any]] = field(default_factory=dict)
    consumed: int = 0
    source: str = "text"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, texts: list[str], kept: Mapping[str, list[Any]] | None = None, consumed: int = 0) -> Batch:
        """A batch of strings."""
        encoded = [text.encode("utf-8", "replace") for text in texts]
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets, kept or {}, consumed)

    def texts(self) -> list[str]:
        """The documents as strings."""
        whole = self.data.tobytes()
        return [
            whole[a:b].decode("utf-8", "replace") for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True)
        ]

    def after(self, n: int) -> Batch:
        """The batch without its first n documents."""
        kept = {name: list(values[n:]) for name, values in self.kept.items()}
        return replace(self, offsets=self.offsets[n:], kept=kept)


Row = tuple[str, tuple[Any, ...]]  # a text, and the values of the kept columns


def in_batches(
    rows: Iterable[tuple[Row, int]], names: tuple[str, ...], size: int = BATCH_CHARACTERS
) -> Iterator[Batch]:
    """Batches of about `size` characters, from pairs of a row and how much of the source was consumed with it.

    names : the names of the kept columns
    """
    texts: list[str] = []
    values: list[tuple[Any, ...]] = []
    total = consumed = 0

    def batch() -> Batch:
        columns = list(zip(*values, strict=True)) if names else []
        return Batch.of(texts, {name: list(column) for name, column in zip(names, columns, strict=True)}, consumed)

    for (text, kept), consumed in rows:  # noqa: B007  (batch() uses the last value)
        texts.append(text)
        values.append(kept)
        total += len(text) + 8  # so that a batch of empty texts ends, too
        if total >= size:
            yield batch()
            texts, values, total = [], [], 0
    if texts:
        yield batch()


def paragraphs(rows: Iterable[tuple[Row, int]]) -> Iterator[tuple[Row, int]]:
    """The paragraphs of each text, separated by blank lines, with the kept columns of their text."""
    return chain.from_iterable(
        (((part, kept), consumed) for part in BLANK_LINE.split(text) if part.strip())
        for (text, kept), consumed in rows
    )


def from_arrow(column: Any, kept: Mapping[str, Any], consumed: int = 0) -> Batch:
    """A batch from an Arrow array of strings, without copying the text if possible; nulls become empty documents."""
    import pyarrow as pa  # noqa: PLC0415  (slow to import, and needed only for tables)

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary.cast(pa.large_string()).take(column.indices)
    if not pa.types.is_large_string(column.type):
        column = column.cast(pa.large_string())
    if column.null_count:
        column = column.fill_null("")
    _, offsets, data = column.buffers()
    where = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    content = np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8)
    return Batch(content, where, {name: values.to_pylist() for name, values in kept.items()}, consumed)
