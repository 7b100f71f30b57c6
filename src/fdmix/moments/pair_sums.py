"""Pair sums: a symmetric matrix of whole numbers that adds up exactly, kept as its lower triangle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.kernels import pair_sums as kernels
from fdmix.moments.inverted_index import Integers, PackedDocuments, runs, starts
from fdmix.runtime.threads import in_threads

Entries = tuple[Integers, Any, Integers]  # a run of rows: entries per row, their columns, their sums

LARGEST_SUM = int(np.iinfo(np.int64).max)
OVERFLOW = (
    "a pair sum exceeds the 64-bit range: one word pair has more than a billion tokens' worth of pairs (4 million "
    "documents' worth with weighting='paper'); leave out the words that fill it"
)
BYTES_PER_PAIR = 12
BLOCK_ENTRIES = 10_000_000  # counts to work on at a time
INDEX_ENTRIES = 3_000_000  # counts in the inverted index at a time
PANEL_ENTRIES = 1 << 20  # entries of a panel, the rows that a task works on
UNTOUCHED_ENTRIES = 1 << 28  # room asked for at first; the operating system gives memory when it is written


@dataclass(frozen=True, eq=False, repr=False)
class PairSums:
    """S[u, v] = S[v, u] >= 0 for all word pairs, int64, stored for v <= u where it is not zero.

    first : (n_words + 1,) int64, where each row begins; columns : int32, ascending in each row;
    sums : int64, positive. The form is unique, so equal sums are equal arrays.
    """

    first: Integers
    columns: np.ndarray[Any, np.dtype[np.int32]]
    sums: Integers

    def __post_init__(self) -> None:
        expected = {"first": np.int64, "columns": np.int32, "sums": np.int64}
        for name, dtype in expected.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != dtype:
                raise ValueError(f"pair sums need {name} as a one-dimensional {np.dtype(dtype)} array")
        if self.first.size < 1 or not kernels.is_triangle(self.first, self.columns, self.sums):
            raise ValueError("pair sums must be a sorted lower triangle of positive whole numbers")
        for name in expected:
            getattr(self, name).setflags(write=False)

    @classmethod
    def nothing(cls, n_words: int) -> PairSums:
        """No pair at all."""
        return cls(np.zeros(n_words + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))

    @classmethod
    def count(cls, counts: sp.csr_array, weight: Integers, n_threads: int | None = None) -> PairSums:
        """S = X' diag(w) X - diag(X' w) for canonical int32 counts X and whole weights w.

        An inverted index gives one row of the result at a time, in an accumulator that stays in the cache.
        The caller sees to it that the sum of all entries fits 64 bits.
        """
        n_words = counts.shape[1]
        if counts.nnz == 0:
            return cls.nothing(n_words)
        documents = PackedDocuments.of(counts, weight, n_threads)
        longest = int(np.diff(counts.indptr).max())
        room = np.minimum(np.arange(1, n_words + 1), documents.frequencies * longest)

        def rows() -> Iterator[Entries]:
            for first_word, last_word in runs(documents.frequencies, INDEX_ENTRIES):
                first, where = documents.invert(first_word, last_word, n_threads)

                def work(panel: tuple[int, int], first: Integers = first, where: Any = where) -> Entries:
                    columns, sums = _scratch(int(room[slice(*panel)].sum()))
                    accumulator = np.zeros(n_words, np.int64)
                    touched = np.zeros((n_words >> kernels.BLOCK_BITS) + 1, np.uint8)
                    entries = kernels.count_rows(
                        *panel, first, where, documents.packed, documents.count_bits, documents.heading,
                        accumulator, touched, columns, sums,
                    )  # fmt: skip
                    return entries, columns, sums

                panels = runs(room[first_word:last_word], PANEL_ENTRIES, first_word)
                yield from in_threads(work, panels, n_threads)

        return cls._from_panels(rows(), int(room.sum()), n_words)

    @classmethod
    def count_slowly(cls, counts: sp.csr_array, weight: Integers) -> PairSums:
        """The same by SciPy's product: the short, obviously right twin of `count`, for tests."""
        exact = counts.astype(np.int64)
        weighted = sp.csr_array(exact.multiply(weight[:, None]), dtype=np.int64)
        full = exact.T @ weighted - sp.diags_array(exact.T @ weight, dtype=np.int64)
        return cls._from_scipy(sp.tril(full, format="csr"))

    @property
    def n_words(self) -> int:
        """Number of rows and columns."""
        return self.first.size - 1

    @property
    def n_entries(self) -> int:
        """Number of stored entries, a pair of words counted once."""
        return self.columns.size

    @property
    def nbytes(self) -> int:
        """Bytes of the three arrays."""
        return self.first.nbytes + self.columns.nbytes + self.sums.nbytes

    def __eq__(self, other: object) -> bool:
        """Whether the two are the same to the last bit."""
        if not isinstance(other, PairSums):
            return NotImplemented
        return (
            np.array_equal(self.first, other.first)
            and np.array_equal(self.columns, other.columns)
            and np.array_equal(self.sums, other.sums)
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: PairSums) -> PairSums:
        return self._combine(other, 1, OverflowError(OVERFLOW))

    def __sub__(self, other: PairSums) -> PairSums:
        return self._combine(other, -1, ValueError("a pair sum would become negative"))

    def row_sums(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """sum_v S[u, v] for every word, over the full symmetric matrix, in floating point."""
        result, mirrored = np.zeros(self.n_words), np.zeros(self.n_words)
        kernels.symmetric_row_sums(self.first, self.columns, self.sums, result, mirrored)
        result += mirrored
        return result

    def total(self) -> int:
        """The sum of the full symmetric matrix, as a Python integer that cannot overflow."""
        high, low = kernels.halves_of_total(self.first, self.columns, self.sums)
        return (int(high) << 32) + int(low)

    def symmetric(self, scale: float = 1.0, n_threads: int | None = None) -> sp.csr_array:
        """The full matrix times `scale`, as float64 CSR."""
        lengths = kernels.mirrored_lengths(self.first, self.columns)
        full_first = starts(lengths)
        columns, values = np.empty(int(full_first[-1]), np.int32), np.empty(int(full_first[-1]))

        def work(panel: tuple[int, int]) -> None:
            kernels.mirror(self.first, self.columns, self.sums, scale, *panel, full_first, columns, values)

        list(in_threads(work, runs(lengths, PANEL_ENTRIES), n_threads))
        small = full_first[-1] <= np.iinfo(np.int32).max
        matrix = sp.csr_array(
            (values, columns, full_first.astype(np.int32) if small else full_first),
            shape=(self.n_words, self.n_words),
        )
        matrix.has_canonical_format = True
        return matrix

    def relabel(self, target: Integers, n_words: int) -> PairSums:
        """Move word u to position target[u]: words with one target are added up, those with -1 left out.

        In the full matrix, entries (u, v) and (v, u) of two words that become one both fall on its diagonal.
        """
        kept_words = target[target >= 0]
        if (np.diff(kept_words) > 0).all():
            return self._renamed(target, n_words)
        rows = self._rows()
        new_rows, new_columns = target[rows], target[self.columns]
        kept = (new_rows >= 0) & (new_columns >= 0)
        joined = (new_rows == new_columns) & (rows != self.columns)
        sums = np.where(joined, 2 * self.sums, self.sums)[kept]
        low = np.minimum(new_rows, new_columns)[kept]
        high = np.maximum(new_rows, new_columns)[kept]
        if self.total() > LARGEST_SUM:  # only then can anything overflow
            rough = sp.coo_array((sums.astype(np.float64), (high, low)), shape=(n_words, n_words)).tocsr()
            if (sums < 0).any() or rough.max() > 0.999 * LARGEST_SUM:
                raise OverflowError(OVERFLOW)
        return self._from_scipy(sp.coo_array((sums, (high, low)), shape=(n_words, n_words)).tocsr())

    def among(self, words: Integers) -> PairSums:
        """The same sums under other numbers of words, for ascending words that have all entries; shares the sums."""
        position = np.full(self.n_words, -1, np.int32)
        position[words] = np.arange(words.size)
        return PairSums(np.append(self.first[words], self.n_entries), position[self.columns], self.sums)

    def _renamed(self, target: Integers, n_words: int) -> PairSums:
        """`relabel` where the words that are kept stay in order: rows stay sorted, and nothing is added up."""
        columns = target.astype(np.int32)[self.columns]
        kept = columns >= 0
        kept &= np.repeat(target >= 0, np.diff(self.first))
        lengths = np.zeros(n_words, np.int64)
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
        lengths[target[target >= 0]] = np.diff(ends[self.first])[target >= 0]
        return PairSums(starts(lengths), columns[kept], self.sums[kept])

    def __reduce__(self) -> tuple[Any, ...]:
        return PairSums, (self.first, self.columns, self.sums)

    def _rows(self) -> Integers:
        """The row of each entry."""
        return np.repeat(np.arange(self.n_words), np.diff(self.first))

    def _combine(self, other: PairSums, sign: int, refusal: Exception) -> PairSums:
        if self.n_words != other.n_words:
            raise ValueError(f"pair sums over {self.n_words:,} and {other.n_words:,} words cannot be combined")
        room = np.diff(self.first) + np.diff(other.first)

        def work(panel: tuple[int, int]) -> Entries:
            columns, sums = _scratch(int(room[slice(*panel)].sum()))
            entries, possible = kernels.combine_rows(
                *panel, self.first, self.columns, self.sums, other.first, other.columns, other.sums,
                sign, columns, sums,
            )  # fmt: skip
            if not possible:
                raise refusal
            return entries, columns, sums

        return self._from_panels(in_threads(work, runs(room, PANEL_ENTRIES)), int(room.sum()), self.n_words)

    @classmethod
    def _from_panels(cls, panels: Iterable[Entries], room: int, n_words: int) -> PairSums:
        """Put runs of rows one after the other.

        `room` bounds the result's size. Memory that is not written to is not used, so the arrays are made
        that large and shrunk in place, instead of joining pieces at twice the memory.
        """
        try:
            columns, sums = _scratch(min(room, UNTOUCHED_ENTRIES))
        except MemoryError:  # where address space is limited, too
            columns, sums = _scratch(min(room, PANEL_ENTRIES))
        lengths = np.zeros(n_words, np.int64)
        row = end = 0
        for entries, some_columns, some_sums in panels:
            begin, end = end, end + int(entries.sum())
            if end > columns.size:
                columns, sums = _enlarged(columns, begin, end), _enlarged(sums, begin, end)
            lengths[row : row + entries.size] = entries
            row += entries.size
            columns[begin:end] = some_columns[: end - begin]
            sums[begin:end] = some_sums[: end - begin]
        columns.resize(end, refcheck=False)
        sums.resize(end, refcheck=False)
        return cls(starts(lengths), columns, sums)

    @classmethod
    def _from_scipy(cls, triangle: sp.csr_array) -> PairSums:
        triangle.sum_duplicates()
        triangle.eliminate_zeros()
        if triangle.nnz and triangle.data.min() < 0:
            raise OverflowError(OVERFLOW)
        return cls(
            triangle.indptr.astype(np.int64),
            triangle.indices.astype(np.int32),
            triangle.data.astype(np.int64),
        )


def rearranged(matrix: sp.csr_array, words: Integers) -> sp.csr_array:
    """matrix[words][:, words] of a symmetric matrix, for words in any order that have all its entries among them.

    Turned over, which changes nothing in a symmetric matrix, its columns are in order without being sorted.
    """
    position = np.empty(matrix.shape[0], matrix.indices.dtype)
    position[words] = np.arange(words.size)
    rows = matrix[words]
    turned = sp.csr_array((rows.data, position[rows.indices], rows.indptr), shape=(words.size, words.size)).tocsc()
    return sp.csr_array((turned.data, turned.indices, turned.indptr), shape=turned.shape)


def _scratch(room: int) -> tuple[Any, Any]:
    return np.empty(room, np.int32), np.empty(room, np.int64)


def _enlarged(array: Any, used: int, needed: int) -> Any:
    larger = np.empty(max(needed, 2 * array.size), array.dtype)
    larger[:used] = array[:used]
    return larger
