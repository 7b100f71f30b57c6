"""The pass of EM over the pairs while topics are dense: float32 loops, likelihoods in float64.

With P[u, t] = mu_t(u), A = P alpha and M[u, v] = A[u] . P[v], a pass computes over the stored pairs

    r = Mhat[u, v] / M[u, v],     H[u] += r P[v],     L += Mhat[u, v] log M[u, v].

Traps met, all measured: with full fastmath LLVM rewrites (x / m) * p[k] as (x * p[k]) * (1 / m) inside the loop and
doubles the work, so ratios go through a small array before they are used; rows must be a multiple of 8 floats and
aligned to 64 bytes. The step of the lists is written in explicit vectors: its stores might overlap any load, and a
compiler would have to test dozens of addresses for every few pairs, or give up vectors. There, loads and stores stand
in the order in which they are right whatever overlaps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from fdmix.kernels.compiling import njit_fast as njit
from fdmix.kernels.logarithm import TINY, F, weighted_log
from fdmix.kernels.vectors import FLOATS, LONG, add_product, arguments_of, item, load, loop, place, spread, total

GROUP = 2  # pairs in a step: with 500 topics, all that it touches stays in the L1 cache; 3 and 4 are no faster


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
    likelihood = 0.0
    for i0 in range(0, n, 8):
        for i in range(i0, i0 + 8):
            x = X[i, c : c + w]
            m = M[i]
            r = R[i, c : c + w]
            for j in range(w):
                m[j] = max(m[j], TINY)
            for j in range(w):
                r[j] = x[j] / m[j]
            likelihood += weighted_log(x, bits[i], mant, mantf, expo)
        if mirror:
            for j in range(w):
                for i in range(8):
                    Rt[j, ct + i0 + i] = R[i0 + i, c + j]
    return likelihood


@intrinsic
def step(
    typing_context: Any, left: Any, right: Any, H: Any, u: Any, w: Any, columns: Any, at: Any, to: Any, r: Any, m: Any
) -> Any:
    """Add the pairs (u, v_j), v_j = columns[at + j], with their ratios r to H, and take the dots of the next ones:

    H[u] += sum_j r[j] right[v_j],    H[v_j] += r[j] right[u],    m[j] = left[w] . right[columns[to + j]].

    Both at once, so that the rows of the next pairs come from the L2 cache while there is work on those before.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, right, H, u, w, columns, at, to, r, m = arguments_of(context, builder, signature, arguments)
        width = builder.extract_value(right.shape, 1)

        def rows(first: Any) -> list[Any]:
            words = [item(builder, columns, builder.add(first, LONG(j))) for j in range(GROUP)]
            return [builder.mul(builder.zext(word, LONG), width) for word in words]

        here, there = rows(at), rows(to)
        u, w = builder.mul(u, width), builder.mul(w, width)
        ratios = [spread(builder, item(builder, r, j)) for j in range(GROUP)]

        def body(k: Any, sums: list[Any]) -> list[Any]:
            def of(array: Any, row: Any) -> Any:
                return load(builder, array, builder.add(row, k))

            def put(vector: Any, row: Any) -> None:
                builder.store(vector, place(builder, H, builder.add(row, k)), align=4)

            h, of_u = of(H, u), of(right, u)
            for ratio, v in zip(ratios, here, strict=True):
                h = add_product(builder, h, ratio, of(right, v))
            put(h, u)
            for ratio, v in zip(ratios, here, strict=True):
                put(add_product(builder, of(H, v), ratio, of_u), v)
            of_w = of(left, w)
            return [add_product(builder, sum_, of_w, of(right, v)) for sum_, v in zip(sums, there, strict=True)]

        for j, sum_ in enumerate(loop(builder, width, [FLOATS(None)] * GROUP, body)):
            builder.store(total(builder, sum_), builder.gep(m.data, [LONG(j)]))
        return context.get_dummy_value()

    return types.void(left, right, H, types.int64, types.int64, columns, types.int64, types.int64, r, m), emit


@njit
def pair_lists(u0, B, left, right, H, seg, col, val):
    """H[u] += r P[v] and H[v] += r P[u] over the lists of B rows from u0; returns their part of L, both halves.

    In a software pipeline: the group of pairs *before* is added to H while the dots of the *next* group are taken.
    """
    size = 0
    for t in range(0, seg.size - 1, B):
        size = max(size, seg[t + B] - seg[t])
    m = np.empty(size, F)
    bits = m.view(np.uint32)
    mant = np.empty(size, np.uint32)
    mantf = mant.view(F)
    expo = np.empty(size, F)
    dots = np.empty(GROUP, F)
    r = np.empty(GROUP, F)
    likelihood = 0.0
    for t in range(0, seg.size - 1, B):
        s = seg[t]
        e = seg[t + B]
        if s == e:
            continue
        w = t  # the row being read is u0 + w - t
        while seg[w + 1] == s:
            w += 1
        u = u0 + w - t
        before = s
        r[:] = 0  # nothing before the first group
        for i in range(s, e, GROUP):
            while seg[w + 1] <= i:
                w += 1
            step(left, right, H, u, u0 + w - t, col, before, i, r, dots)
            for j in range(GROUP):
                f = max(dots[j], TINY)
                m[i - s + j] = f
                r[j] = val[i + j] / f
            u = u0 + w - t
            before = i
        step(left, right, H, u, u, col, before, before, r, dots)  # nothing after the last: its dots are dropped
        likelihood += weighted_log(val[s:e], bits[: e - s], mant, mantf, expo)
    return 2 * likelihood
