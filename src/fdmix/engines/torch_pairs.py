"""Mhat cut for PyTorch: dense panels where words are frequent, listed pairs elsewhere.

Words are sorted by falling frequency. The most frequent ones form row panels of `BLOCK` words. A panel holds the
upper half of its rows' dense region as a matrix, so that a pass is matrix products. Other pairs are listed, in one of
two forms. `Tables` work on every device: rows of like length share a table, padded with pairs of value 0; a pass
gathers topic vectors and never scatters any. `Samples` are for the CPU, whose sampled and sparse products need no
gathered copy. In either form no two threads add to the same place, so that the bits do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from fdmix.engines.tiling import ENTRIES_AT_A_TIME, PARTS, dense_widths
from fdmix.moments.inverted_index import runs, starts
from fdmix.moments.pair_matrix import OrderedCounts, OrderedRows, PairMatrix, positions_of
from fdmix.storage.scratch import folder_for, forget, zeros_on_disk

BLOCK = 512  # words in a panel
LIST_COST = 2  # a listed pair takes about the time of this many pairs of a panel, on the CPU


@dataclass(frozen=True)
class Cut:
    """How pairs are laid out for a device.

    threshold : share of pairs present from which a tile of BLOCK x BLOCK words becomes part of a panel
    pairs_at_a_time : listed pairs in one part, padding included
    sampled : whether listed pairs are `Samples`, not `Tables`
    """

    threshold: float
    pairs_at_a_time: int
    sampled: bool


@dataclass(frozen=True, eq=False)
class Panel:
    """Mhat[begin:end, begin:last] as a float32 matrix; columns from `end` on stand for their mirror images, too."""

    begin: int
    end: int
    last: int
    values: Any

    @property
    def work(self) -> int:
        """In units of a pair of a panel."""
        return (self.end - self.begin) * (self.last - self.begin)


@dataclass(frozen=True, eq=False)
class Table:
    """Pairs of some rows: (rows[i], columns[i, k]) has values[i, k]; short rows are padded with the value 0."""

    rows: Any
    columns: Any
    values: Any

    @property
    def work(self) -> int:
        """In units of a pair of a panel."""
        return LIST_COST * self.values.shape[0] * self.values.shape[1]


@dataclass(frozen=True, eq=False)
class Sample:
    """Pairs (u, v), u <= v, of some rows, and the places of these pairs and of their mirror images among all pairs.

    first, columns, values : the pairs by row, as in a CSR matrix; a pair (u, u) has half its value
    both_first, both_columns : the pairs and their mirror images by row; (u, u) is there twice
    source : the pair that each of these has its value from
    """

    first: Any
    columns: Any
    values: Any
    both_first: Any
    both_columns: Any
    source: Any

    @property
    def work(self) -> int:
        """In units of a pair of a panel."""
        return 2 * LIST_COST * len(self.values)


Part: TypeAlias = Panel | Table | Sample


def parts_of(pairs: PairMatrix, order: Any, cut: Cut) -> Iterator[Part]:
    """All pairs as NumPy arrays, with words in the given order, by falling frequency.

    The whole matrix is never made: rows are read some at a time. Within `on_disk`, parts of many pairs are mapped
    from files.
    """
    counts = pairs.counted(order, BLOCK)
    widths = dense_widths(counts.blocks, _sides(pairs.n_words), cut.threshold)
    folder = folder_for(8 * int(counts.rows.sum()))
    made = _samples if cut.sampled else _tables
    for part in made(pairs, order, counts, widths, cut):
        yield part if folder is None else _in_files(part, folder)


def shards_of(parts: Iterable[Part], n_shards: int) -> list[list[Part]]:
    """The parts in shards of about equal work: the largest first, each to the shard with the least so far."""
    work: list[int] = [0] * n_shards
    shards: list[list[Part]] = [[] for _ in range(n_shards)]
    for part in sorted(parts, key=lambda part: -part.work):
        least = work.index(min(work))
        work[least] += part.work
        shards[least].append(part)
    return shards


def arrays_of(part: Part) -> dict[str, Any]:
    """The arrays of a part by name."""
    return {name: array for name, array in vars(part).items() if isinstance(array, np.ndarray)}


def _in_files(part: Part, folder: Path) -> Part:
    """The same part, its arrays mapped from files without a name."""

    def mapped(array: Any) -> Any:
        copy = zeros_on_disk(array.size, array.dtype, folder)
        copy[:] = array.ravel()
        forget(copy)
        return copy.reshape(array.shape)

    return replace(part, **{name: mapped(array) for name, array in arrays_of(part).items() if array.size})


def _sides(n_words: int) -> Any:
    """Words in each block."""
    return np.minimum(BLOCK, n_words - BLOCK * np.arange(-(-n_words // BLOCK)))


def _upper_rows(pairs: PairMatrix, order: Any, counts: OrderedCounts) -> Iterator[OrderedRows]:
    """The pairs (u, v), u <= v, some blocks of rows at a time."""
    sizes = np.add.reduceat(counts.rows, np.arange(0, pairs.n_words, BLOCK))
    for first, last in runs(sizes, max(ENTRIES_AT_A_TIME, int(sizes.sum()) // PARTS)):
        begin = first * BLOCK
        yield pairs.ordered(order, begin, counts.rows[begin : last * BLOCK])


def _panels(rows: OrderedRows, widths: Any, n_words: int) -> Iterator[Panel]:
    """The panels among some blocks of rows."""
    for begin in range(rows.begin, rows.begin + rows.first.size - 1, BLOCK):
        block = begin // BLOCK
        end, last = min(begin + BLOCK, n_words), min(int(widths[block]) * BLOCK, n_words)
        if last <= begin:
            continue
        bounds = rows.first[begin - rows.begin : end - rows.begin + 1]
        u = np.repeat(np.arange(end - begin), np.diff(bounds))
        v, values = (array[bounds[0] : bounds[-1]] for array in (rows.columns, rows.values))
        inside = v < last
        panel = np.zeros((end - begin, last - begin), np.float32)
        panel[u[inside], v[inside] - begin] = values[inside]
        square = panel[:, : end - begin]
        square += np.triu(square, 1).T
        yield Panel(begin, end, last, panel)


def _listed(rows: OrderedRows, widths: Any) -> tuple[Any, Any, Any]:
    """(u, v, values) of the pairs u <= v outside the panels."""
    u = np.repeat(np.arange(rows.begin, rows.begin + rows.first.size - 1), np.diff(rows.first))
    outside = rows.columns >= BLOCK * widths[u // BLOCK]
    return u[outside], rows.columns[outside].astype(np.int64), rows.values[outside]


def _samples(pairs: PairMatrix, order: Any, counts: OrderedCounts, widths: Any, cut: Cut) -> Iterator[Panel | Sample]:
    """Panels, and samples of equal size, each as soon as its pairs were read."""
    waiting: list[Any] = [np.empty(0, kind) for kind in (np.int64, np.int64, np.float32)]  # u, v, values
    for rows in _upper_rows(pairs, order, counts):
        yield from _panels(rows, widths, pairs.n_words)
        waiting = [np.concatenate(both) for both in zip(waiting, _listed(rows, widths), strict=True)]
        while waiting[0].size >= cut.pairs_at_a_time:
            yield _sample(pairs.n_words, *(array[: cut.pairs_at_a_time] for array in waiting))
            waiting = [array[cut.pairs_at_a_time :] for array in waiting]
    if waiting[0].size:
        yield _sample(pairs.n_words, *waiting)


def _sample(n_words: int, u: Any, v: Any, values: Any) -> Sample:
    source = np.argsort(np.concatenate([u, v]), kind="stable")
    both = np.concatenate([v, u])[source]
    return Sample(
        _first(u, n_words), v.astype(np.int32), np.where(u == v, values / 2, values),
        _first(np.concatenate([u, v]), n_words), both.astype(np.int32), (source % u.size).astype(np.int32),
    )  # fmt: skip


def _first(rows: Any, n_words: int) -> Any:
    """Where each row begins, as in a CSR matrix."""
    return starts(np.bincount(rows, minlength=n_words)).astype(np.int32)


def _tables(pairs: PairMatrix, order: Any, counts: OrderedCounts, widths: Any, cut: Cut) -> Iterator[Panel | Table]:
    """Panels, then rows by falling number of listed pairs, so that a table has little padding."""
    sizes = np.zeros(pairs.n_words, np.int64)  # listed pairs of each row
    lengths = counts.rows.copy()  # all pairs of each row; at most one too many
    for rows in _upper_rows(pairs, order, counts):
        yield from _panels(rows, widths, pairs.n_words)
        u, v, _ = _listed(rows, widths)
        for words in (u, v[u != v]):
            sizes += np.bincount(words, minlength=sizes.size)
        lengths += np.bincount(rows.columns, minlength=sizes.size)
    longest_first = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    for begin, end in runs(lengths[longest_first], max(ENTRIES_AT_A_TIME, int(lengths.sum()) // PARTS)):
        some = longest_first[begin:end]
        yield from _tables_of(some, _full_rows(pairs, order, some, widths), cut)


def _full_rows(pairs: PairMatrix, order: Any, rows: Any, widths: Any) -> sp.csr_array:
    """The listed pairs of some rows, with their mirror images."""
    ascending = np.argsort(order[rows])
    found = pairs.rows(order[rows][ascending])
    u, v = np.repeat(ascending, np.diff(found.indptr)), positions_of(order)[found.indices]
    outside = v >= BLOCK * widths[rows[u] // BLOCK]
    values = found.data[outside].astype(np.float32)
    listed = sp.coo_array((values, (u[outside], v[outside])), shape=(rows.size, pairs.n_words)).tocsr()
    listed.sort_indices()
    return listed


def _tables_of(rows: Any, listed: sp.csr_array, cut: Cut) -> Iterator[Table]:
    """listed : row k has the pairs of the word rows[k]; rows become shorter"""
    sizes, begins = np.diff(listed.indptr), listed.indptr[:-1]
    first = 0
    while first < rows.size:
        longest = int(sizes[first])
        some = slice(first, min(first + max(1, cut.pairs_at_a_time // longest), rows.size))
        within = np.arange(longest)
        there = within < sizes[some][:, None]
        where = np.where(there, begins[some][:, None] + within, 0)
        columns, values = (np.where(there, array[where], 0) for array in (listed.indices, listed.data))
        yield Table(rows[some], columns.astype(np.int32), values)
        first = some.stop
