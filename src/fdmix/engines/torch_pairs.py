"""Mhat cut for PyTorch: dense panels where words are frequent, listed pairs elsewhere.

Words are sorted by falling frequency. The most frequent ones form row panels of `BLOCK` words. A panel holds the
upper half of its rows' dense region as a matrix, so that a pass is matrix products. Other pairs are listed, in one of
two forms. `Tables` work on every device: rows of like length share a table, padded with pairs of value 0; a pass
gathers topic vectors and never scatters any. `Samples` are for the CPU, whose sampled and sparse products need no
gathered copy. In either form no two threads add to the same place, so that the bits do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from fdmix.kernels.tiles import count_blocks

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


def parts_of(mhat: sp.csr_array, cut: Cut) -> Iterator[Part]:
    """All pairs of a symmetric matrix whose words are sorted by falling frequency, as NumPy arrays."""
    widths = dense_widths(mhat, cut.threshold)
    yield from _panels(mhat, widths)
    yield from _samples(mhat, widths, cut) if cut.sampled else _tables(mhat, widths, cut)


def shards_of(parts: Iterable[Part], n_shards: int) -> list[list[Part]]:
    """The parts in shards of about equal work: the largest first, each to the shard with the least so far."""
    work: list[int] = [0] * n_shards
    shards: list[list[Part]] = [[] for _ in range(n_shards)]
    for part in sorted(parts, key=lambda part: -part.work):
        least = work.index(min(work))
        work[least] += part.work
        shards[least].append(part)
    return shards


def dense_widths(mhat: sp.csr_array, threshold: float) -> Any:
    """How many blocks of columns, from the first one, are dense in each block of rows: a symmetric region."""
    n_words = mhat.shape[0]
    n_blocks = -(-n_words // BLOCK)
    counts = count_blocks(mhat.indptr, mhat.indices, BLOCK, n_blocks)
    side = np.minimum(BLOCK, n_words - BLOCK * np.arange(n_blocks))
    full = counts >= threshold * side[:, None] * side
    lead = np.minimum.accumulate(np.where(full.all(axis=1), n_blocks, np.argmin(full, axis=1)))
    numbers = np.arange(n_blocks)
    return ((numbers[None] < lead[:, None]) & (numbers[:, None] < lead[None])).sum(axis=1)


def _panels(mhat: sp.csr_array, widths: Any) -> Iterator[Panel]:
    n_words = mhat.shape[0]
    for block, width in enumerate(widths.tolist()):
        if width > block:
            begin, end, last = (min(k * BLOCK, n_words) for k in (block, block + 1, width))
            yield Panel(begin, end, last, mhat[begin:end, begin:last].toarray().astype(np.float32))


def _listed(mhat: sp.csr_array, widths: Any, upper: bool) -> tuple[Any, Any, Any]:
    """(rows, columns, values) of the pairs outside the panels; of those with u <= v if `upper`."""
    rows = np.repeat(np.arange(mhat.shape[0]), np.diff(mhat.indptr))
    outside = mhat.indices >= BLOCK * widths[rows // BLOCK]
    listed = np.flatnonzero(outside & (mhat.indices >= rows) if upper else outside)
    return rows[listed], mhat.indices[listed], mhat.data[listed].astype(np.float32)


def _tables(mhat: sp.csr_array, widths: Any, cut: Cut) -> Iterator[Table]:
    """Rows by falling number of listed pairs, so that a table has little padding."""
    rows, columns, values = _listed(mhat, widths, upper=False)
    sizes = np.bincount(rows, minlength=mhat.shape[0])
    begins = np.cumsum(sizes) - sizes
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    first = 0
    while first < order.size:
        longest = int(sizes[order[first]])
        some = order[first : first + max(1, cut.pairs_at_a_time // longest)]
        within = np.arange(longest)
        there = within < sizes[some][:, None]
        where = np.where(there, begins[some][:, None] + within, 0)
        yield Table(some, np.where(there, columns[where], 0).astype(np.int32), np.where(there, values[where], 0))
        first += some.size


def _samples(mhat: sp.csr_array, widths: Any, cut: Cut) -> Iterator[Sample]:
    n_words = mhat.shape[0]
    rows, columns, values = _listed(mhat, widths, upper=True)
    values = np.where(rows == columns, values / 2, values)
    for begin in range(0, rows.size, cut.pairs_at_a_time):
        some = slice(begin, begin + cut.pairs_at_a_time)
        u, v = rows[some], columns[some]
        source = np.argsort(np.concatenate([u, v]), kind="stable")
        both = np.concatenate([v, u])[source]
        yield Sample(
            _first(u, n_words), v.astype(np.int32), values[some],
            _first(np.concatenate([u, v]), n_words), both.astype(np.int32), (source % u.size).astype(np.int32),
        )  # fmt: skip


def _first(rows: Any, n_words: int) -> Any:
    """Where each row begins, as in a CSR matrix."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_words))]).astype(np.int32)
