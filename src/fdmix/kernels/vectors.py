"""Vectors of eight floats in LLVM, for loops that a compiler does not vectorise by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

# numba's cache watches only the file of a compiled function. After a change in this file, delete __pycache__.
LANES = 8  # floats in a vector: 256 bits. Rows of all arrays are a multiple of this (docs/evidence/performance.md)
LONG, WORD = ir.IntType(64), ir.IntType(32)
FLOATS, INTEGERS = ir.VectorType(ir.FloatType(), LANES), ir.VectorType(WORD, LANES)


def arguments_of(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """The arguments of an intrinsic, with arrays as structures that have `data` and `shape`."""
    return [
        context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
        for kind, value in zip(signature.args, arguments, strict=True)
    ]


def item(builder: Any, array: Any, at: Any) -> Any:
    """array[at]"""
    return builder.load(builder.gep(array.data, [LONG(at) if isinstance(at, int) else at]))


def place(builder: Any, array: Any, at: Any) -> Any:
    """The address of the eight items array[at : at + 8], as a pointer to a vector."""
    return builder.bitcast(builder.gep(array.data, [at]), FLOATS.as_pointer())


def load(builder: Any, array: Any, at: Any) -> Any:
    """array[at : at + 8]"""
    return builder.load(place(builder, array, at), align=4)


def add_product(builder: Any, total: Any, a: Any, b: Any) -> Any:
    """total + a b"""
    return builder.fadd(builder.fmul(a, b, flags=("fast",)), total, flags=("fast",))


def spread(builder: Any, value: Any) -> Any:
    """A vector of eight copies of the value."""
    one = builder.insert_element(ir.Constant(FLOATS, ir.Undefined), value, WORD(0))
    return builder.shuffle_vector(one, one, ir.Constant(INTEGERS, None))


def total(builder: Any, vector: Any) -> Any:
    """The sum of a vector's items: its two halves are added until one item is left."""
    n = LANES
    while n > 1:
        n //= 2
        halves = (ir.Constant(ir.VectorType(WORD, n), list(range(i, i + n))) for i in (0, n))
        vector = builder.fadd(*(builder.shuffle_vector(vector, vector, half) for half in halves))
    return builder.extract_element(vector, WORD(0))


def running_total(builder: Any, vector: Any) -> Any:
    """Running sums: the vector is added to itself, shifted by one, two and four items."""
    zeros = FLOATS(None)
    shift = 1
    while shift < LANES:
        chosen = ir.Constant(INTEGERS, [LANES + i - shift if i >= shift else 0 for i in range(LANES)])
        vector = builder.fadd(vector, builder.shuffle_vector(zeros, vector, chosen))
        shift *= 2
    return vector


def loop(builder: Any, width: Any, begin: list[Any], body: Callable[[Any, list[Any]], list[Any]]) -> list[Any]:
    """carried = body(k, carried) for k = 0, 8, ... below width, starting with `begin`; returns the last `carried`."""
    before, inside, after = builder.block, *(builder.append_basic_block() for _ in range(2))
    builder.branch(inside)
    builder.position_at_end(inside)
    k, *carried = (builder.phi(kind) for kind in (LONG, *(value.type for value in begin)))
    more = body(k, carried)
    onward = builder.add(k, LONG(LANES))
    for phi, first, value in zip((k, *carried), (LONG(0), *begin), (onward, *more), strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(value, inside)
    builder.cbranch(builder.icmp_signed("<", onward, width), inside, after)
    builder.position_at_end(after)
    return more
