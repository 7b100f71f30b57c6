"""Counting pairs of words, and the lower triangle (v <= u) of the symmetric int64 matrix of their sums, in CSR."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit
from fdmix.kernels.prefetch import prefetch

AHEAD = 12  # documents that prefetching looks ahead; 8 to 16 are equally fast (docs/evidence/performance.md)
BLOCK_BITS = 6  # accumulators are scanned in blocks of 2^6 columns, and only in blocks to which something was added


@njit
def row_sums(indptr, data, sums):
    """sums[d] = the sum of row d."""
    for d in range(indptr.size - 1):
        total = np.int64(0)
        for place in range(indptr[d], indptr[d + 1]):
            total += data[place]
        sums[d] = total


@njit
def add_word_counts(indptr, indices, counts, copies, word_counts, frequencies):
    """word_counts[u] += sum_d copies_d c_d(u) and frequencies[u] += sum_d copies_d [c_d(u) > 0]."""
    for d in range(indptr.size - 1):
        for place in range(indptr[d], indptr[d + 1]):
            word_counts[indices[place]] += copies[d] * counts[place]
            frequencies[indices[place]] += copies[d]


@njit
def pack_documents(begin, end, indptr, indices, counts, weight, count_bits, heading, packed, frequencies):
    """Write each document begin <= d < end as a run of integers: its weight, then word << count_bits | count.

    The weight precedes the words because both are needed at the same time: one cache miss instead of three. It takes
    `heading` integers, 1 or 2, with the low half first. Also frequencies[u] += the number of documents with word u.
    """
    bits = packed.dtype.type(count_bits)
    for d in range(begin, end):
        base = indptr[d] + heading * d
        if heading == 2:
            packed[base] = weight[d] & 0xFFFFFFFF
            packed[base + 1] = weight[d] >> 32
        else:
            packed[base] = weight[d]
        for place in range(indptr[d], indptr[d + 1]):
            word = packed.dtype.type(indices[place])
            packed[base + heading + place - indptr[d]] = (word << bits) | packed.dtype.type(counts[place])
            frequencies[indices[place]] += 1


@njit
def fill_inverted_index(begin, end, indptr, indices, first_word, last_word, heading, free, where):
    """where[j] = (start of the document, place of the word in it) for the words first_word <= u < last_word.

    free[u] is the next free place of word u in `where`. The documents of a word stay in order.
    """
    for d in range(begin, end):
        base = indptr[d] + heading * d
        for place in range(indptr[d], indptr[d + 1]):
            if first_word <= indices[place] < last_word:
                j = free[indices[place]]
                where[j, 0] = base
                where[j, 1] = base + heading + place - indptr[d]
                free[indices[place]] = j + 1


@njit
def take_row(end, accumulator, touched, columns, values, k):
    """Move the entries of columns v < end that are not zero from the accumulator to columns and values, from k on.

    They are in order. Returns the next free k; `accumulator` and `touched` are zeros afterwards.
    """
    for block in range(((end - 1) >> BLOCK_BITS) + 1):
        if touched[block]:
            touched[block] = 0
            for v in range(block << BLOCK_BITS, min(end, (block + 1) << BLOCK_BITS)):
                if accumulator[v] != 0:
                    columns[k] = v
                    values[k] = accumulator[v]
                    accumulator[v] = 0
                    k += 1
    return k


@njit
def count_rows(begin, end, first, where, packed, count_bits, heading, accumulator, touched, columns, sums):
    """The rows begin <= u < end of the pair sums: sum_d w_d c_d(u) (c_d(v) - [u = v]) for v <= u.

    A packed document is sorted by word, so that the partners v < u of u are the entries before its own. The non-zero
    sums go to `columns` and `sums`; returns their number in each row. `accumulator` and `touched` are zeros before
    and after the call.
    """
    mask = (np.int64(1) << count_bits) - 1
    entries = np.zeros(end - begin, np.int64)
    last = first[end] - 1
    k = 0
    for u in range(begin, end):
        if first[u] == first[u + 1]:
            continue
        for j in range(first[u], first[u + 1]):
            ahead = min(j + AHEAD, last)
            prefetch(packed, np.int64(where[ahead, 0]))
            prefetch(packed, np.int64(where[ahead, 1]))
            base = where[j, 0]
            own = where[j, 1]
            weight = np.int64(packed[base])
            if heading == 2:
                weight |= np.int64(packed[base + 1]) << 32
            c = np.int64(packed[own]) & mask
            factor = weight * c
            for place in range(base + heading, own):
                entry = np.uint64(packed[place])
                v = entry >> np.uint64(count_bits)
                accumulator[v] += factor * (np.int64(entry) & mask)
                touched[v >> np.uint64(BLOCK_BITS)] = 1
            accumulator[u] += factor * (c - 1)
            touched[u >> BLOCK_BITS] = 1
        before = k
        k = take_row(u + 1, accumulator, touched, columns, sums, k)
        entries[u - begin] = k - before
    return entries


@njit
def combine_rows(begin, end, a_first, a_columns, a_sums, b_first, b_columns, b_sums, sign, columns, sums):
    """a + sign b for the rows begin <= u < end; zeros are not stored.

    Returns (entries in each row, whether no sum is negative). A negative sum is impossible for documents: either b
    was not part of a, or two int64 overflowed.
    """
    entries = np.zeros(end - begin, np.int64)
    possible = True
    k = 0
    for u in range(begin, end):
        i, i_end = a_first[u], a_first[u + 1]
        j, j_end = b_first[u], b_first[u + 1]
        before = k
        while i < i_end or j < j_end:
            if j == j_end or (i < i_end and a_columns[i] < b_columns[j]):
                column, value = a_columns[i], a_sums[i]
                i += 1
            elif i == i_end or b_columns[j] < a_columns[i]:
                column, value = b_columns[j], sign * b_sums[j]
                j += 1
            else:
                column, value = a_columns[i], a_sums[i] + sign * b_sums[j]
                i += 1
                j += 1
            if value != 0:
                possible &= value > 0
                columns[k] = column
                sums[k] = value
                k += 1
        entries[u - begin] = k - before
    return entries, possible


@njit
def sum_rows(begin, end, first, columns, sums, accumulator, touched, out_columns, out_sums):
    """The sum of several parts for the rows begin <= u < end; returns (entries in each row, whether none overflowed).

    Row u of part k is columns[first[k, u - begin] : first[k, u - begin + 1]]. `accumulator` and `touched` are zeros
    before and after the call.
    """
    entries = np.zeros(end - begin, np.int64)
    possible = True
    n = 0
    for u in range(begin, end):
        before = n
        for k in range(first.shape[0]):
            for i in range(first[k, u - begin], first[k, u - begin + 1]):
                v = columns[i]
                accumulator[v] += sums[i]
                possible &= accumulator[v] > 0  # two positive int64 overflow to a negative one
                touched[v >> BLOCK_BITS] = 1
        n = take_row(u + 1, accumulator, touched, out_columns, out_sums, n)
        entries[u - begin] = n - before
    return entries, possible


@njit
def rename_rows(begin, end, first, columns, sums, target, out_columns, out_sums):
    """The rows begin <= u < end without the words whose target is -1; returns the entries that each row keeps."""
    entries = np.zeros(end - begin, np.int64)
    n = 0
    for u in range(begin, end):
        if target[u] < 0:
            continue
        before = n
        for k in range(first[u], first[u + 1]):
            if target[columns[k]] >= 0:
                out_columns[n] = target[columns[k]]
                out_sums[n] = sums[k]
                n += 1
        entries[u - begin] = n - before
    return entries


@njit
def add_weights(begin, end, first, columns, sums, low, step, weights):
    """weights[k] += the sums of the rows begin <= u < end, with their mirror images, that are k steps above `low`."""
    for u in range(begin, end):
        for k in range(first[u], first[u + 1]):
            bin_ = (sums[k] - low) // step
            if sums[k] >= low and bin_ < weights.size:
                weights[bin_] += float(sums[k]) if columns[k] == u else 2.0 * sums[k]


@njit
def keep_where(
    begin, end, first, columns, sums, whole_first, whole_columns, whole_sums, least, out_columns, out_sums
):
    """The entries of the rows begin <= u < end whose sum in the whole is at least `least`; returns their numbers."""
    entries = np.zeros(end - begin, np.int64)
    n = 0
    for u in range(begin, end):
        before = n
        j, j_end = whole_first[u], whole_first[u + 1]
        for k in range(first[u], first[u + 1]):
            while j < j_end and whole_columns[j] < columns[k]:
                j += 1
            if j < j_end and whole_columns[j] == columns[k] and whole_sums[j] >= least:
                out_columns[n] = columns[k]
                out_sums[n] = sums[k]
                n += 1
        entries[u - begin] = n - before
    return entries


@njit
def symmetric_row_sums(begin, end, first, columns, sums, own, mirrored):
    """own[u] += sum_{v <= u} S[u, v] and mirrored[v] += sum_{u > v} S[u, v] for begin <= u < end, in floats."""
    for u in range(begin, end):
        for k in range(first[u], first[u + 1]):
            value = float(sums[k])
            own[u] += value
            if columns[k] != u:
                mirrored[columns[k]] += value


@njit
def halves_of_total(begin, end, first, columns, sums):
    """(high, low): rows begin <= u < end and their mirror images sum to 2^32 high + low. Neither can overflow."""
    high = low = np.int64(0)
    for u in range(begin, end):
        for k in range(first[u], first[u + 1]):
            times = 1 if columns[k] == u else 2
            high += times * (sums[k] >> 32)
            low += times * (sums[k] & 0xFFFFFFFF)
        high += low >> 32
        low &= 0xFFFFFFFF
    return high, low


@njit
def mirrored_lengths(first, columns):
    """The number of entries in each row of the full symmetric matrix."""
    n_words = first.size - 1
    lengths = np.zeros(n_words, np.int64)
    for u in range(n_words):
        lengths[u] += first[u + 1] - first[u]
        for k in range(first[u], first[u + 1]):
            if columns[k] != u:
                lengths[columns[k]] += 1
    return lengths


@njit
def mirror(first, columns, sums, scale, low, high, full_first, full_columns, full_values):
    """The rows low <= u < high of the full symmetric matrix, times `scale`, from its lower triangle.

    Row u of the full matrix is the triangle's row u (v <= u), followed by its column u (rows below u).
    """
    n_words = first.size - 1
    free = np.empty(high - low, np.int64)
    for u in range(low, high):
        k = full_first[u]
        for i in range(first[u], first[u + 1]):
            full_columns[k] = columns[i]
            full_values[k] = sums[i] * scale
            k += 1
        free[u - low] = k
    for u in range(low, n_words):
        begin = first[u] + np.searchsorted(columns[first[u] : first[u + 1]], low)
        for i in range(begin, first[u + 1]):
            v = columns[i]
            if v >= high or v == u:
                break
            k = free[v - low]
            full_columns[k] = u
            full_values[k] = sums[i] * scale
            free[v - low] = k + 1


@njit
def is_triangle(begin, end, first, columns, sums):
    """Whether the rows begin <= u < end are those of a lower triangle: sorted, distinct columns and positive sums."""
    for u in range(begin, end):
        if first[u] < 0 or first[u + 1] < first[u] or first[u + 1] > columns.size:
            return False
        previous = -1
        for k in range(first[u], first[u + 1]):
            if columns[k] <= previous or columns[k] > u or sums[k] <= 0:
                return False
            previous = columns[k]
    return True
