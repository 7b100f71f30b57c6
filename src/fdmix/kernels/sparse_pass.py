"""The pass of EM over the pairs once topics are sparse: each pair once, at the active topics of its rarer word.

The sums are those of `dense_pass`, limited to what EM needs: P' H, and H alpha where P is not zero. The active topics
of word u are topic[e] with P[u, topic[e]] = value[e] for first[u] <= e < first[u + 1], padded with zero values to a
multiple of four. Index arrays are unsigned, because numba adds a wrap-around test to every gather with signed ones.
"""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit_fast as njit
from fdmix.kernels.logarithm import TINY, F, weighted_log

STRIP = 128  # words in a strip: one active topic of a partner serves all of them in one vector operation


@njit
def active_by_word(P, n, first, topic, value, count_only):
    """List the non-zero entries of each row u < n of P; returns the length of the lists, padding included.

    count_only : fill `first` only
    """
    e = 0
    for u in range(P.shape[0]):
        first[u] = e
        if u < n:
            for t in range(P.shape[1]):
                if P[u, t] != 0:
                    if not count_only:
                        topic[e] = t
                        value[e] = P[u, t]
                    e += 1
            while e % 4:
                if not count_only:
                    topic[e] = 0
                    value[e] = 0
                e += 1
    first[P.shape[0]] = e
    return e


@njit
def active_by_topic(first, topic, value, T, topic_first, word, topic_value, count_only):
    """List the same entries by topic, as (word, value), padded in the same way.

    count_only : fill `topic_first` only, and return the length of the lists
    """
    fill = np.zeros(T, np.int64)
    if count_only:
        for e in range(topic.size):
            if value[e] != 0:
                fill[topic[e]] += 1
        total = 0
        for t in range(T):
            topic_first[t] = total
            total += (fill[t] + 3) // 4 * 4
        topic_first[T] = total
        return total
    for t in range(T):
        fill[t] = topic_first[t]
    word[:] = 0
    topic_value[:] = 0
    for u in range(first.size - 1):
        for e in range(first[u], first[u + 1]):
            if value[e] != 0:
                p = fill[topic[e]]
                word[p] = u
                topic_value[p] = value[e]
                fill[topic[e]] = p + 1
    return 0


@njit
def add_weighted_rows(out, rows, ids, w, lo, hi):
    """out += sum_e w[e] rows[ids[e]] for lo <= e < hi, four rows at a time."""
    for e in range(lo, hi, 4):
        a0 = rows[ids[e]]
        a1 = rows[ids[e + 1]]
        a2 = rows[ids[e + 2]]
        a3 = rows[ids[e + 3]]
        w0 = w[e]
        w1 = w[e + 1]
        w2 = w[e + 2]
        w3 = w[e + 3]
        for k in range(out.size):
            out[k] += w0 * a0[k] + w1 * a1[k] + w2 * a2[k] + w3 * a3[k]


@njit
def strip_times_alpha(u0, alpha, first, topic, value, a, at):
    """a = A[u0 : u0 + STRIP] with A = P alpha, and at = a'."""
    T = alpha.shape[0]
    a[:] = 0
    for k in range(STRIP):
        add_weighted_rows(a[k], alpha, topic, value, first[u0 + k], first[u0 + k + 1])
    for t0 in range(0, T, 8):
        for k in range(STRIP):
            for t in range(t0, t0 + 8):
                at[t, k] = a[k, t]


@njit
def strip_tiles(u0, width, x0, X, first, topic, value, at, ht, part):
    """Add the pairs (u, v) of the dense tiles, u in the strip and v >= u0, to both words; returns their part of L.

    ht[:, u] += r P[v], and at the active topics of v only: part[v] += sum_u r A[u], where r = Mhat[u, v] / M[u, v].

    at = A[strip]' and ht = H[strip]' are topic-major, so that one active topic of v serves STRIP words. The diagonal
    block holds each of its pairs twice, so its ratios are halved.
    """
    total = 0.0
    mant = np.empty(STRIP, np.uint32)
    mantf = mant.view(F)
    expo = np.empty(STRIP, F)
    m = np.empty(STRIP, F)
    r = np.empty(STRIP, F)
    bits = m.view(np.uint32)
    ht[:] = 0
    start = first[u0]
    for v in range(u0, width):
        x = X[x0 + v * STRIP : x0 + v * STRIP + STRIP]
        lo = first[v]
        hi = first[v + 1]
        for k in range(STRIP):
            m[k] = TINY
        add_weighted_rows(m, at, topic, value, lo, hi)
        c = F(0.5) if v < u0 + STRIP else F(1)
        for k in range(STRIP):
            r[k] = c * x[k] / m[k]
        total += 2 * c * weighted_log(x, bits, mant, mantf, expo)
        for e in range(lo, hi):
            h = ht[topic[e]]
            b = at[topic[e]]
            w = value[e]
            g = F(0)
            for k in range(STRIP):
                h[k] += w * r[k]
                g += r[k] * b[k]
            part[e - start] += g
    return total


