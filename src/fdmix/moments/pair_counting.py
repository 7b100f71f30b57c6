"""Count the word pairs of documents: from a table of counts to pair sums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.kernels import pair_sums as kernels
from fdmix.moments.inverted_index import Integers, PackedDocuments, runs
from fdmix.moments.pair_rows import PANEL_ENTRIES, Entries, room_for
from fdmix.moments.pair_sums import PairSums
from fdmix.runtime.threads import streamed

BLOCK_ENTRIES = 10_000_000  # counts to work on at a time
INDEX_ENTRIES = 3_000_000  # counts in the inverted index at a time


def count_pairs(counts: sp.csr_array, weight: Integers, n_threads: int | None = None) -> PairSums:
    """S = X' diag(w) X - diag(X' w) for canonical int32 counts X and whole weights w.

    An inverted index gives one row of the result at a time, in an accumulator that stays in the cache.
    The caller sees to it that the sum of all entries fits 64 bits.
    """
    n_words = counts.shape[1]
    if counts.nnz == 0:
        return PairSums.nothing(n_words)
    documents = PackedDocuments.of(counts, weight, n_threads)
    longest = int(np.diff(counts.indptr).max())
    room = np.minimum(np.arange(1, n_words + 1), documents.frequencies * longest)

    def rows() -> Iterator[Entries]:
        for first_word, last_word in runs(documents.frequencies, INDEX_ENTRIES):
            first, where = documents.invert(first_word, last_word, n_threads)

            def work(panel: tuple[int, int], first: Integers = first, where: Any = where) -> Entries:
                columns, sums = room_for(int(room[slice(*panel)].sum()))
                accumulator = np.zeros(n_words, np.int64)
                touched = np.zeros((n_words >> kernels.BLOCK_BITS) + 1, np.uint8)
                entries = kernels.count_rows(
                    *panel, first, where, documents.packed, documents.count_bits, documents.heading,
                    accumulator, touched, columns, sums,
                )  # fmt: skip
                return entries, columns, sums

            panels = runs(room[first_word:last_word], PANEL_ENTRIES, first_word)
            yield from streamed(work, panels, n_threads)

    return PairSums.from_rows(rows(), int(room.sum()))


def count_slowly(counts: sp.csr_array, weight: Integers) -> PairSums:
    """The same by SciPy's product: the short, obviously right twin of `count_pairs`, for tests."""
    exact = counts.astype(np.int64)
    weighted = sp.csr_array(exact.multiply(weight[:, None]), dtype=np.int64)
    full = exact.T @ weighted - sp.diags_array(exact.T @ weight, dtype=np.int64)
    return PairSums.from_scipy(sp.tril(full, format="csr"))
