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
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fdmix.kernels.logarithm import TINY, F, njit, weighted_log

GROUP = 2  # pairs in a step: with 500 topics, all that it touches stays in the L1 cache; 3 and 4 are no faster
LANES = 8  # floats in a vector; rows are a multiple of this

_long, _vector = ir.IntType(64), ir.VectorType(ir.FloatType(), LANES)


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


@intrinsic
def step(
    typing_context: Any, left: Any, right: Any, H: Any, u: Any, w: Any, columns: Any, at: Any, to: Any, r: Any, m: Any
) -> Any:
    """Add the pairs (u, v_j), v_j = columns[at + j], with their ratios r to H, and take the dots of the next ones:

    H[u] += sum_j r[j] right[v_j],    H[v_j] += r[j] right[u],    m[j] = left[w] . right[columns[to + j]].

    Both at once, so that the rows of the next pairs come from the L2 cache while there is work on those before.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, right, H, u, w, columns, at, to, r, m = (
            context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, arguments, strict=True)
        )
        width = builder.extract_value(right.shape, 1)

        def item(array: Any, index: Any) -> Any:
            return builder.load(builder.gep(array.data, [index]))

        def rows(first: Any) -> list[Any]:
            words = [item(columns, builder.add(first, _long(j))) for j in range(GROUP)]
            return [builder.mul(builder.zext(word, _long), width) for word in words]

        here, there = rows(at), rows(to)
        u, w = builder.mul(u, width), builder.mul(w, width)
        ratios = [_spread(builder, item(r, _long(j))) for j in range(GROUP)]
        before, loop, after = builder.block, *(builder.append_basic_block() for _ in range(2))
        builder.branch(loop)

        builder.position_at_end(loop)
        k, *sums = (builder.phi(kind) for kind in (_long, *[_vector] * GROUP))

        def place(array: Any, row: Any) -> Any:
            return builder.bitcast(builder.gep(array.data, [builder.add(row, k)]), _vector.as_pointer())

        def load(array: Any, row: Any) -> Any:
            return builder.load(place(array, row), align=4)

        def add(total: Any, a: Any, b: Any) -> Any:
            return builder.fadd(builder.fmul(a, b, flags=("fast",)), total, flags=("fast",))

        h, of_u = load(H, u), load(right, u)
        for ratio, v in zip(ratios, here, strict=True):
            h = add(h, ratio, load(right, v))
        builder.store(h, place(H, u), align=4)
        for ratio, v in zip(ratios, here, strict=True):
            builder.store(add(load(H, v), ratio, of_u), place(H, v), align=4)
        of_w = load(left, w)
        more = [add(total, of_w, load(right, v)) for total, v in zip(sums, there, strict=True)]
        onward = builder.add(k, _long(LANES))
        for phi, begin, value in zip((k, *sums), (_long(0), *[_vector(None)] * GROUP), (onward, *more), strict=True):
            phi.add_incoming(begin, before)
            phi.add_incoming(value, loop)
        builder.cbranch(builder.icmp_signed("<", onward, width), loop, after)

        builder.position_at_end(after)
        for j, total in enumerate(more):
            builder.store(_total(builder, total), builder.gep(m.data, [_long(j)]))
        return context.get_dummy_value()

    return types.void(left, right, H, types.int64, types.int64, columns, types.int64, types.int64, r, m), emit


def _spread(builder: Any, value: Any) -> Any:
    """A vector of copies."""
    one = builder.insert_element(ir.Constant(_vector, ir.Undefined), value, ir.IntType(32)(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), None))


def _total(builder: Any, vector: Any) -> Any:
    """The sum of a vector: half and half, again and again."""
    n = LANES
    while n > 1:
        n //= 2
        halves = (ir.Constant(ir.VectorType(ir.IntType(32), n), list(range(i, i + n))) for i in (0, n))
        vector = builder.fadd(*(builder.shuffle_vector(vector, vector, half) for half in halves))
    return builder.extract_element(vector, ir.IntType(32)(0))


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
    total = 0.0
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
        total += weighted_log(val[s:e], bits[: e - s], mant, mantf, expo)
    return 2 * total
