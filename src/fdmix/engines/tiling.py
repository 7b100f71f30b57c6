"""The pair matrix, cut for a pass: dense tiles where it is nearly full, lists of pairs where it is not.

Words are sorted by falling frequency, so that most pairs lie in one corner of the matrix. Blocks of words cut it into
square tiles. Tiles near the corner that are full enough are stored densely; all other pairs are stored in lists.

Constants come from the measurements in docs/evidence/performance.md.
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

DENSE_TILE = 0.4  # share of pairs present from which a tile is stored densely for the dense pass; 0.35-0.5 are alike
SPARSE_TILE = 0.1  # the same share for the sparse pass; 0.06-0.16 are alike
CACHED_FLOATS = 60_000  # floats of topic vectors that stay in the L2 cache while a band of words uses them
MIN_PAIRS_PER_ROW = 8  # pairs of a row in a cut, on average
MAX_BANDS = 16  # bands of words
MIN_BAND = 256  # words in a band
MIN_CUT = 64  # columns in a cut


@dataclass(frozen=True)
class Cuts:
    """How lists of pairs are cut.

    band : rows in a band
    stride : every multiple of this column number ends a cut
    width, per_row : a cut also ends once it has this many columns and, on average, this many pairs a row
    pad : lists are padded to a multiple of this many pairs
    """

    band: int
    stride: int
    width: int
    per_row: int
    pad: int


class Tiling:
    """Dense tiles and pair lists of a symmetric matrix, for one kind of pass.

    Row panel I has `block` rows; its first widths[I] blocks of columns are dense, from tiles[offsets[I]] on. The
    dense region is symmetric: J < widths[I] if and only if I < widths[J]. Every other pair (u, v) is listed once,
    with u <= v, and stands for its mirror image, too; a pair (u, u) is therefore listed with half its value.
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
        """List the pairs outside the tiles, band after band: first count each list, then fill it."""
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
        """Large tiles for matrix products, and lists cut so that the topic vectors of a cut fit into the L2 cache."""
        n_words = matrix.shape[0]
        block = -(-n_words // STRIP) * STRIP if n_words <= 3 * STRIP else 2 * STRIP
        band = max(MIN_BAND, -(-n_words // MAX_BANDS))
        width = max(MIN_CUT, CACHED_FLOATS // (-(-n_topics // LANES) * LANES))
        width = -(-band // max(1, round(band / width)))  # equal parts of a band
        return cls(matrix, block, DENSE_TILE, 1, Cuts(band, band, width, MIN_PAIRS_PER_ROW, GROUP))

    @classmethod
    def for_sparse_topics(cls, matrix: sp.csr_array) -> Tiling:
        """Panels of one strip of words, in which the strip's words vary fastest, and one list for each word."""
        whole = max(matrix.shape[0], 1)
        return cls(matrix, STRIP, SPARSE_TILE, STRIP, Cuts(STRIP, whole, whole, 0, 1))

    def lists(self, band: int, stride: int = 0) -> Any:
        """Bounds of the lists of a band's rows within one stride of columns, cut after cut."""
        return self.bounds[self._first[band, stride] : self._first[band, stride + 1] + 1]

    def panel(self, array: Any, panel: int) -> Any:
        """A row panel of the dense tiles, or of an array of the same layout."""
        return array[self.offsets[panel] : self.offsets[panel + 1]].reshape(self.block, -1)
