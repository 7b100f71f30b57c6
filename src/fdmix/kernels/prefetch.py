"""Prefetching: tell the processor which memory will be needed soon."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def prefetch(typing_context: Any, array: Any, position: Any) -> Any:
    """Load `array[position]` into the cache in the background: a hint, which changes no result at any position.

    Loops over an inverted index jump from document to document. Each jump misses the caches, and a processor does not
    look far enough ahead by itself to hide this.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte_pointer = ir.IntType(8).as_pointer()
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte_pointer)
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte_pointer, word, word, word])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [byte_pointer], kind)
        to_read, keep_in_all_caches, data_not_code = word(0), word(3), word(1)
        builder.call(hint, [address, to_read, keep_in_all_caches, data_not_code])
        return context.get_dummy_value()

    return types.void(array, types.int64), emit
