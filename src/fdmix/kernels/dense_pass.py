"""The pass of EM over the pairs while topics are dense: float32 loops, likelihoods in float64.

With P[u, t] = mu_t(u), A = P alpha and M[u, v] = A[u] . P[v], a pass computes over the stored pairs

    r = Mhat[u, v] / M[u, v],     H[u] += r P[v],     L += Mhat[u, v] log M[u, v].

Three measured traps:

- With full fastmath, LLVM rewrites (x / m) * p[k] as (x * p[k]) * (1 / m) inside the loop, which doubles the work.
  Storing the ratios in a small array before they are used prevents it.
- Rows must be a multiple of 8 floats long and aligned to 64 bytes.
- The stores of the list step might overlap its loads. A compiler would test dozens of addresses for every few pairs,
  or give up vectors. So this step is written in explicit vectors, with loads and stores in an order that is right
  whatever overlaps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from fdmix.kernels.compiling import njit_fast as njit
from fdmix.kernels.logarithm import TINY, F, weighted_log
from fdmix.kernels.vectors import FLOATS, LONG, add_product, arguments_of, item, load, loop, place, spread, total

GROUP = 2  # pairs in a step: at 500 topics, the rows that it touches fit into the L1 cache; 3 and 4 are no faster


@njit
def ratio_tile(X, cx, R, c, M, bits):
    """R = X / M for one tile; returns sum X log M.

    X : row panel that holds the tile from column cx on
    R : row panel that holds the tile from column c on
    bits : M viewed as uint32

    The arguments are panels and offsets, not slices, because numba does not know that the inner stride of a slice is
    1 and would not vectorise.
    """
    n, w = M.shape
    mant = np.empty(w, np.uint32)
    mantf = mant.view(F)
    expo = np.empty(w, F)
    likelihood = 0.0
    for i in range(n):
        x = X[i, cx : cx + w]
        m = M[i]
        r = R[i, c : c + w]
        for j in range(w):
            m[j] = max(m[j], TINY)
        for j in range(w):
            r[j] = x[j] / m[j]
        likelihood += weighted_log(x, bits[i], mant, mantf, expo)
    return likelihood


@intrinsic
def add_pairs_and_dot_next(
    typing_context: Any, left: Any, right: Any, H: Any, u: Any, w: Any, columns: Any, at: Any, to: Any, r: Any, m: Any
) -> Any:
    """Add the pairs (u, v_j), v_j = columns[at + j], to H, and take the dot products of the next pairs:

    H[u] += sum_j r[j] right[v_j],    H[v_j] += r[j] right[u],    m[j] = left[w] . right[columns[to + j]].

    One loop does both, so that the rows of the next pairs arrive from the L2 cache while the pairs before are added.
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
def add_pair_lists(u0, B, left, right, H, bounds, columns, values):
    """H[u] += r right[v] and H[v] += r right[u] over the listed pairs of rows u0, ..., u0 + B - 1; returns their L.

    r = Mhat[u, v] / (left[u] . right[v]). L counts (u, v) and (v, u). A software pipeline: one group of pairs is
    added to H while the dot products of the next group are taken.
    """
    size = 0
    for t in range(0, bounds.size - 1, B):
        size = max(size, bounds[t + B] - bounds[t])
    m = np.empty(size, F)
    bits = m.view(np.uint32)
    mant = np.empty(size, np.uint32)
    mantf = mant.view(F)
    expo = np.empty(size, F)
    dots = np.empty(GROUP, F)
    r = np.empty(GROUP, F)
    likelihood = 0.0
    for t in range(0, bounds.size - 1, B):
        s = bounds[t]
        e = bounds[t + B]
        if s == e:
            continue
        w = t  # the row being read is u0 + w - t
        while bounds[w + 1] == s:
            w += 1
        u = u0 + w - t
        before = s
        r[:] = 0  # there is no group before the first one
        for i in range(s, e, GROUP):
            while bounds[w + 1] <= i:
                w += 1
            add_pairs_and_dot_next(left, right, H, u, u0 + w - t, columns, before, i, r, dots)
            for j in range(GROUP):
                f = max(dots[j], TINY)
                m[i - s + j] = f
                r[j] = values[i + j] / f
            u = u0 + w - t
            before = i
        # No group follows the last one, so that the dots of this call are not used.
        add_pairs_and_dot_next(left, right, H, u, u, columns, before, before, r, dots)
        likelihood += weighted_log(values[s:e], bits[: e - s], mant, mantf, expo)
    return 2 * likelihood
