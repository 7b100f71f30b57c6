"""Documents packed for counting: where each word stands, at one cache miss a document."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.kernels import pair_sums as kernels
from fdmix.runtime.threads import in_threads, thread_count

Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False)
class PackedDocuments:
    """The documents of a block as runs of whole numbers, ready to be looked up by word."""

    counts: sp.csr_array
    packed: Any
    count_bits: int
    heading: int
    ranges: list[tuple[int, int]]  # of documents, one for each thread
    parts: Integers  # documents of each word in each range

    @classmethod
    def of(cls, counts: sp.csr_array, weight: Integers, n_threads: int | None) -> PackedDocuments:
        """Pack (word, count) into 32 bits where they fit, else into 64."""
        n_documents, n_words = counts.shape
        count_bits = int(counts.data.max()).bit_length()
        dtype = np.uint32 if count_bits + (n_words - 1).bit_length() <= 32 else np.uint64
        heading = 8 // np.dtype(dtype).itemsize
        packed = np.empty(counts.nnz + heading * n_documents, dtype)
        cuts = np.searchsorted(counts.indptr, np.linspace(0, counts.nnz, thread_count(n_threads) + 1)[1:-1])
        ranges = list(pairwise([0, *cuts.tolist(), n_documents]))
        parts = np.zeros((len(ranges), n_words), np.int64)

        def pack(part: int) -> None:
            kernels.pack_documents(
                *ranges[part], counts.indptr, counts.indices, counts.data, weight, count_bits, heading, packed,
                parts[part],
            )  # fmt: skip

        list(in_threads(pack, range(len(ranges)), n_threads))
        return cls(counts, packed, count_bits, heading, ranges, parts)

    @cached_property
    def frequencies(self) -> Integers:
        """Documents of each word."""
        return np.asarray(self.parts.sum(axis=0))

    def invert(self, first_word: int, last_word: int, n_threads: int | None) -> tuple[Integers, Any]:
        """The documents of some words: those of word u are where[first[u] : first[u + 1]], places in `packed`.

        A counting sort; each thread takes a range of documents.
        """
        wanted = np.zeros_like(self.parts)
        wanted[:, first_word:last_word] = self.parts[:, first_word:last_word]
        first = starts(wanted.sum(axis=0))
        where = np.empty((int(first[-1]), 2), np.int32)
        free = first[:-1] + np.cumsum(wanted, axis=0) - wanted

        def invert(part: int) -> None:
            kernels.fill_inverted_index(
                *self.ranges[part], self.counts.indptr, self.counts.indices, first_word, last_word, self.heading,
                free[part], where,
            )  # fmt: skip

        list(in_threads(invert, range(len(self.ranges)), n_threads))
        return first, where


def count_words(counts: sp.csr_array, copies: Integers) -> tuple[Integers, Integers]:
    """Tokens and documents of each word, where document d counts copies[d] times."""
    tokens, documents = np.zeros((2, counts.shape[1]), np.int64)
    kernels.add_word_counts(counts.indptr, counts.indices, counts.data, copies, tokens, documents)
    return tokens, documents


def runs(sizes: Integers, most: int, start: int = 0) -> list[tuple[int, int]]:
    """Cut numbers 0, 1, ... into runs (begin, end) of about `most` in total size each."""
    number = np.cumsum(sizes) // most
    cuts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), sizes.size]
    return [(start + begin, start + end) for begin, end in pairwise(cuts) if begin < end]


def starts(lengths: Integers) -> Integers:
    """Where each row begins, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
