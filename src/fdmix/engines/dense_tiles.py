"""The dense tiles of a pass: the ratios Mhat / M, and what they add to H.

The ratios of a few row panels are held at a time. Only tiles on and above the diagonal are computed; a tile adds to
the rows of H of both its blocks of words. All ratios, with both halves, would take 8 bytes and more for each pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fdmix.engines.buffers import Buffers
from fdmix.engines.tiling import PANELS_AT_A_TIME, Tiling
from fdmix.kernels import dense_pass
from fdmix.runtime.threads import Workers

TILES_AT_A_TIME = 4  # tiles in one task


def add_dense_tiles(
    tiling: Tiling, workers: Workers, buffers: Buffers, A: Any, P: Any, right: Any, H: Any, *, small: bool
) -> float:
    """H[u] = sum_v R[u, v] right[v] over the dense tiles, R = Mhat / M, M = A P'; returns sum Mhat log M.

    Each block of rows of H belongs to one task, so that the bits do not depend on the threads.
    """
    H[:] = 0
    memory = buffers.of(tiling.most_ratios)
    likelihood = 0.0
    for first in range(0, tiling.n_blocks, PANELS_AT_A_TIME):
        if tiling.widths[first] <= first:
            break  # tiles from here on lie below the diagonal
        likelihood += _Panels(tiling, workers, first, memory).add(A, P, right, H, small)
    return likelihood


class _Panels:
    """A few row panels from `first` on: their ratios, from the first tile on the diagonal on."""

    def __init__(self, tiling: Tiling, workers: Workers, first: int, memory: Any) -> None:
        self.tiling, self.workers, self.first, self.block = tiling, workers, first, tiling.block
        last = min(first + PANELS_AT_A_TIME, tiling.n_blocks)
        self.rows = [row for row in range(first, last) if tiling.widths[row] > row]
        self.width = tiling.widths[first] - first
        n_rows, n_columns = len(self.rows) * self.block, self.width * self.block
        self.ratios = memory[: n_rows * n_columns].reshape(n_rows, n_columns)

    def add(self, A: Any, P: Any, right: Any, H: Any, small: bool) -> float:
        """Compute the ratios, and add them to H."""
        tiles = [
            (row, begin, min(begin + TILES_AT_A_TIME, self.tiling.widths[row]))
            for row in self.rows
            for begin in range(row, self.tiling.widths[row], TILES_AT_A_TIME)
        ]
        likelihood = sum(self.workers.map(lambda task: self._divide(A, P, *task), tiles, small))
        columns = range(self.first, self.first + self.width)
        self.workers.map(lambda column: self._collect(right, H, column), columns, small)
        return float(likelihood)

    def _divide(self, A: Any, P: Any, row: int, begin: int, end: int) -> float:
        """R = Mhat / M for some tiles of a row panel."""
        block, tiling = self.block, self.tiling
        M = self.workers.scratch(block, block)
        mhat, ratios = tiling.tile_panel(row), self.ratios[(row - self.first) * block :][:block]
        likelihood = 0.0
        for column in range(begin, end):
            np.matmul(A[row * block : (row + 1) * block], P[column * block : (column + 1) * block].T, out=M)
            at = (column - row) * block, (column - self.first) * block
            part = dense_pass.ratio_tile(mhat, at[0], ratios, at[1], M, M.view(np.uint32))
            likelihood += part if row == column else 2 * part
        tiling.forget_tiles(row)
        return likelihood

    def _collect(self, right: Any, H: Any, column: int) -> None:
        """Add to H what the tiles of one block of words give it: those of its own row, and the mirrors of others."""
        block, first, widths = self.block, self.first, self.tiling.widths
        own = H[column * block : (column + 1) * block]
        part = self.workers.scratch(block, H.shape[1])
        at = (column - first) * block
        if column in self.rows:
            ratios = self.ratios[at : at + block, at : (widths[column] - first) * block]
            own += np.matmul(ratios, right[column * block : widths[column] * block], out=part)
        n_above = sum(row < column < widths[row] for row in self.rows) * block  # widths fall from row to row
        if n_above:
            mirrored = self.ratios[:n_above, at : at + block].T
            own += np.matmul(mirrored, right[first * block : first * block + n_above], out=part)
