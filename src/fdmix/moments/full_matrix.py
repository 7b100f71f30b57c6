"""The full symmetric matrix of word pairs, in SciPy's form."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fdmix.kernels import pair_sums as kernels
from fdmix.moments.inverted_index import Integers, runs, starts
from fdmix.moments.pair_rows import PANEL_ENTRIES
from fdmix.moments.pair_sums import PairSums
from fdmix.runtime.threads import in_threads


def symmetric(pairs: PairSums, scale: float = 1.0, n_threads: int | None = None) -> sp.csr_array:
    """The full matrix times `scale`, as float64 CSR."""
    lengths = kernels.mirrored_lengths(pairs.first, pairs.columns)
    full_first = starts(lengths)
    columns, values = np.empty(int(full_first[-1]), np.int32), np.empty(int(full_first[-1]))

    def work(panel: tuple[int, int]) -> None:
        kernels.mirror(pairs.first, pairs.columns, pairs.sums, scale, *panel, full_first, columns, values)

    list(in_threads(work, runs(lengths, PANEL_ENTRIES), n_threads))
    small = full_first[-1] <= np.iinfo(np.int32).max
    matrix = sp.csr_array(
        (values, columns, full_first.astype(np.int32) if small else full_first),
        shape=(pairs.n_words, pairs.n_words),
    )
    matrix.has_canonical_format = True
    return matrix


def rearranged(matrix: sp.csr_array, words: Integers) -> sp.csr_array:
    """matrix[words][:, words] of a symmetric matrix, for words in any order that have all its entries among them.

    Turned over, which changes nothing in a symmetric matrix, its columns are in order without being sorted.
    """
    position = np.empty(matrix.shape[0], matrix.indices.dtype)
    position[words] = np.arange(words.size)
    rows = matrix[words]
    turned = sp.csr_array((rows.data, position[rows.indices], rows.indptr), shape=(words.size, words.size)).tocsc()
    return sp.csr_array((turned.data, turned.indices, turned.indptr), shape=turned.shape)