@njit
def strip_lists(u0, a, ht, bounds, columns, values, alpha, first, topic, value, H, part):
    """Add the listed pairs (u, v), v >= u, like `strip_tiles`, and finish the strip; returns their part of L.

    A pair (u, u) is listed with half its value. Each word gathers from its row of A and scatters into its row of H,
    both of which stay in the L1 cache. Then H alpha of the strip's words is added to `part`.
    """
    T = alpha.shape[0]
    total = 0.0
    start = first[u0]
    for t0 in range(0, T, 8):
        for k in range(STRIP):
            for t in range(t0, t0 + 8):
                H[u0 + k, t] = ht[t, k]
    size = 0
    if bounds.size > 1:
        for k in range(STRIP):
            size = max(size, bounds[k + 1] - bounds[k])
    ml = np.empty(size, F)
    bl = ml.view(np.uint32)
    mant = np.empty(size, np.uint32)
    mantf = mant.view(F)
    expo = np.empty(size, F)
    for k in range(STRIP):
        ak = a[k]
        h = H[u0 + k]
        if size > 0:
            s = bounds[k]
            end = bounds[k + 1]
            n = end - s
            for i in range(n):
                v = columns[s + i]
                lo = first[v]
                hi = first[v + 1]
                m0 = m1 = m2 = m3 = F(0)
                for e in range(lo, hi, 4):
                    m0 += ak[topic[e]] * value[e]
                    m1 += ak[topic[e + 1]] * value[e + 1]
                    m2 += ak[topic[e + 2]] * value[e + 2]
                    m3 += ak[topic[e + 3]] * value[e + 3]
                m0 = max((m0 + m1) + (m2 + m3), TINY)
                ml[i] = m0
                q = values[s + i] / m0
                for e in range(lo, hi, 4):
                    for d in range(e, e + 4):
                        h[topic[d]] += q * value[d]
                        part[d - start] += q * ak[topic[d]]
            total += 2 * weighted_log(values[s:end], bl[:n], mant, mantf, expo)
        for e in range(first[u0 + k], first[u0 + k + 1], 4):
            b0 = alpha[topic[e]]
            b1 = alpha[topic[e + 1]]
            b2 = alpha[topic[e + 2]]
            b3 = alpha[topic[e + 3]]
            g0 = g1 = g2 = g3 = F(0)
            for t in range(T):
                g0 += h[t] * b0[t]
                g1 += h[t] * b1[t]
                g2 += h[t] * b2[t]
                g3 += h[t] * b3[t]
            part[e - start] += g0
            part[e + 1 - start] += g1
            part[e + 2 - start] += g2
            part[e + 3 - start] += g3
    return total


@njit
def joint_rows(t0, t1, C, H, topic_first, word, topic_value):
    """C[t] = sum_u P[u, t] H[u], the rows t0 <= t < t1 of P' H, from the entries by topic."""
    for t in range(t0, t1):
        C[t] = 0
        add_weighted_rows(C[t], H, word, topic_value, topic_first[t], topic_first[t + 1])


@njit
def sum_parts(begin, end, offsets, parts, sums):
    """sums[e] += the parts of all strips for the entry e, begin <= e < end, in the strips' order.

    Part k begins at offsets[k, 0] in `parts`, with the entry offsets[k, 1] of `sums`.
    """
    for k in range(offsets.shape[0]):
        shift = offsets[k, 0] - offsets[k, 1]
        for e in range(max(begin, offsets[k, 1]), end):
            sums[e] += parts[shift + e]


@njit
def scatter(first, topic, entries, begin, end, table):
    """table[u, topic[e]] = entries[e] for the words begin <= u < end; other places keep their values."""
    for u in range(begin, end):
        for e in range(first[u], first[u + 1]):
            if e == first[u] or topic[e] > topic[e - 1]:  # padding repeats topic 0
                table[u, topic[e]] = entries[e]
