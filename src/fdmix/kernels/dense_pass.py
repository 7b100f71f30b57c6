"""The pass of EM over the pairs while topics are dense: float32 loops, likelihoods in float64.

With P[u, t] = mu_t(u), A = P alpha and M[u, v] = A[u] . P[v], a pass computes over the stored pairs

    r = Mhat[u, v] / M[u, v],     H[u] += r P[v],     L += Mhat[u, v] log M[u, v].

Traps met, all measured: with full fastmath LLVM rewrites (x / m) * p[k] as (x * p[k]) * (1 / m) inside the loop and
doubles the work, so ratios go through a small array before they are used; rows must be a multiple of 8 floats and
aligned to 64 bytes.
"""

from __future__ import annotations

import numpy as np

from fdmix.kernels.logarithm import TINY, F, njit, weighted_log


@njit
def ratio_tile(X, R, c, M, bits, Rt, ct, mirror):
    """R = X / M and Rt = R' for one tile; returns sum X log M.

    X, R are row panels with the tile at column c, Rt the panel of the mirror tile
    at column ct.  (Panels and offsets, not slices: numba takes a slice for an
    array of unknown inner stride and does not vectorise.)  bits: M as uint32.
    """
    n, w = M.shape
    mant = np.empty(w, np.uint32)
    mantf = mant.view(F)
    expo = np.empty(w, F)
    total = 0.0
    for i0 in range(0, n, 8):
        for i in range(i0, i0 + 8):
            x = X[i, c : c + w]
            m = M[i]
            r = R[i, c : c + w]
            for j in range(w):
                m[j] = max(m[j], TINY)
            for j in range(w):
                r[j] = x[j] / m[j]
            total += weighted_log(x, bits[i], mant, mantf, expo)
        if mirror:
            for j in range(w):
                for i in range(8):
                    Rt[j, ct + i0 + i] = R[i0 + i, c + j]
    return total


@njit
def lists_dense(u0, B, A, P, H, seg, col, val):
    """H[u] += sum_v r P[v] over the lists of B rows from u0; returns their part of L.

    Four pairs of one row u at a time.  The inner loop is software-pipelined: it
    adds the *previous* group (rows p of P, now in L1, ratios r) to its row of H
    while it takes the dots of the *next* group (rows q of P, coming from L2), so
    that the loads of q hide behind the arithmetic of p.
    """
    T = P.shape[1]
    size = 0
    for t in range(0, seg.size - 1, B):
        size = max(size, seg[t + B] - seg[t])
    m = np.empty(size, F)
    bits = m.view(np.uint32)
    mant = np.empty(m.size, np.uint32)
    mantf = mant.view(F)
    expo = np.empty(m.size, F)
    r = np.empty(4, F)
    total = 0.0
    for t in range(0, seg.size - 1, B):
        s = seg[t]
        e = seg[t + B]
        if s == e:
            continue
        w = t  # the row being read is u0 + w - t
        while seg[w + 1] == s:
            w += 1
        h = H[u0 + w - t]
        p0 = P[col[s]]
        p1 = P[col[s + 1]]
        p2 = P[col[s + 2]]
        p3 = P[col[s + 3]]
        r[:] = 0  # nothing before the first group
        for i in range(s, e + 4, 4):
            last = i == e  # nothing after the last: its dots are dropped
            g = i - 4 if last else i
            while seg[w + 1] <= g:
                w += 1
            a = A[u0 + w - t]
            q0 = P[col[g]]
            q1 = P[col[g + 1]]
            q2 = P[col[g + 2]]
            q3 = P[col[g + 3]]
            r0 = r[0]
            r1 = r[1]
            r2 = r[2]
            r3 = r[3]
            m0 = m1 = m2 = m3 = F(0)
            for k in range(T):
                h[k] += r0 * p0[k] + r1 * p1[k] + r2 * p2[k] + r3 * p3[k]
                m0 += a[k] * q0[k]
                m1 += a[k] * q1[k]
                m2 += a[k] * q2[k]
                m3 += a[k] * q3[k]
            if last:
                break
            r[0] = m0
            r[1] = m1
            r[2] = m2
            r[3] = m3
            for j in range(4):
                f = max(r[j], TINY)
                m[i - s + j] = f
                r[j] = val[i + j] / f
            h = H[u0 + w - t]
            p0 = q0
            p1 = q1
            p2 = q2
            p3 = q3
        total += weighted_log(val[s:e], bits[: e - s], mant, mantf, expo)
    return total
