"""Mhat, the symmetric matrix of pair probabilities, as a fit reads it: from whole-number sums or a stored matrix.

A stored matrix in float64 takes 24 bytes a pair of words, in each copy. `ScaledSums` reads Mhat from the 12 bytes a
pair that the moments hold anyway, also for the documents that are left when others are held out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fdmix.kernels import blocks, triangle
from fdmix.moments.contract import PairMoments
from fdmix.moments.full_matrix import rearranged, symmetric
from fdmix.moments.inverted_index import Integers, runs, starts
from fdmix.moments.pair_sums import PairSums
from fdmix.runtime.threads import streamed

Floats = np.ndarray[Any, np.dtype[np.float64]]
ROWS_AT_A_TIME = 2_000_000  # entries of rows that are made at a time
SUM_BATCHES = 64  # batches of rows that are summed up, at most: each one looks into all later rows


class OrderedRows(NamedTuple):
    """Rows begin <= p < begin + len(first) - 1 of the upper triangle (q >= p), words in another order, sorted."""

    begin: int
    first: Integers
    columns: Any
    values: Any


class OrderedCounts(NamedTuple):
    """Entries in another order of words: of each row of the upper triangle, and of each pair of blocks of words."""

    rows: Integers
    blocks: Integers


class PairMatrix(ABC):
    """Mhat over N words: what fits need of it, without a copy of the whole.

    n_words : N; n_stored : entries of the full symmetric matrix that are not zero
    """

    n_words: int
    n_stored: int

    @property
    def shape(self) -> tuple[int, int]:
        """(N, N)."""
        return self.n_words, self.n_words

    @cached_property
    @abstractmethod
    def row_sums(self) -> Floats:
        """sum_v Mhat[u, v]."""

    @property
    @abstractmethod
    def matrix(self) -> sp.csr_array:
        """The full symmetric matrix in float64, made anew at each call unless it is stored."""

    @abstractmethod
    def rows(self, words: Integers) -> sp.csr_array:
        """Mhat[words] for ascending words."""

    @abstractmethod
    def block(self, words: Integers) -> Floats:
        """Mhat[words][:, words] for ascending words, as a dense array."""

    @abstractmethod
    def at(self, left: Integers, right: Integers) -> Floats:
        """Mhat[left[k], right[k]] for each k."""

    @abstractmethod
    def among(self, words: Integers) -> PairMatrix:
        """Mhat among ascending words that have all its entries, also those of a part that is left out."""

    @abstractmethod
    def restricted(self, words: Integers) -> PairMatrix:
        """Mhat[words][:, words] for ascending words; it sums to less than 1 if other words have entries."""

    @abstractmethod
    def counted(self, order: Integers, block: int) -> OrderedCounts:
        """How many entries there are, with words in the given order, in rows and in blocks of words."""

    def ordered(self, order: Integers, begin: int, lengths: Integers) -> OrderedRows:
        """Some rows from `begin` on, with words in the given order; `lengths` are their numbers of entries."""
        first = starts(lengths)
        columns, values = np.empty(int(first[-1]), np.uint32), np.empty(int(first[-1]), np.float32)
        self._gather(positions_of(order), begin, begin + lengths.size, first[:-1].copy(), columns, values)
        triangle.sort_rows(0, lengths.size, self.n_words, first, columns, values)
        return OrderedRows(begin, first, columns, values)

    @abstractmethod
    def _gather(self, position: Integers, begin: int, end: int, free: Integers, columns: Any, values: Any) -> None:
        """Write the entries of rows begin <= p < end, row p from free[p - begin] on, in any order within the row."""


class StoredMatrix(PairMatrix):
    """Mhat from a symmetric matrix in CSR with sorted columns."""

    def __init__(self, matrix: sp.csr_array) -> None:
        self._matrix = matrix
        self.n_words, self.n_stored = int(matrix.shape[0]), int(matrix.nnz)

    @property
    def matrix(self) -> sp.csr_array:
        """The matrix itself."""
        return self._matrix

    @cached_property
    def row_sums(self) -> Floats:
        """By SciPy."""
        return np.asarray(self._matrix.sum(axis=1)).ravel()

    def rows(self, words: Integers) -> sp.csr_array:
        """By SciPy."""
        return self._matrix[words]

    def block(self, words: Integers) -> Floats:
        """By a compiled loop, which is faster than SciPy."""
        return np.asarray(blocks.dense_block(self._matrix.indptr, self._matrix.indices, self._matrix.data, words))

    def at(self, left: Integers, right: Integers) -> Floats:
        """By SciPy."""
        return np.asarray(self._matrix[left, right]).ravel()

    def among(self, words: Integers) -> PairMatrix:
        """By a copy."""
        return self if words.size == self.n_words else StoredMatrix(rearranged(self._matrix, words))

    def restricted(self, words: Integers) -> PairMatrix:
        """By a copy."""
        return self if words.size == self.n_words else StoredMatrix(self._matrix[words][:, words])

    def counted(self, order: Integers, block: int) -> OrderedCounts:
        """By one round over the entries."""
        lengths, counts = _no_counts(self.n_words, block)
        indptr, indices = self._matrix.indptr, self._matrix.indices
        triangle.count_ordered_matrix(positions_of(order), block, indptr, indices, lengths, counts)
        return OrderedCounts(lengths, counts)

    def _gather(self, position: Integers, begin: int, end: int, free: Integers, columns: Any, values: Any) -> None:
        matrix = self._matrix
        triangle.gather_ordered_matrix(
            position, begin, end, matrix.indptr, matrix.indices, matrix.data, free, columns, values
        )


class ScaledSums(PairMatrix):
    """Mhat = (S - part) / mass, from the whole-number sums S of all documents and those of a part to leave out.

    mass : the sum over all entries of S - part
    """

    def __init__(self, sums: PairSums, part: PairSums | None = None, mass: int | None = None) -> None:
        self.sums, self.part = sums, PairSums.nothing(sums.n_words) if part is None else part
        self.n_words = sums.n_words
        self._arrays = sums.first, sums.columns, sums.sums, self.part.first, self.part.columns, self.part.sums
        if mass is None:
            if part is not None and not all(triangle.check_part(rows, *self._arrays) for rows in self._panels()):
                raise ValueError("the held-out documents were not all part of these moments")
            mass = sums.total() - self.part.total()
        if mass <= 0:
            raise ValueError("there is no word pair: no document has two or more tokens of the vocabulary")
        self.mass = mass
        self._scale = 1.0 / mass

    @cached_property
    def _summed(self) -> tuple[Floats, int]:
        lengths = np.zeros(self.n_words, np.int64)
        words = np.arange(self.n_words)
        for rows in self._panels():
            triangle.full_row_lengths(rows, words, words, *self._arrays, lengths)
        batches = runs(lengths, max(ROWS_AT_A_TIME, int(lengths.sum()) // SUM_BATCHES))
        sums = streamed(lambda batch: self.rows(np.arange(*batch)).sum(axis=1), batches)
        return np.concatenate([np.empty(0), *sums]), int(lengths.sum())

    @property
    def row_sums(self) -> Floats:
        """By SciPy, some rows at a time: words with equal sums must be told apart, or not, as in a stored matrix."""
        return self._summed[0]

    @property
    def n_stored(self) -> int:  # type: ignore[override]
        """Found in the same round over the sums."""
        return self._summed[1]

    @property
    def matrix(self) -> sp.csr_array:
        """All rows."""
        if not self.part.n_entries:
            return symmetric(self.sums, self._scale)
        return symmetric(self.sums - self.part, self._scale)

    def rows(self, words: Integers) -> sp.csr_array:
        """From the rows of the triangle, and from the later rows in which the words are columns."""
        if not words.size:
            return sp.csr_array((0, self.n_words))
        place = np.full(self.n_words, -1, np.int64)
        place[words] = np.arange(words.size)
        lengths = np.zeros(words.size, np.int64)
        for panel in self._panels(int(words[0])):
            triangle.full_row_lengths(panel, words, place, *self._arrays, lengths)
        first = starts(lengths)
        columns, values = np.empty(int(first[-1]), np.int32), np.empty(int(first[-1]))
        free = first[:-1].copy()
        for panel in self._panels(int(words[0])):
            triangle.full_rows(panel, words, place, *self._arrays, self._scale, free, columns, values)
        return sp.csr_array((values, columns, first), shape=(words.size, self.n_words))

    def block(self, words: Integers) -> Floats:
        """Only the rows of the words are read."""
        return np.asarray(triangle.dense_block(words, *self._arrays, self._scale))

    def at(self, left: Integers, right: Integers) -> Floats:
        """By binary search."""
        found = np.empty(left.size)
        triangle.look_up(left, right, *self._arrays, self._scale, found)
        return found

    def among(self, words: Integers) -> PairMatrix:
        """The same sums under other numbers of words: words without an entry have empty rows."""
        if words.size == self.n_words:
            return self
        return ScaledSums(self.sums.among(words), self.part.among(words), self.mass)

    def restricted(self, words: Integers) -> PairMatrix:
        """By a copy of the sums among the words."""
        if words.size == self.n_words:
            return self
        target = np.full(self.n_words, -1, np.int64)
        target[words] = np.arange(words.size)
        kept, part = (each.relabel(target, words.size) for each in (self.sums, self.part))
        return ScaledSums(kept, part, self.mass)

    def counted(self, order: Integers, block: int) -> OrderedCounts:
        """By one round over the sums."""
        lengths, counts = _no_counts(self.n_words, block)
        for rows in self._panels():
            triangle.count_ordered(rows, positions_of(order), block, *self._arrays, lengths, counts)
        return OrderedCounts(lengths, counts)

    def _gather(self, position: Integers, begin: int, end: int, free: Integers, columns: Any, values: Any) -> None:
        for rows in self._panels():
            triangle.gather_ordered(rows, position, begin, end, *self._arrays, self._scale, free, columns, values)

    def _panels(self, low: int = 0) -> Iterator[tuple[int, int]]:
        """Runs of rows from `low` on; if they are mapped from a file, they are dropped from memory afterwards."""
        for panel in self.sums.panels(low):
            yield panel
            self.part.forget(*panel)


def as_pair_matrix(mhat: PairMatrix | sp.csr_array) -> PairMatrix:
    """A pair matrix from either form."""
    return mhat if isinstance(mhat, PairMatrix) else StoredMatrix(mhat)


def pair_matrix_of(moments: PairMoments) -> PairMatrix:
    """Mhat of moments, without a copy where they hold whole-number sums."""
    own = getattr(moments, "pair_matrix", None)
    return StoredMatrix(moments.matrix) if own is None else own()


def row_batches(pairs: PairMatrix, words: Integers, most: int) -> list[Integers]:
    """Ascending words in batches of at most `most` whose rows are not too many entries to hold at a time."""
    per_row = max(1, pairs.n_stored // max(pairs.n_words, 1))
    size = max(1, min(most, ROWS_AT_A_TIME // per_row))
    return [words[begin:end] for begin, end in runs(np.ones(words.size, np.int64), size)]


def positions_of(order: Integers) -> Integers:
    """Where each word is in the order."""
    position = np.empty(order.size, np.int64)
    position[order] = np.arange(order.size)
    return position


def _no_counts(n_words: int, block: int) -> tuple[Integers, Integers]:
    n_blocks = -(-n_words // block)
    return np.zeros(n_words, np.int64), np.zeros((n_blocks, n_blocks), np.int64)
