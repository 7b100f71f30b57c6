"""Cut a sparse symmetric matrix into dense tiles and lists of pairs, for `fdmix.engines.tiling`."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit


@njit
def count_blocks(indptr, indices, block, n_blocks):
    """counts[I, J] = the number of stored pairs (u, v) with u in block I and v in block J."""
    counts = np.zeros((n_blocks, n_blocks), np.int64)
    for u in range(indptr.size - 1):
        for i in range(indptr[u], indptr[u + 1]):
            counts[u // block, indices[i] // block] += 1
    return counts


@njit
def cut_columns(rows, indptr, indices, limits, stride, W, per_row, cut, first):
    """Cut the columns of a band of rows (begin, end) into ranges: column v belongs to cut number cut[v].

    A cut ends at every multiple of `stride`. In between, it ends once it has at least W columns, whose rows of P fit
    into the L2 cache, and on average at least per_row pairs a row: with fewer, the rows of A and H would be fetched
    for a few pairs only. first[k] is the first cut of the columns from k * stride on; the last entry is the number of
    cuts.
    """
    begin, end = rows
    n = indptr.size - 1
    counts = np.zeros(n, np.int64)
    for u in range(begin, end):
        for i in range(indptr[u], indptr[u + 1]):
            if indices[i] >= limits[u]:
                counts[indices[i]] += 1
    t = 0
    width = 0
    filled = 0
    for v in range(n):
        if width > 0 and (v % stride == 0 or (width >= W and filled >= per_row * (end - begin))):
            t += 1
            width = 0
            filled = 0
        if v % stride == 0:
            first[v // stride] = t
        cut[v] = t
        width += 1
        filled += counts[v]
    first[first.size - 1] = t + 1


@njit
def fill_tiles(indptr, indices, data, block, strip, widths, offsets, tiles):
    """Fill the dense tiles. A row panel is a sequence of strips of `strip` rows u; within a strip, u varies fastest.

    With strip = 1 a panel is row-major.
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
def count_lists(rows, band, indptr, indices, limits, cut, counts):
    """counts[t * band + k] = the number of pairs (u, v), v >= limits[u], of row u = begin + k in cut t."""
    begin, end = rows
    for u in range(begin, end):
        for i in range(indptr[u], indptr[u + 1]):
            if indices[i] >= limits[u]:
                counts[cut[indices[i]] * band + u - begin] += 1


@njit
def fill_lists(rows, band, indptr, indices, data, limits, cut, bounds, columns, values):
    """List the pairs (u, v) with v >= limits[u] >= u as (columns, values); a pair (u, u) gets half its value.

    The list of row u = begin + k in cut t goes from bounds[t * band + k] to the next bound. It is padded with its
    first column and the value 0, which adds nothing to any sum.
    """
    begin, end = rows
    for u in range(begin, end):
        i = indptr[u]
        last = indptr[u + 1]
        while i < last and indices[i] < limits[u]:
            i += 1
        while i < last:
            t = cut[indices[i]]
            at = t * band + u - begin
            p = bounds[at]
            first = indices[i]
            while i < last and cut[indices[i]] == t:
                columns[p] = indices[i]
                values[p] = data[i] if indices[i] > u else data[i] / 2
                p += 1
                i += 1
            while p < bounds[at + 1]:
                columns[p] = first
                values[p] = 0
                p += 1
