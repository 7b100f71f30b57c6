"""Pair sums: a symmetric matrix of whole numbers that adds up exactly, kept as its lower triangle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.kernels import pair_sums as kernels
from fdmix.moments.inverted_index import Integers, runs, starts
from fdmix.moments.pair_rows import PANEL_ENTRIES, Entries, joined, room_for
from fdmix.runtime.threads import streamed
from fdmix.storage.scratch import forget

LARGEST_SUM = int(np.iinfo(np.int64).max)
OVERFLOW = (
    "a pair sum exceeds the 64-bit range: one word pair has more than a billion tokens' worth of pairs (4 million "
    "documents' worth with weighting='paper'); leave out the words that fill it"
)


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
        if not self._is_triangle():
            raise ValueError("pair sums must be a sorted lower triangle of positive whole numbers")
        for name in expected:
            getattr(self, name).setflags(write=False)

    @classmethod
    def nothing(cls, n_words: int) -> PairSums:
        """No pair at all."""
        return cls(np.zeros(n_words + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))

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
        for panel in self.panels():
            kernels.symmetric_row_sums(*panel, self.first, self.columns, self.sums, result, mirrored)
        result += mirrored
        return result

    def total(self) -> int:
        """The sum of the full symmetric matrix, as a Python integer that cannot overflow."""
        total = 0
        for panel in self.panels():
            high, low = kernels.halves_of_total(*panel, self.first, self.columns, self.sums)
            total += (int(high) << 32) + int(low)
        return total

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
        return self.from_scipy(sp.coo_array((sums, (high, low)), shape=(n_words, n_words)).tocsr())

    def among(self, words: Integers) -> PairSums:
        """The same sums under other numbers of words, for ascending words that have all entries; shares the sums."""
        position = np.full(self.n_words, -1, np.int32)
        position[words] = np.arange(words.size)
        return PairSums(np.append(self.first[words], self.n_entries), position[self.columns], self.sums)

    def _renamed(self, target: Integers, n_words: int) -> PairSums:
        """`relabel` where the words that are kept stay in order: rows stay sorted, and nothing is added up."""
        room = np.where(target >= 0, np.diff(self.first), 0)

        def work(panel: tuple[int, int]) -> Entries:
            columns, sums = room_for(int(room[slice(*panel)].sum()))
            entries = kernels.rename_rows(*panel, self.first, self.columns, self.sums, target, columns, sums)
            self.forget(*panel)
            return entries, columns, sums

        kept, columns, sums = joined(streamed(work, runs(room, PANEL_ENTRIES)), int(room.sum()))
        lengths = np.zeros(n_words, np.int64)
        lengths[target[target >= 0]] = kept[target >= 0]
        return PairSums(starts(lengths), columns, sums)

    def add_weights(self, low: int, step: int, weights: Any) -> None:
        """weights[k] += the entries of the full symmetric matrix from low + k step to below low + (k + 1) step."""
        for panel in self.panels():
            kernels.add_weights(*panel, self.first, self.columns, self.sums, low, step, weights)

    def kept_where(self, whole: PairSums, least: int) -> PairSums:
        """The entries whose sum in `whole` is at least `least`."""
        room = np.diff(self.first)
        arrays = self.first, self.columns, self.sums, whole.first, whole.columns, whole.sums

        def work(panel: tuple[int, int]) -> Entries:
            columns, sums = room_for(int(room[slice(*panel)].sum()))
            entries = kernels.keep_where(*panel, *arrays, least, columns, sums)
            self.forget(*panel)
            whole.forget(*panel)
            return entries, columns, sums

        return self.from_rows(streamed(work, runs(room, PANEL_ENTRIES)), int(room.sum()))

    def forget(self, begin: int, end: int) -> None:
        """Drop the rows begin <= u < end from memory if they are mapped from a file."""
        for array in (self.columns, self.sums):
            forget(array, int(self.first[begin]), int(self.first[end]))

    def panels(self, low: int = 0) -> Iterator[tuple[int, int]]:
        """Runs of rows from `low` on; those of a mapped file are dropped from memory when they are done."""
        for panel in runs(np.diff(self.first[low:]), PANEL_ENTRIES, low):
            yield panel
            self.forget(*panel)

    def _is_triangle(self) -> bool:
        first, n_entries = self.first, self.columns.size
        if first.size < 1 or first[0] != 0 or first[-1] != n_entries or self.sums.size != n_entries:
            return False
        if (np.diff(first) < 0).any():
            return False
        return all(kernels.is_triangle(*panel, first, self.columns, self.sums) for panel in self.panels())

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
            columns, sums = room_for(int(room[slice(*panel)].sum()))
            entries, possible = kernels.combine_rows(
                *panel, self.first, self.columns, self.sums, other.first, other.columns, other.sums,
                sign, columns, sums,
            )  # fmt: skip
            if not possible:
                raise refusal
            self.forget(*panel)
            other.forget(*panel)
            return entries, columns, sums

        return self.from_rows(streamed(work, runs(room, PANEL_ENTRIES)), int(room.sum()))

    @classmethod
    def sum_of(cls, parts: Sequence[PairSums], report: Callable[[int, int], Any] | None = None) -> PairSums:
        """The sum of several parts over the same words, in one round over all of them.

        report : called with the entries of the parts that are added up so far, and their number
        """
        n_words = parts[0].n_words
        if any(part.n_words != n_words for part in parts):
            raise ValueError("pair sums over different numbers of words cannot be added")
        room = np.sum([np.diff(part.first) for part in parts], axis=0)

        def work(panel: tuple[int, int]) -> Entries:
            rows = slice(panel[0], panel[1] + 1)
            begins = [int(part.first[panel[0]]) for part in parts]
            ends = [int(part.first[panel[1]]) for part in parts]
            where = np.cumsum([0, *(end - begin for begin, end in zip(begins, ends, strict=True))])
            first = np.array(
                [part.first[rows] - begin + at for part, begin, at in zip(parts, begins, where, strict=False)]
            )
            every = list(zip(parts, begins, ends, strict=True))
            given = [np.concatenate([part.columns[begin:end] for part, begin, end in every])]
            given += [np.concatenate([part.sums[begin:end] for part, begin, end in every])]
            columns, sums = room_for(min(int(where[-1]), int(np.arange(*panel).sum()) + panel[1] - panel[0]))
            accumulator = np.zeros(n_words, np.int64)
            touched = np.zeros((n_words >> kernels.BLOCK_BITS) + 1, np.uint8)
            entries, possible = kernels.sum_rows(*panel, first, *given, accumulator, touched, columns, sums)
            if not possible:
                raise OverflowError(OVERFLOW)
            for part in parts:
                part.forget(*panel)
            return entries, columns, sums

        def reported(panels: Iterable[Entries]) -> Iterator[Entries]:
            done = 0
            for each in panels:
                yield each
                done += each[0].size
                if report is not None:
                    report(int(room[:done].sum()), int(room.sum()))

        return cls.from_rows(reported(streamed(work, runs(room, PANEL_ENTRIES))), int(room.sum()))

    @classmethod
    def from_rows(cls, panels: Iterable[Entries], room: int) -> PairSums:
        """Put runs of rows one after the other; `room` bounds the number of their entries."""
        lengths, columns, sums = joined(panels, room)
        return cls(starts(lengths), columns, sums)

    @classmethod
    def from_scipy(cls, triangle: sp.csr_array) -> PairSums:
        """From a lower triangle of whole numbers."""
        triangle.sum_duplicates()
        triangle.eliminate_zeros()
        if triangle.nnz and triangle.data.min() < 0:
            raise OverflowError(OVERFLOW)
        return cls(
            triangle.indptr.astype(np.int64),
            triangle.indices.astype(np.int32),
            triangle.data.astype(np.int64),
        )
