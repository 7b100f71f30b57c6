"""The moments of one partition on their way to the sum: cut into blocks of rows, and small on the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from math import ceil, sqrt
from typing import Any

import numpy as np

from fdmix.cells.file import part_arrays, part_fields
from fdmix.cells.grouping import Key
from fdmix.corpus.forms import FormsByWord, combined
from fdmix.distributed.statistics import joined_logs
from fdmix.moments import parts
from fdmix.moments.arithmetic import summed
from fdmix.moments.ledger import Ledger, SourceLog
from fdmix.moments.moments import Moments
from fdmix.moments.pair_rows import BYTES_PER_PAIR
from fdmix.moments.pair_sums import PairSums

BLOCK_BYTES = 1 << 26  # of a block in which all pairs occur: several of these fit into the memory of a small worker
MAX_BLOCKS = 64  # limits the values that each partition gives to the sum


@dataclass(frozen=True, eq=False)
class PartialMoments:
    """The moments of some documents, of which only the pairs in some rows are there.

    cells : the moments of each cell, without vocabulary (it is the same in all partitions); the only key is () if
        documents are not grouped. What does not belong to pairs (word counts, numbers of documents, digests) is in
        the first block, and zero in the others
    forms, log : the forms of words and the sources that were read, in the first block
    """

    cells: Mapping[Key, Moments]
    forms: FormsByWord
    log: SourceLog

    @classmethod
    def sum_of(cls, all_of_them: Sequence[PartialMoments]) -> PartialMoments:
        """The moments of all documents, in one round over their pairs."""
        keys = dict.fromkeys(key for each in all_of_them for key in each.cells)
        cells = {key: summed([each.cells[key] for each in all_of_them if key in each.cells]) for key in keys}
        forms = reduce(lambda a, b: combined(a, b, 1), (each.forms for each in all_of_them))
        return cls(cells, forms, reduce(joined_logs, (each.log for each in all_of_them)))

    def blocks(self, edges: Sequence[int]) -> list[PartialMoments]:
        """The same in blocks, of the rows from edges[k] to edges[k + 1]."""
        bounds = list(pairwise(edges))
        cut = [{key: _rows(cell, *rows) for key, cell in self.cells.items()} for rows in bounds]
        return [
            PartialMoments(cells, self.forms if number == 0 else {}, self.log if number == 0 else SourceLog())
            for number, cells in enumerate(cut)
        ]

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickling, with arrays over the words that occur only: a block has few of the rows."""
        wire = {key: _to_wire(cell) for key, cell in self.cells.items()}
        forms = {word: dict(found) for word, found in self.forms.items()}
        return _from_wire, (wire, forms, self.log.read)


def row_edges(n_words: int, block_bytes: int = BLOCK_BYTES) -> list[int]:
    """Where the blocks of rows begin, and the end: all blocks have room for about as many pairs.

    Row u of the lower triangle has up to u + 1 pairs, so the rows up to n sqrt(k / K) have the share k / K of them.

    >>> row_edges(100)
    [0, 100]
    """
    most = BYTES_PER_PAIR * n_words * (n_words + 1) // 2
    n_blocks = min(MAX_BLOCKS, max(1, ceil(most / block_bytes)))
    return [round(n_words * sqrt(k / n_blocks)) for k in range(n_blocks + 1)]


def whole(blocks: Sequence[PartialMoments]) -> PartialMoments:
    """All rows together again."""
    first = blocks[0]
    cells = {key: _together([block.cells[key] for block in blocks]) for key in first.cells}
    return replace(first, cells=cells)


def _rows(moments: Moments, begin: int, end: int) -> Moments:
    first = moments.pairs.first
    low, high = first[begin], first[end]
    pairs = PairSums(np.clip(first, low, high) - low, moments.pairs.columns[low:high], moments.pairs.sums[low:high])
    kept = parts.each(moments, lambda part: _rows(part, begin, end))
    if begin == 0:
        return replace(moments, pairs=pairs, **kept)
    nothing = np.zeros(moments.n_words, np.int64)
    return replace(
        moments, pairs=pairs, word_counts=nothing, document_frequencies=nothing, n_documents=0, n_skipped=0,
        ledger=Ledger(), **kept,
    )  # fmt: skip


def _together(blocks: list[Moments]) -> Moments:
    """The moments of which these are the blocks, in order."""
    if len(blocks) == 1:
        return blocks[0]
    pairs = [block.pairs for block in blocks]
    together = PairSums(
        np.asarray(np.sum([each.first for each in pairs], axis=0)),
        np.concatenate([each.columns for each in pairs]),
        np.concatenate([each.sums for each in pairs]),
    )
    first = blocks[0]
    folds = tuple(_together(list(some)) for some in zip(*(block.folds for block in blocks), strict=True))
    held_out = [block.held_out for block in blocks if block.held_out is not None]
    return replace(first, pairs=together, folds=folds, held_out=_together(held_out) if held_out else None)


def _to_wire(moments: Moments) -> tuple[Any, ...]:
    numbers = (moments.n_words, moments.n_documents, moments.n_skipped, moments.weighting, moments.ledger.digest)
    held_out = None if moments.held_out is None else _to_wire(moments.held_out)
    return part_arrays(moments), numbers, [_to_wire(fold) for fold in moments.folds], held_out


def _of_wire(wire: tuple[Any, ...]) -> Moments:
    arrays, (n_words, n_documents, n_skipped, weighting, digest), folds, held_out = wire
    return Moments(
        **part_fields(arrays, n_words), n_documents=n_documents, n_skipped=n_skipped, weighting=weighting,
        ledger=Ledger(digest), folds=tuple(map(_of_wire, folds)),
        held_out=None if held_out is None else _of_wire(held_out),
    )  # fmt: skip


def _from_wire(wire: Mapping[Key, Any], forms: FormsByWord, read: Mapping[str, Any]) -> PartialMoments:
    log = SourceLog()
    log.read = dict(read)
    return PartialMoments({key: _of_wire(cell) for key, cell in wire.items()}, forms, log)
