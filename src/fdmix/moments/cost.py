"""What counting will cost, before it is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.corpus import Corpus
from fdmix.moments.pair_counting import BLOCK_ENTRIES, INDEX_ENTRIES
from fdmix.moments.pair_rows import BYTES_PER_PAIR
from fdmix.runtime.memory import in_words

BYTES_PER_WORD = 64  # row starts, tallies, and the accumulators of two threads
BYTES_PER_DOCUMENT = 48  # lengths, weights and the headings of packed documents
SAMPLED_ROWS = 400
LARGEST_SAMPLE = 20_000_000


@dataclass(frozen=True)
class Estimate:
    """The size of the moments of a corpus and the work of counting them.

    updates : additions to a pair sum, exact: sum_d n_d (n_d + 1) / 2 for n_d distinct words in document d
    pairs : distinct word pairs, estimated from the rows of a sample of words (exact for small vocabularies)
    n_bytes : memory that counting takes at its peak on top of the input, about
    """

    n_documents: int
    n_words: int
    updates: int
    pairs: int
    n_bytes: int

    def __str__(self) -> str:
        return (
            f"{self.n_documents:,} documents over {self.n_words:,} words: about {self.pairs:,} word pairs, "
            f"{in_words(self.n_bytes)} of memory, {self.updates:,} additions"
        )

    @classmethod
    def of(cls, counts: Any, folds: int = 0) -> Estimate:
        """Look at the distinct partners of some words, evenly spread from frequent to rare.

        >>> print(Estimate.of([[1, 1, 0], [0, 2, 1]]))
        2 documents over 3 words: about 3 word pairs, 372 bytes of memory, 6 additions
        """
        table = (counts if isinstance(counts, Corpus) else Corpus(counts)).counts
        updates = _updates(table)
        return cls._with(table, updates, min(updates, _sampled_pairs(table)), folds)

    @classmethod
    def refuse_beyond(cls, limit: float, table: sp.csr_array, folds: int = 0, taken: int = 0) -> None:
        """Raise MemoryError if counting this table, besides what is taken, would exceed the limit."""
        n_words = table.shape[1]
        updates = _updates(table)
        if BYTES_PER_WORD * n_words > limit:  # then even the estimate below may not fit
            raise MemoryError(
                f"counting {n_words:,} words would need more than {in_words(BYTES_PER_WORD * n_words)}, but only "
                f"{in_words(limit)} may be used: keep fewer words, or count on a machine with more memory"
            )
        most = cls._with(table, updates, min(updates, n_words * (n_words + 1) // 2), folds)
        if most.n_bytes + taken <= limit:
            return
        estimate = cls._with(table, updates, min(updates, _sampled_pairs(table)), folds)
        if estimate.n_bytes + taken > limit:
            raise MemoryError(
                f"counting would need about {in_words(estimate.n_bytes + taken)} for {estimate.pairs:,} word pairs, "
                f"but only {in_words(limit)} may be used: keep fewer words (for instance those in at least 5 "
                "documents), or count on a machine with more memory"
            )

    @classmethod
    def _with(cls, table: sp.csr_array, updates: int, pairs: int, folds: int) -> Estimate:
        n_documents, n_words = table.shape
        results = 1 if table.nnz <= BLOCK_ENTRIES else 2  # blocks are added up: the old sum and the new
        result = BYTES_PER_PAIR * pairs * results
        if folds:  # a fold has fewer pairs than the whole, but together they have more
            result += BYTES_PER_PAIR * min(updates, folds * pairs) * results
        block = min(table.nnz, BLOCK_ENTRIES)
        index = 4 * block + 8 * min(block, INDEX_ENTRIES) + (24 * block if folds else 0)
        other = BYTES_PER_WORD * n_words * (1 + folds) + BYTES_PER_DOCUMENT * n_documents
        return cls(n_documents, n_words, updates, pairs, result + index + other)


def _updates(table: sp.csr_array) -> int:
    distinct = np.diff(table.indptr).astype(np.int64)
    return int((distinct * (distinct + 1) // 2).sum())


def _sampled_pairs(table: sp.csr_array) -> int:
    n_words = table.shape[1]
    present = sp.csr_array((np.ones(table.nnz, np.int8), table.indices, table.indptr), shape=table.shape)
    frequency = np.bincount(table.indices, minlength=n_words)
    seen = np.flatnonzero(frequency)
    if not seen.size:
        return 0
    by_frequency = seen[np.argsort(frequency[seen], kind="stable")]
    n_sampled = min(seen.size, max(20, min(SAMPLED_ROWS, LARGEST_SAMPLE // n_words)))
    middle = (np.arange(n_sampled) + 0.5) * seen.size / n_sampled
    sample = np.sort(by_frequency[middle.astype(np.int64)])
    partners = present[:, sample].T.tocsr().astype(np.int32) @ present.astype(np.int32)
    off_diagonal: float = (partners.nnz - n_sampled) * seen.size / n_sampled / 2
    on_diagonal = int(np.unique(table.indices[table.data > 1]).size)
    return round(off_diagonal) + on_diagonal
