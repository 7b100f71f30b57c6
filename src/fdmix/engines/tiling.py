"""How a pass cuts its work: dense tiles where the pair matrix is full, lists of pairs where it is not.

Words stand in order of falling frequency, so that the pairs crowd into one corner. Blocks of `block` words give
square tiles; those in a staircase around the corner that are full enough are kept dense, the others as lists.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.engines.buffers import aligned
from fdmix.kernels import tiles
from fdmix.kernels.sparse_pass import STRIP

DENSE_TILE = 0.4  # least share of pairs present in a tile of the dense pass; 0.35 to 0.5 measured alike
SPARSE_TILE = 0.1  # the same of the sparse pass; flat between 0.06 and 0.16
CACHED_FLOATS = 100_000  # of topic vectors that stay in the L2 cache while a block of words walks over them


class Tiling:
    """Dense tiles and pair lists of a symmetric matrix, for one kind of pass.

    Row panel I has `block` rows; its first widths[I] blocks of columns are dense, from tiles[offsets[I]] on. The
    staircase is symmetric: J < widths[I] if and only if I < widths[J].
    """

    def __init__(
        self, matrix: sp.csr_array, block: int, threshold: float, *, width: int, per_row: int, pad: int, strip: int
    ) -> None:
        n_words = matrix.shape[0]
        n_blocks = -(-n_words // block)
        self.block, self.n_blocks, self.rows, self.n_pairs = block, n_blocks, n_blocks * block, matrix.nnz
        indptr, indices, data = matrix.indptr, matrix.indices, matrix.data.astype(np.float32)
        counts = tiles.count_blocks(indptr, indices, block, n_blocks)
        side = np.minimum(block, n_words - block * np.arange(n_blocks))
        full = counts >= threshold * side[:, None] * side
        lead = np.minimum.accumulate(np.where(full.all(axis=1), n_blocks, np.argmin(full, axis=1)))
        numbers = np.arange(n_blocks)
        self.widths = ((numbers[None] < lead[:, None]) & (numbers[:, None] < lead[None])).sum(axis=1)
        self.offsets = np.concatenate([[0], np.cumsum(self.widths * block * block)]).astype(np.int64)
        self.tiles = aligned(int(self.offsets[-1]))
        cut = np.zeros((n_blocks, n_words), np.int32)
        n_cuts = np.zeros(n_blocks, np.int64)
        tiles.cut_columns(indptr, indices, block, self.widths, width, per_row, cut, n_cuts)
        self.list_offsets = np.concatenate([[0], np.cumsum(n_cuts * block)]).astype(np.int64)
        self.bounds = np.zeros(self.list_offsets[-1] + 1, np.int64)

        def fill(columns: Any, values: Any, count_only: bool) -> int:
            return int(
                tiles.fill(
                    indptr, indices, data, block, strip, self.widths, self.offsets, self.tiles, cut,
                    self.list_offsets, pad, self.bounds, columns, values, count_only,
                )
            )  # fmt: skip

        n_listed = fill(np.empty(0, np.uint32), np.empty(0, np.float32), True)
        self.columns, self.values = np.empty(n_listed, np.uint32), np.empty(n_listed, np.float32)
        fill(self.columns, self.values, False)

    @classmethod
    def for_dense_topics(cls, matrix: sp.csr_array, n_topics: int) -> Tiling:
        """Large tiles for matrix products, and lists cut so that the topic vectors they meet stay in the cache."""
        n_words = matrix.shape[0]
        block = -(-n_words // STRIP) * STRIP if n_words <= 3 * STRIP else 2 * STRIP
        width = max(64, CACHED_FLOATS // (-(-n_topics // 8) * 8))
        return cls(matrix, block, DENSE_TILE, width=width, per_row=12, pad=4, strip=1)

    @classmethod
    def for_sparse_topics(cls, matrix: sp.csr_array) -> Tiling:
        """Panels of one strip of words each, with the strip's words innermost; one list a word."""
        return cls(matrix, STRIP, SPARSE_TILE, width=1 << 30, per_row=0, pad=1, strip=STRIP)

    def lists(self, panel: int) -> Any:
        """Bounds of the lists of a panel's rows, for each of its cuts one after the other."""
        return self.bounds[self.list_offsets[panel] : self.list_offsets[panel + 1] + 1]

    def panel(self, array: Any, panel: int) -> Any:
        """A row panel of the dense tiles, or of an array of the same layout."""
        return array[self.offsets[panel] : self.offsets[panel + 1]].reshape(self.block, -1)
