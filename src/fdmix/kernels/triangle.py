"""Mhat read from whole-number pair sums: scale (S - part), both lower triangles (v <= u) in CSR.

`part` holds the sums of documents to leave out; it has no entries if all are wanted. Nothing is stored but what a
caller asks for: rows, blocks, or the entries in another order of words.
"""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit
from fdmix.kernels.pair_sums import BLOCK_BITS, take_row


@njit
def load_row(u, low, high, first, columns, sums, part_first, part_columns, part_sums, scale, out_columns, out_values):
    """Row u of the triangle, low <= v < high, into out_columns and out_values; returns the number of entries."""
    i, i_end = first[u], first[u + 1]
    j, j_end = part_first[u], part_first[u + 1]
    if low > 0:
        i += np.searchsorted(columns[i:i_end], low)
        j += np.searchsorted(part_columns[j:j_end], low)
    k = 0
    while i < i_end and columns[i] < high:
        v = columns[i]
        value = sums[i]
        while j < j_end and part_columns[j] < v:
            j += 1
        if j < j_end and part_columns[j] == v:
            value -= part_sums[j]
        if value > 0:
            out_columns[k] = v
            out_values[k] = value * scale
            k += 1
        i += 1
    return k


@njit
def check_part(rows, first, columns, sums, part_first, part_columns, part_sums):
    """Whether no entry of the part exceeds the one of the whole, in the rows (begin, end)."""
    for u in range(rows[0], rows[1]):
        i, i_end = first[u], first[u + 1]
        for j in range(part_first[u], part_first[u + 1]):
            while i < i_end and columns[i] < part_columns[j]:
                i += 1
            if i == i_end or columns[i] != part_columns[j] or sums[i] < part_sums[j]:
                return False
    return True


@njit
def full_row_lengths(rows, words, place, first, columns, sums, part_first, part_columns, part_sums, lengths):
    """lengths[i] += the number of entries of row words[i] of the full symmetric matrix, for ascending words.

    Only those that are stored in the rows (begin, end) of the triangle. place[v] is where word v is among the words,
    or -1.
    """
    n_words = first.size - 1
    row_columns, row_values = np.empty(n_words, np.int32), np.empty(n_words)
    low, high = words[0], words[-1] + 1
    for u in range(max(low, rows[0]), rows[1]):
        own = place[u]
        begin, end = (low, high) if own < 0 else (0, n_words)
        n = load_row(
            u, begin, end, first, columns, sums, part_first, part_columns, part_sums, 1.0, row_columns, row_values
        )
        if own >= 0:
            lengths[own] += n
        for k in range(n):
            v = row_columns[k]
            if place[v] >= 0 and v != u:
                lengths[place[v]] += 1


@njit
def full_rows(
    rows, words, place, first, columns, sums, part_first, part_columns, part_sums, scale, free, full_columns,
    full_values,
):  # fmt: skip
    """The rows that `full_row_lengths` counted; free[i] is where the next entry of words[i] goes.

    Row u of the full matrix is the triangle's row u (v <= u), followed by its column u (rows below u).
    """
    n_words = first.size - 1
    row_columns, row_values = np.empty(n_words, np.int32), np.empty(n_words)
    low, high = words[0], words[-1] + 1
    for u in range(max(low, rows[0]), rows[1]):
        own = place[u]
        begin, end = (low, high) if own < 0 else (0, n_words)
        n = load_row(
            u, begin, end, first, columns, sums, part_first, part_columns, part_sums, scale, row_columns, row_values
        )
        if own >= 0:
            at = free[own]
            for k in range(n):
                full_columns[at + k] = row_columns[k]
                full_values[at + k] = row_values[k]
            free[own] = at + n
        for k in range(n):
            v = row_columns[k]
            if place[v] >= 0 and v != u:
                at = free[place[v]]
                full_columns[at] = u
                full_values[at] = row_values[k]
                free[place[v]] = at + 1


