"""The pair matrix, cut for a pass: dense tiles where it is nearly full, lists of pairs where it is not.

Words are sorted by falling frequency, so that most pairs lie in one corner of the matrix. Blocks of words cut it into
square tiles. Tiles near the corner that are full enough are stored densely; all other pairs are stored in lists.

Constants come from the measurements in docs/evidence/performance.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fdmix.engines.buffers import aligned
from fdmix.kernels import tiles
from fdmix.kernels.dense_pass import GROUP
from fdmix.kernels.sparse_pass import STRIP
from fdmix.kernels.vectors import LANES
from fdmix.moments.inverted_index import runs, starts
from fdmix.moments.pair_matrix import PairMatrix
from fdmix.runtime.threads import in_threads
from fdmix.storage.scratch import folder_for, forget, in_file, room_in_memory, zeros_on_disk

DENSE_TILE = 0.4  # share of pairs present from which a tile is stored densely for the dense pass; 0.35-0.5 are alike
SPARSE_TILE = 0.1  # the same share for the sparse pass; 0.06-0.16 are alike
CACHED_FLOATS = 60_000  # floats of topic vectors that stay in the L2 cache while a band of words uses them
MIN_PAIRS_PER_ROW = 8  # pairs of a row in a cut, on average
MAX_BANDS = 16  # bands of words
MIN_BAND = 256  # words in a band
MIN_CUT = 64  # columns in a cut
ENTRIES_AT_A_TIME = 4_000_000  # pairs that are sorted at a time while tiles and lists are made, 32 MB
PANELS_AT_A_TIME = 4  # row panels of the dense pass whose ratios are held at a time; 8 are no faster
PARTS = 16  # at most this many parts, because each round reads all pairs


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


class Lists(NamedTuple):
    """The pairs of a band's rows outside the tiles, cut after cut; cut number first_cut[k] begins the k-th stride."""

    bounds: Any
    first_cut: Any
    columns: Any
    values: Any

    def on_disk(self, folder: Path) -> Lists:
        """The same lists, mapped from files."""
        return self._replace(columns=in_file(self.columns, folder), values=in_file(self.values, folder))


