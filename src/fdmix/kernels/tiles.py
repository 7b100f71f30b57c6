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
def cut_columns(rows, offset, first, columns, limits, stride, W, per_row, cut, first_cut):
    """Cut the columns of a band of rows (begin, end) into ranges: column v belongs to cut number cut[v].

    A cut ends at every multiple of `stride`. In between, it ends once it has at least W columns, whose rows of P fit
    into the L2 cache, and on average at least per_row pairs a row: with fewer, the rows of A and H would be fetched
    for a few pairs only. first_cut[k] is the first cut of the columns from k * stride on; the last entry is the
    number of cuts.

    Here and below, row u is columns[first[u - offset] : first[u - offset + 1]], with columns v >= u.
    """
    begin, end = rows
    n = limits.size
    counts = np.zeros(n, np.int64)
    for u in range(begin, end):
        for i in range(first[u - offset], first[u - offset + 1]):
            if columns[i] >= limits[u]:
                counts[columns[i]] += 1
    t = 0
    width = 0
    filled = 0
    for v in range(n):
        if width > 0 and (v % stride == 0 or (width >= W and filled >= per_row * (end - begin))):
            t += 1
            width = 0
            filled = 0
        if v % stride == 0:
            first_cut[v // stride] = t
        cut[v] = t
        width += 1
        filled += counts[v]
    first_cut[first_cut.size - 1] = t + 1


@njit
def fill_tiles(rows, offset, first, columns, values, block, strip, widths, offsets, tiles):
    """Fill the dense tiles on and above the diagonal with rows (begin, end).

    Row panel I begins with column I * block. It is a sequence of strips of `strip` rows u; within a strip, u varies
    fastest. With strip = 1 a panel is row-major. The tiles on the diagonal hold both halves of their pairs.
    """
    begin, end = rows
    for u in range(begin, end):
        panel = u // block
        left = panel * block
        width = widths[panel] * block - left
        k = (u - left) % strip
        base = offsets[panel] + (u - left - k) * width + k
        i = first[u - offset]
        while i < first[u - offset + 1] and columns[i] < left + width:
            v = np.int64(columns[i]) - left
            tiles[base + v * strip] = values[i]
            if v < block:
                j = v % strip
                tiles[offsets[panel] + (v - j) * width + j + (u - left) * strip] = values[i]
            i += 1


@njit
def count_lists(rows, band, offset, first, columns, limits, cut, counts):
    """counts[t * band + k] = the number of pairs (u, v), v >= limits[u], of row u = begin + k in cut t."""
    begin, end = rows
    for u in range(begin, end):
        for i in range(first[u - offset], first[u - offset + 1]):
            if columns[i] >= limits[u]:
                counts[cut[columns[i]] * band + u - begin] += 1


@njit
def fill_lists(rows, band, offset, first, columns, values, limits, cut, bounds, listed_columns, listed_values):
    """List the pairs (u, v) with v >= limits[u] >= u; a pair (u, u) gets half its value.

    The list of row u = begin + k in cut t goes from bounds[t * band + k] to the next bound. It is padded with its
    first column and the value 0, which adds nothing to any sum.
    """
    begin, end = rows
    for u in range(begin, end):
        i = first[u - offset]
        last = first[u - offset + 1]
        while i < last and columns[i] < limits[u]:
            i += 1
        while i < last:
            t = cut[columns[i]]
            at = t * band + u - begin
            p = bounds[at]
            leading = columns[i]
            while i < last and cut[columns[i]] == t:
                listed_columns[p] = columns[i]
                listed_values[p] = values[i] if columns[i] > u else values[i] / 2
                p += 1
                i += 1
            while p < bounds[at + 1]:
                listed_columns[p] = leading
                listed_values[p] = 0
                p += 1
