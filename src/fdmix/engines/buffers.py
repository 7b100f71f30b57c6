"""Large arrays that are reused between passes, because fresh memory costs a page fault every 4 kB."""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np


def aligned(n_floats: int) -> Any:
    """Zeros, float32, that begin at a multiple of 64 bytes: vector loads are fastest there."""
    buffer = np.zeros(n_floats + 16, np.float32)
    offset = (-buffer.ctypes.data % 64) // 4
    return buffer[offset : offset + n_floats]


def padded(rows: int, columns: int, block: int = 1) -> Any:
    """An aligned table of zeros with rows rounded up to a multiple of `block` and columns to a multiple of 8."""
    rows, columns = -(-rows // block) * block, -(-columns // 8) * 8
    return aligned(rows * columns).reshape(rows, columns)


class Buffers:
    """Lends arrays, and takes each back when nobody holds it any more.

    It watches only the array that it lent, not its slices: a slice must not outlive the array.
    """

    def __init__(self) -> None:
        self._free: dict[int, list[Any]] = {}

    def like(self, array: Any) -> Any:
        """An array of the same shape with arbitrary contents."""
        return self.of(*array.shape)

    def of(self, *shape: int) -> Any:
        """An array of this shape with arbitrary contents."""
        size = math.prod(shape)
        free = self._free.setdefault(size, [])
        memory = free.pop() if free else aligned(size)
        lent = memory.reshape(shape)
        weakref.finalize(lent, free.append, memory)
        return lent

    def forget(self) -> None:
        """Free the memory of arrays that nobody holds."""
        self._free = {}
