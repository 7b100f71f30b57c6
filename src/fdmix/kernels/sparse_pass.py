"""The pass of EM over the pairs once topics are sparse: each pair once, at the active topics of its rarer word.

The same sums as in `dense_pass`, but only what EM needs of them: P' H, and H alpha where P is not zero. Entries of
word u are topic ids and values from first[u] to first[u + 1], padded to fours by zeros. Index arrays are unsigned,
or numba would add a wrap-around test to every gather.
"""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit_fast as njit
from fdmix.kernels.logarithm import TINY, F, weighted_log

STRIP = 128  # words in a strip


@njit
def pack_rows(P, n, ptr, tid, val, count_only):
    """Active (topic, value) entries of each row, padded to fours by zero entries."""
    e = 0
    for u in range(P.shape[0]):
        ptr[u] = e
        if u < n:
            for t in range(P.shape[1]):
                if P[u, t] != 0:
                    if not count_only:
                        tid[e] = t
                        val[e] = P[u, t]
                    e += 1
            while e % 4:
                if not count_only:
                    tid[e] = 0
                    val[e] = 0
                e += 1
    ptr[P.shape[0]] = e
    return e


@njit
def pack_columns(ptr, tid, val, T, cptr, cuid, cval, count_only):
    """The same entries by topic (word, value), padded to fours."""
    fill = np.zeros(T, np.int64)
    if count_only:
        for e in range(tid.size):
            if val[e] != 0:
                fill[tid[e]] += 1
        total = 0
        for t in range(T):
            cptr[t] = total
            total += (fill[t] + 3) // 4 * 4
        cptr[T] = total
        return total
    fill[:] = cptr[:T]
    cuid[:] = 0
    cval[:] = 0
    for u in range(ptr.size - 1):
        for e in range(ptr[u], ptr[u + 1]):
            if val[e] != 0:
                p = fill[tid[e]]
                cuid[p] = u
                cval[p] = val[e]
                fill[tid[e]] = p + 1
    return 0


@njit
def combine(out, rows, ids, w, lo, hi):
    """out += sum_e w[e] rows[ids[e]], e = lo..hi, four rows at a time."""
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
def strip_affinity(u0, alpha, ptr, tid, pv, a, at):
    """a = A[u0:u0 + STRIP] = (P alpha) there, and at = a'."""
    T = alpha.shape[0]
    a[:] = 0
    for k in range(STRIP):
        combine(a[k], alpha, tid, pv, ptr[u0 + k], ptr[u0 + k + 1])
    for t0 in range(0, T, 8):
        for k in range(STRIP):
            for t in range(t0, t0 + 8):
                at[t, k] = a[k, t]


@njit
def strip_tiles(u0, width, x0, X, ptr, tid, pv, at, ht, part):
    """Pairs (u, v), u in the strip, v >= u0, in the dense tiles; returns their L.

    Topic-major strips at = A[strip]', ht = H[strip]': one active topic of v serves
    STRIP words.  A pair goes to both of its words:  ht += r P[v]  and, at the active
    topics of v only,  part[v] += sum_u r A[u].  The diagonal block holds each of
    its pairs twice, so its ratios are halved.
    """
    total = 0.0
    mant = np.empty(STRIP, np.uint32)
    mantf = mant.view(F)
    expo = np.empty(STRIP, F)
    m = np.empty(STRIP, F)
    r = np.empty(STRIP, F)
    bits = m.view(np.uint32)
    ht[:] = 0
    start = ptr[u0]
    for v in range(u0, width):
        x = X[x0 + v * STRIP : x0 + v * STRIP + STRIP]
        lo = ptr[v]
        hi = ptr[v + 1]
        for k in range(STRIP):
            m[k] = TINY
        combine(m, at, tid, pv, lo, hi)
        c = F(0.5) if v < u0 + STRIP else F(1)
        for k in range(STRIP):
            r[k] = c * x[k] / m[k]
        total += 2 * c * weighted_log(x, bits, mant, mantf, expo)
        for e in range(lo, hi):
            h = ht[tid[e]]
            b = at[tid[e]]
            w = pv[e]
            g = F(0)
            for k in range(STRIP):
                h[k] += w * r[k]
                g += r[k] * b[k]
            part[e - start] += g
    return total


@njit
def strip_lists(u0, a, ht, seg, col, val, alpha, ptr, tid, pv, H, part):
    """The same for the lists (v >= u; u itself with half its value), by gather/scatter on one row of A and H (in
    L1); then H[strip] is written and H alpha added to part at the strip's words."""
    T = alpha.shape[0]
    total = 0.0
    start = ptr[u0]
    for t0 in range(0, T, 8):
        for k in range(STRIP):
            for t in range(t0, t0 + 8):
                H[u0 + k, t] = ht[t, k]
    size = 0
    if seg.size > 1:
        for k in range(STRIP):
            size = max(size, seg[k + 1] - seg[k])
    ml = np.empty(size, F)
    bl = ml.view(np.uint32)
    mant = np.empty(size, np.uint32)
    mantf = mant.view(F)
    expo = np.empty(size, F)
    for k in range(STRIP):
        ak = a[k]
        h = H[u0 + k]
        if size > 0:
            s = seg[k]
            end = seg[k + 1]
            n = end - s
            for i in range(n):
                v = col[s + i]
                lo = ptr[v]
                hi = ptr[v + 1]
                m0 = m1 = m2 = m3 = F(0)
                for e in range(lo, hi, 4):
                    m0 += ak[tid[e]] * pv[e]
                    m1 += ak[tid[e + 1]] * pv[e + 1]
                    m2 += ak[tid[e + 2]] * pv[e + 2]
                    m3 += ak[tid[e + 3]] * pv[e + 3]
                m0 = max((m0 + m1) + (m2 + m3), TINY)
                ml[i] = m0
                q = val[s + i] / m0
                for e in range(lo, hi, 4):
                    for d in range(e, e + 4):
                        h[tid[d]] += q * pv[d]
                        part[d - start] += q * ak[tid[d]]
            total += 2 * weighted_log(val[s:end], bl[:n], mant, mantf, expo)
        for e in range(ptr[u0 + k], ptr[u0 + k + 1], 4):
            b0 = alpha[tid[e]]
            b1 = alpha[tid[e + 1]]
            b2 = alpha[tid[e + 2]]
            b3 = alpha[tid[e + 3]]
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
def topic_rows(t0, t1, C, H, cptr, cuid, cval):
    """C[t] = sum_u P[u, t] H[u] for t = t0..t1, from the entries by topic."""
    for t in range(t0, t1):
        C[t] = 0
        combine(C[t], H, cuid, cval, cptr[t], cptr[t + 1])


@njit
def sum_parts(begin, end, offsets, parts, lift):
    """Add the parts of several strips to lift[begin:end], in the strips' order.

    Part k begins at offsets[k, 0] in `parts`, with the entry offsets[k, 1] of `lift`.
    """
    for k in range(offsets.shape[0]):
        shift = offsets[k, 0] - offsets[k, 1]
        for e in range(max(begin, offsets[k, 1]), end):
            lift[e] += parts[shift + e]


@njit
def spread(ptr, tid, entries, begin, end, table):
    """table[u, tid[e]] = entries[e] for the words begin <= u < end; other places are left as they are."""
    for u in range(begin, end):
        for e in range(ptr[u], ptr[u + 1]):
            if e == ptr[u] or tid[e] > tid[e - 1]:  # padding repeats topic 0
                table[u, tid[e]] = entries[e]