@njit
def dense_block(words, first, columns, sums, part_first, part_columns, part_sums, scale):
    """block[i, j] = Mhat[words[i], words[j]] for ascending words."""
    n_words = first.size - 1
    place = np.full(n_words, -1, np.int64)
    for i in range(words.size):
        place[words[i]] = i
    row_columns, row_values = np.empty(n_words, np.int32), np.empty(n_words)
    block = np.zeros((words.size, words.size))
    for i in range(words.size):
        n = load_row(
            words[i], words[0], words[i] + 1, first, columns, sums, part_first, part_columns, part_sums, scale,
            row_columns, row_values,
        )  # fmt: skip
        for k in range(n):
            j = place[row_columns[k]]
            if j >= 0:
                block[i, j] = row_values[k]
                block[j, i] = row_values[k]
    return block


@njit
def look_up(left, right, first, columns, sums, part_first, part_columns, part_sums, scale, found):
    """found[k] = Mhat[left[k], right[k]]."""
    one_column, one_value = np.empty(1, np.int32), np.empty(1)
    for k in range(left.size):
        u, v = max(left[k], right[k]), min(left[k], right[k])
        n = load_row(
            u, v, v + 1, first, columns, sums, part_first, part_columns, part_sums, scale, one_column, one_value
        )
        found[k] = one_value[0] if n else 0.0


@njit
def count_ordered(rows, position, block, first, columns, sums, part_first, part_columns, part_sums, lengths, counts):
    """Count the entries of the rows (begin, end) in another order of words: word u goes to position[u].

    lengths[p] += entries (p, q), q >= p; counts[I, J] += entries of the full symmetric matrix in blocks of words.
    """
    n_words = first.size - 1
    row_columns, row_values = np.empty(n_words, np.int32), np.empty(n_words)
    for u in range(rows[0], rows[1]):
        n = load_row(
            u, 0, n_words, first, columns, sums, part_first, part_columns, part_sums, 1.0, row_columns, row_values
        )
        for k in range(n):
            p, q = position[u], position[row_columns[k]]
            lengths[min(p, q)] += 1
            counts[p // block, q // block] += 1
            if p != q:
                counts[q // block, p // block] += 1


@njit
def gather_ordered(
    rows, position, begin, end, first, columns, sums, part_first, part_columns, part_sums, scale, free, out_columns,
    out_values,
):  # fmt: skip
    """The entries (p, q), begin <= p < end and q >= p, in another order of words, row by row but not sorted.

    free[p - begin] is where the next entry of row p goes.
    """
    n_words = first.size - 1
    row_columns, row_values = np.empty(n_words, np.int32), np.empty(n_words)
    for u in range(rows[0], rows[1]):
        own = position[u]
        if own < begin:
            continue  # the smaller of its position and another one is below `begin`, too
        n = load_row(
            u, 0, n_words, first, columns, sums, part_first, part_columns, part_sums, scale, row_columns, row_values
        )
        for k in range(n):
            other = position[row_columns[k]]
            p, q = min(own, other), max(own, other)
            if begin <= p < end:
                at = free[p - begin]
                out_columns[at] = q
                out_values[at] = row_values[k]
                free[p - begin] = at + 1


@njit
def count_ordered_matrix(position, block, indptr, indices, lengths, counts):
    """`count_ordered` for a full symmetric matrix in CSR."""
    for u in range(indptr.size - 1):
        p = position[u]
        for i in range(indptr[u], indptr[u + 1]):
            q = position[indices[i]]
            counts[p // block, q // block] += 1
            if q >= p:
                lengths[p] += 1


@njit
def gather_ordered_matrix(position, begin, end, indptr, indices, data, free, out_columns, out_values):
    """`gather_ordered` for a full symmetric matrix in CSR."""
    for u in range(indptr.size - 1):
        p = position[u]
        if begin <= p < end:
            for i in range(indptr[u], indptr[u + 1]):
                q = position[indices[i]]
                if q >= p:
                    at = free[p - begin]
                    out_columns[at] = q
                    out_values[at] = data[i]
                    free[p - begin] = at + 1


@njit
def sort_rows(begin, end, n_words, first, columns, values):
    """Sort the rows begin <= p < end by column, in place: distinct columns, positive values."""
    row = np.zeros(n_words, values.dtype)
    touched = np.zeros((n_words >> BLOCK_BITS) + 1, np.uint8)
    for p in range(begin, end):
        i, i_end = first[p], first[p + 1]
        for k in range(i, i_end):
            row[columns[k]] = values[k]
            touched[columns[k] >> BLOCK_BITS] = 1
        take_row(n_words, row, touched, columns, values, i)
