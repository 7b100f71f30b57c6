"""The tokens of one partition: what a worker makes of its documents, once, and keeps while the words are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from fdmix.cells.grouping import Axis, Key, keys_of
from fdmix.corpus.preparation import Cleaning
from fdmix.moments.ledger import SourceLog
from fdmix.text.layouts import Layout, TextError
from fdmix.text.lexicon import Lexicon
from fdmix.text.sources import Source, source_of
from fdmix.text.tokenising import TokenBatch, token_batches

CELL = "cell"  # the kept column with the number of each document's cell


@dataclass(frozen=True, eq=False)
class PartitionTokens:
    """The documents of a partition as token numbers, over the partition's own lexicon.

    batches : the tokens; if documents are grouped, with the position of each document's cell in `cells`
    log : the fingerprints of what was read
    """

    lexicon: Lexicon
    batches: list[TokenBatch]
    log: SourceLog
    cells: list[Key]

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return sum(batch.lengths.size for batch in self.batches)


@dataclass(frozen=True)
class Tokenise:
    """Turn the documents of a partition into tokens.

    layout : the columns of the text and of the groups, for tables and records
    axes : what the documents are grouped by
    """

    cleaning: Cleaning
    layout: Layout
    axes: tuple[Axis, ...] = ()

    def __call__(self, content: Any) -> PartitionTokens:
        """The tokens of the partition."""
        lexicon, log = Lexicon(self.cleaning), SourceLog()
        source = source_of_partition(content, self.layout)
        number: dict[Key, int] = {}
        batches = []
        first_row = 0
        for batch in token_batches(source, self.cleaning, 1, None, [lexicon], log):
            batches.append(replace(batch, kept=self._cells(batch, number, first_row)))
            first_row += batch.lengths.size
        return PartitionTokens(lexicon, batches, log, list(number))

    def _cells(self, batch: TokenBatch, number: dict[Key, int], first_row: int) -> Mapping[str, Any]:
        """The cell of each document, as its number; new cells get new numbers."""
        if not self.axes:
            return {}
        keys = keys_of(self.axes, batch.kept, batch.lengths.size, lambda row: f"row {first_row + row + 1:,}")
        return {CELL: np.array([number.setdefault(key, len(number)) for key in keys], np.int64)}


def source_of_partition(content: Any, layout: Layout) -> Source:
    """The documents of a partition: strings, records, a pandas or Arrow table, or a source such as a file."""
    if isinstance(content, Source):
        return content
    if content is None or (isinstance(content, list | tuple) and not content):
        return source_of([], Layout())
    if isinstance(content, list | tuple) and any(isinstance(row, Mapping) for row in content):
        return source_of(_table_of_records(content, layout), layout)
    if isinstance(content, list | tuple) or getattr(content, "ndim", 2) == 1:
        if layout.kept:
            raise TextError("strings have no columns to keep or to group by: give records or a table")
        return source_of(content, Layout(split=layout.split))
    return source_of(content, replace(layout, column=layout.column or "text"))  # the same one in all partitions


def _table_of_records(records: Any, layout: Layout) -> pa.Table:
    """The needed columns of records, {"text": ..., "date": ...}; a value may be None but not missing."""
    wanted = list(dict.fromkeys([layout.column or "text", *(name for _, name in layout.kept)]))
    columns: dict[str, list[Any]] = {name: [] for name in wanted}
    for row, record in enumerate(records):
        for name in wanted:
            if not isinstance(record, Mapping) or name not in record:
                found = f"has {', '.join(map(repr, record))}" if isinstance(record, Mapping) else "is not a record"
                raise TextError(f"row {row + 1:,} has no column {name!r}: it {found}")
            columns[name].append(record[name])
    try:
        return pa.table(columns)
    except pa.ArrowException as error:
        raise TextError(f"the values of a column have several types: {error}") from None
