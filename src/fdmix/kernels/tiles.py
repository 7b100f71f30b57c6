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
def cut_columns(indptr, indices, limits, band, stride, W, per_row, cut, first):
    """Cut the columns of the lists, for every band of rows: cut[b, v] is the number of column v's cut.

    A cut has at least W columns (so many rows of P stay in the L2 cache) and, if it can, at least per_row pairs
    a row (else every row of A and H is fetched for a few pairs only); it ends at every multiple of `stride`.
    first[b, k] is the first cut of the columns from k * stride on.
    """
    n = indptr.size - 1
    counts = np.zeros(n, np.int64)
    for b in range(cut.shape[0]):
        counts[:] = 0
        for u in range(b * band, min(n, b * band + band)):
            for i in range(indptr[u], indptr[u + 1]):
                if indices[i] >= limits[u]:
                    counts[indices[i]] += 1
        t = 0
        width = 0
        filled = 0
        for v in range(n):
            if width > 0 and (v % stride == 0 or (width >= W and filled >= per_row * band)):
                t += 1
                width = 0
                filled = 0
            if v % stride == 0:
                first[b, v // stride] = t
            cut[b, v] = t
            width += 1
            filled += counts[v]
        first[b, first.shape[1] - 1] = t + 1


@njit
def fill_tiles(indptr, indices, data, block, strip, widths, offsets, tiles):
    """The dense tiles: a row panel is a sequence of strips of `strip` words u, with v outside and u inside.

    (strip = 1: row-major)
    """
    for u in range(indptr.size - 1):
        row = u // block
        lim = widths[row] * block
        k = (u - row * block) % strip
        base = offsets[row] + (u - row * block - k) * lim + k
        i = indptr[u]
        while i < indptr[u + 1] and indices[i] < lim:
            tiles[base + indices[i] * strip] = data[i]
            i += 1


@njit
def fill_lists(indptr, indices, data, limits, band, cut, offsets, pad, bounds, columns, values, count_only):
    """The pairs (u, v) with v >= limits[u] >= u as lists (columns, values); a pair (u, u) with half its value.

    The list of row u = b * band + k in cut t goes from bounds[offsets[b] + t * band + k] to the next bound, padded
    to a multiple of `pad` by repeating its first column with value 0, which changes nothing.
    """
    n = indptr.size - 1
    if count_only:
        for u in range(n):
            b = u // band
            for i in range(indptr[u], indptr[u + 1]):
                if indices[i] >= limits[u]:
                    bounds[offsets[b] + cut[b, indices[i]] * band + u - b * band] += 1
        total = 0
        for i in range(bounds.size):
            c = bounds[i]
            bounds[i] = total
            total += (c + pad - 1) // pad * pad
        return total
    for u in range(n):
        b = u // band
        i = indptr[u]
        end = indptr[u + 1]
        while i < end and indices[i] < limits[u]:
            i += 1
        while i < end:
            t = cut[b, indices[i]]
            at = offsets[b] + t * band + u - b * band
            p = bounds[at]
            first = indices[i]
            while i < end and cut[b, indices[i]] == t:
                columns[p] = indices[i]
                values[p] = data[i] if indices[i] > u else data[i] / 2
                p += 1
                i += 1
            while p < bounds[at + 1]:
                columns[p] = first
                values[p] = 0
                p += 1
    return 0