class Tiling:
    """Dense tiles and pair lists of a symmetric matrix, for one kind of pass.

    Row panel I has `block` rows; its first widths[I] blocks of columns are dense. The dense region is symmetric:
    J < widths[I] if and only if I < widths[J]. Only its tiles with I <= J are stored, from tiles[offsets[I]] on.
    Every other pair (u, v) is listed once, with u <= v, and stands for its mirror image, too; a pair (u, u) is
    therefore listed with half its value.

    order : the words, by falling frequency
    """

    def __init__(
        self, pairs: PairMatrix, order: Any, block: int, threshold: float, strip: int, cuts: Cuts,
        n_threads: int | None = None,
    ) -> None:  # fmt: skip
        n_words, numbers = pairs.n_words, np.arange(-(-pairs.n_words // block))
        counts = pairs.counted(order, block)
        self.block, self.n_blocks, self.n_pairs = block, numbers.size, int(counts.blocks.sum())
        self.band, self.n_bands = cuts.band, -(-n_words // cuts.band)
        side = np.minimum(block, n_words - block * numbers)
        self.widths = dense_widths(counts.blocks, side, threshold)
        while strip == 1 and 4 * self.most_ratios > room_in_memory():  # only the dense pass holds ratios
            threshold *= 1.2
            self.widths = dense_widths(counts.blocks, side, threshold)
        self.offsets = starts(np.maximum(self.widths - numbers, 0) * block * block)
        n_floats = int(self.offsets[-1])
        folder = folder_for(8 * int(counts.rows.sum()))  # whether the pairs, as tiles and lists, belong on the disk
        self.tiles = aligned(n_floats) if folder is None or not n_floats else zeros_on_disk(n_floats, "f4", folder)
        words = np.arange(n_words)
        limits = np.maximum(words, self.widths[words // block] * block)

        def fill(bands: tuple[int, int]) -> list[Lists]:
            begin, end = bands[0] * cuts.band, min(bands[1] * cuts.band, n_words)
            offset, *rows = pairs.ordered(order, begin, counts.rows[begin:end])
            where = block, strip, self.widths, self.offsets
            tiles.fill_tiles((begin, end), offset, *rows, *where, self.tiles)
            forget(self.tiles)
            listed = (_lists(offset, rows, (b * cuts.band, end), limits, cuts) for b in range(*bands))
            return list(listed) if folder is None else [each.on_disk(folder) for each in listed]

        entries = np.add.reduceat(counts.rows, np.arange(0, n_words, cuts.band))
        most = max(ENTRIES_AT_A_TIME, int(entries.sum()) // PARTS)
        self._lists = [one for some in in_threads(fill, runs(entries, most), n_threads) for one in some]

    @classmethod
    def for_dense_topics(cls, pairs: PairMatrix, order: Any, n_topics: int, n_threads: int | None = None) -> Tiling:
        """Large tiles for matrix products, and lists cut so that the topic vectors of a cut fit into the L2 cache."""
        band = max(MIN_BAND, -(-pairs.n_words // MAX_BANDS))
        width = max(MIN_CUT, CACHED_FLOATS // (-(-n_topics // LANES) * LANES))
        width = -(-band // max(1, round(band / width)))  # equal parts of a band
        cuts = Cuts(band, band, width, MIN_PAIRS_PER_ROW, GROUP)
        return cls(pairs, order, dense_block_of(pairs.n_words), DENSE_TILE, 1, cuts, n_threads)

    @classmethod
    def for_sparse_topics(cls, pairs: PairMatrix, order: Any, n_threads: int | None = None) -> Tiling:
        """Panels of one strip of words, in which the strip's words vary fastest, and one list for each word."""
        whole = max(pairs.n_words, 1)
        return cls(pairs, order, STRIP, SPARSE_TILE, STRIP, Cuts(STRIP, whole, whole, 0, 1), n_threads)

    def lists(self, band: int, stride: int = 0) -> tuple[Any, Any, Any]:
        """(bounds, columns, values) of the lists of a band's rows within one stride of columns, cut after cut."""
        listed = self._lists[band]
        first, last = listed.first_cut[stride] * self.band, listed.first_cut[stride + 1] * self.band
        return listed.bounds[first : last + 1], listed.columns, listed.values

    def forget(self, band: int) -> None:
        """Drop the lists of a band from memory if they are mapped from a file."""
        forget(self._lists[band].columns)
        forget(self._lists[band].values)

    def forget_tiles(self, panel: int) -> None:
        """Drop the tiles of a row panel from memory if they are mapped from a file."""
        forget(self.tiles, int(self.offsets[panel]), int(self.offsets[panel + 1]))

    def tile_panel(self, panel: int) -> Any:
        """The stored tiles of a row panel, from the one on the diagonal on."""
        return self.tiles[self.offsets[panel] : self.offsets[panel + 1]].reshape(self.block, -1)

    @property
    def most_ratios(self) -> int:
        """How many ratios of the dense pass are held at a time: those of the first row panels, the longest ones."""
        if not self.n_blocks:
            return 0
        first = self.widths[:PANELS_AT_A_TIME]
        return int((first > np.arange(first.size)).sum() * first[0]) * self.block**2


def dense_widths(counts: Any, side: Any, threshold: float) -> Any:
    """How many blocks of columns are dense in each row panel, from the first one on: a symmetric region.

    counts : pairs of each tile; side : words in each block
    """
    numbers = np.arange(side.size)
    full = counts >= threshold * side[:, None] * side
    lead = np.minimum.accumulate(np.where(full.all(axis=1), numbers.size, np.argmin(full, axis=1)))
    return ((numbers[None] < lead[:, None]) & (numbers[:, None] < lead[None])).sum(axis=1)


def dense_block_of(n_words: int) -> int:
    """Words in a block of the dense pass."""
    return -(-n_words // STRIP) * STRIP if n_words <= 3 * STRIP else 2 * STRIP


def _lists(offset: int, rows: list[Any], within: tuple[int, int], limits: Any, cuts: Cuts) -> Lists:
    """The lists of the band that begins with row within[0]; no row is there from within[1] on."""
    first, columns, values = rows
    band = within[0], min(within[0] + cuts.band, within[1])
    cut = np.zeros(limits.size, np.int32)
    first_cut = np.zeros(-(-limits.size // cuts.stride) + 1, np.int64)
    how = cuts.stride, cuts.width, cuts.per_row
    tiles.cut_columns(band, offset, first, columns, limits, *how, cut, first_cut)
    counts = np.zeros(first_cut[-1] * cuts.band, np.int64)
    tiles.count_lists(band, cuts.band, offset, first, columns, limits, cut, counts)
    bounds = starts(-(-counts // cuts.pad) * cuts.pad)
    listed = np.empty(bounds[-1], np.uint32), np.empty(bounds[-1], np.float32)
    tiles.fill_lists(band, cuts.band, offset, first, columns, values, limits, cut, bounds, *listed)
    return Lists(bounds, first_cut, *listed)
