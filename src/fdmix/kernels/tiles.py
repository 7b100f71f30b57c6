"""Cut a sparse symmetric matrix into dense tiles and lists of pairs (loops of `fdmix.engines.tiling`)."""

from __future__ import annotations

import numba
import numpy as np

njit = numba.njit(cache=True, nogil=True)


@njit
def count_blocks(indptr, indices, block, n_blocks):
    """How many pairs there are in each square of block x block words."""
    counts = np.zeros((n_blocks, n_blocks), np.int64)
    for u in range(indptr.size - 1):
        for i in range(indptr[u], indptr[u + 1]):
            counts[u // block, indices[i] // block] += 1
    return counts


@njit
def cut_columns(indptr, indices, block, widths, W, per_row, cut, n_cuts):
    """Cut the columns right of the staircase, for every row panel: cut[row, v] is the number of column v's cut.

    A cut has at least W columns (so many rows of P stay in the L2 cache) and, if it can, at least per_row pairs
    a row (else every row of A and H is fetched for a few pairs only).
    """
    n = indptr.size - 1
    counts = np.zeros(n, np.int64)
    for row in range(widths.size):
        counts[:] = 0
        for u in range(row * block, min(n, row * block + block)):
            for i in range(indptr[u], indptr[u + 1]):
                counts[indices[i]] += 1
        t = 0
        width = 0
        filled = 0
        for v in range(widths[row] * block, n):
            cut[row, v] = t
            width += 1
            filled += counts[v]
            if width >= W and filled >= per_row * block:
                t += 1
                width = 0
                filled = 0
        n_cuts[row] = t + (width > 0)


@njit
def fill(
    indptr,
    indices,
    data,
    block,
    strip,
    widths,
    offsets,
    tiles,
    cut,
    list_offsets,
    pad,
    bounds,
    columns,
    values,
    count_only,
):
    """Distribute the pairs over dense tiles and lists (columns, values).

    The list of row u = row * block + k in cut t goes from bounds[list_offsets[row] + t * block + k] to the next
    bound, padded to a multiple of `pad` by repeating its first column with value 0, which changes nothing. A dense
    row panel is a sequence of strips of `strip` words u, with v outside and u inside (strip = 1: row-major).
    """
    n = indptr.size - 1
    if count_only:
        for u in range(n):
            row = u // block
            lim = widths[row] * block
            for i in range(indptr[u], indptr[u + 1]):
                if indices[i] >= lim:
                    bounds[list_offsets[row] + cut[row, indices[i]] * block + u - row * block] += 1
        total = 0
        for i in range(bounds.size):
            c = bounds[i]
            bounds[i] = total
            total += (c + pad - 1) // pad * pad
        return total
    for u in range(n):
        row = u // block
        lim = widths[row] * block
        k = (u - row * block) % strip
        base = offsets[row] + (u - row * block - k) * lim + k
        i = indptr[u]
        end = indptr[u + 1]
        while i < end and indices[i] < lim:
            tiles[base + indices[i] * strip] = data[i]
            i += 1
        while i < end:
            t = cut[row, indices[i]]
            at = list_offsets[row] + t * block + u - row * block
            p = bounds[at]
            first = indices[i]
            while i < end and cut[row, indices[i]] == t:
                columns[p] = indices[i]
                values[p] = data[i]
                p += 1
                i += 1
            while p < bounds[at + 1]:
                columns[p] = first
                values[p] = 0
                p += 1
    return 0
