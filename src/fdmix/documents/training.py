"""The documents that topics are learned from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class TrainingDocuments:
    """Word counts of the documents to learn from, and what passes over them need to know."""

    table: sp.csr_array

    @cached_property
    def n_tokens(self) -> float:
        """Tokens in all documents."""
        return float(self.table.sum())

    @cached_property
    def mean_length(self) -> float:
        """Tokens of a document that is not empty."""
        return self.n_tokens / max(int(np.count_nonzero(np.diff(self.table.indptr))), 1)

    @cached_property
    def background(self) -> Floats:
        """What topics are smoothed with, so that no word is impossible: half the unigram, half uniform."""
        unigram = np.asarray(self.table.sum(axis=0)).ravel() / max(self.n_tokens, 1.0)
        return np.asarray(0.5 * unigram + 0.5 / unigram.size)


def kernel_arrays(table: sp.csr_array) -> tuple[Any, Any, Any]:
    """(indptr, indices, data) in the types that the kernels take."""
    return table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data.astype(np.int32)


def document_ranges(n_documents: int, n_ranges: int) -> list[tuple[int, int]]:
    """Documents 0, 1, ... cut into about equal ranges (begin, end), the same for any number of threads."""
    edges = np.linspace(0, n_documents, min(n_ranges, max(n_documents, 1)) + 1).astype(int).tolist()
    return list(pairwise(edges))
