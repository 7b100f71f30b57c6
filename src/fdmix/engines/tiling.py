"""How a pass cuts its work: dense tiles where the pair matrix is full, lists of pairs where it is not.

Words stand in order of falling frequency, so that the pairs crowd into one corner. Blocks of `block` words give
square tiles; those in a staircase around the corner that are full enough are kept dense, the others as lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.engines.buffers import aligned
from fdmix.kernels import tiles
from fdmix.kernels.dense_pass import GROUP
from fdmix.kernels.sparse_pass import STRIP
from fdmix.kernels.vectors import LANES

DENSE_TILE = 0.4  # least share of pairs present in a tile of the dense pass; 0.35 to 0.5 measured alike
SPARSE_TILE = 0.1  # the same of the sparse pass; flat between 0.06 and 0.16
CACHED_FLOATS = 60_000  # of topic vectors that stay in the L2 cache while a band of words walks over them
PER_ROW = 8  # pairs of a row in a cut, at least
BANDS = 16  # at most
BAND = 256  # words in a band, at least


@dataclass(frozen=True)
class Cuts:
    """How lists are cut: by bands of rows; at every multiple of `stride` columns, and in between where a cut has
    `width` columns and `per_row` pairs a row; padded to a multiple of `pad` pairs.
    """

    band: int
    stride: int
    width: int
    per_row: int
    pad: int


class Tiling:
    """Dense tiles and pair lists of a symmetric matrix, for one kind of pass.

    Row panel I has `block` rows; its first widths[I] blocks of columns are dense, from tiles[offsets[I]] on. The
    staircase is symmetric: J < widths[I] if and only if I < widths[J]. The other pairs (u, v) are listed once, with
    u <= v and pairs (u, u) by half, so that each stands for itself and its mirror image.
    """

    def __init__(self, matrix: sp.csr_array, block: int, threshold: float, strip: int, cuts: Cuts) -> None:
        n_words, band = matrix.shape[0], cuts.band
        n_blocks, n_bands = -(-n_words // block), -(-n_words // band)
        self.block, self.n_blocks, self.rows, self.n_pairs = block, n_blocks, n_blocks * block, matrix.nnz
        self.band, self.n_bands = band, n_bands
        pairs = matrix.indptr, matrix.indices, matrix.data.astype(np.float32)
        counts = tiles.count_blocks(*pairs[:2], block, n_blocks)
        side = np.minimum(block, n_words - block * np.arange(n_blocks))
        full = counts >= threshold * side[:, None] * side
        lead = np.minimum.accumulate(np.where(full.all(axis=1), n_blocks, np.argmin(full, axis=1)))
        numbers = np.arange(n_blocks)
        self.widths = ((numbers[None] < lead[:, None]) & (numbers[:, None] < lead[None])).sum(axis=1)
        self.offsets = np.concatenate([[0], np.cumsum(self.widths * block * block)]).astype(np.int64)
        self.tiles = aligned(int(self.offsets[-1]))
        tiles.fill_tiles(*pairs, block, strip, self.widths, self.offsets, self.tiles)

        words = np.arange(n_words)
        self._list_pairs(pairs, np.maximum(words, self.widths[words // block] * block), cuts)

    def _list_pairs(self, pairs: tuple[Any, Any, Any], limits: Any, cuts: Cuts) -> None:
        """The pairs that are in no tile, band after band: first how many there are in each list, then the lists."""
        n_words, band = limits.size, cuts.band
        bands = [(begin, min(begin + band, n_words)) for begin in range(0, n_words, band)]
        cut, first = np.zeros(n_words, np.int32), np.zeros((len(bands), -(-n_words // cuts.stride) + 1), np.int64)

        def cut_columns(b: int) -> None:
            how = cuts.stride, cuts.width, cuts.per_row
            tiles.cut_columns(bands[b], *pairs[:2], limits, *how, cut, first[b])

        counts = []
        for b, rows in enumerate(bands):
            cut_columns(b)
            counts.append(np.zeros(first[b, -1] * band, np.int64))
            tiles.count_lists(rows, band, *pairs[:2], limits, cut, counts[b])
        begins = np.concatenate([[0], np.cumsum(first[:, -1] * band)])
        sizes = -(-np.concatenate([np.zeros(0, np.int64), *counts]) // cuts.pad) * cuts.pad
        self.bounds = np.concatenate([[0], np.cumsum(sizes)])
        self.columns, self.values = np.empty(self.bounds[-1], np.uint32), np.empty(self.bounds[-1], np.float32)
        for b, rows in enumerate(bands):
            cut_columns(b)
            bounds = self.bounds[begins[b] : begins[b + 1] + 1]
            tiles.fill_lists(rows, band, *pairs, limits, cut, bounds, self.columns, self.values)
        self._first = begins[:-1, None] + first * band

    @classmethod
    def for_dense_topics(cls, matrix: sp.csr_array, n_topics: int) -> Tiling:
        """Large tiles for matrix products, and lists cut so that the topic vectors they meet stay in the cache."""
        n_words = matrix.shape[0]
        block = -(-n_words // STRIP) * STRIP if n_words <= 3 * STRIP else 2 * STRIP
        band = max(BAND, -(-n_words // BANDS))
        width = max(64, CACHED_FLOATS // (-(-n_topics // LANES) * LANES))
        width = -(-band // max(1, round(band / width)))  # equal parts of a band
        return cls(matrix, block, DENSE_TILE, 1, Cuts(band, band, width, PER_ROW, GROUP))

    @classmethod
    def for_sparse_topics(cls, matrix: sp.csr_array) -> Tiling:
        """Panels of one strip of words each, with the strip's words innermost; one list a word."""
        whole = max(matrix.shape[0], 1)
        return cls(matrix, STRIP, SPARSE_TILE, STRIP, Cuts(STRIP, whole, whole, 0, 1))

    def lists(self, band: int, stride: int = 0) -> Any:
        """Bounds of the lists of a band's rows within a stride of columns, for each cut one after the other."""
        return self.bounds[self._first[band, stride] : self._first[band, stride + 1] + 1]

    def panel(self, array: Any, panel: int) -> Any:
        """A row panel of the dense tiles, or of an array of the same layout."""
        return array[self.offsets[panel] : self.offsets[panel + 1]].reshape(self.block, -1)
