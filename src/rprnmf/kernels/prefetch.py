"""Asking the memory for rows of a factor before they are needed.

The entries of a row of X name rows of the other factor that lie far from each other. Where that
factor outgrows the caches, the wait for each of them costs more than the arithmetic.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from rprnmf.kernels import inner

AHEAD = 12  # entries
LINE = 64  # bytes that come at a time
_READ, _KEEP, _DATA = 0, 3, 1  # llvm's words for it


@intrinsic
def prefetch_row(_: Any, A: Any, i: Any) -> Any:
    """Ask for row i of a C-contiguous array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        step = cgutils.unpack_tuple(builder, array.strides)[0]
        row = context.cast(builder, arguments[1], signature.args[1], types.intp)
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        begin = builder.gep(builder.bitcast(array.data, byte), [builder.mul(row, step)])
        zero, line = ir.Constant(step.type, 0), ir.Constant(step.type, LINE)
        with cgutils.for_range_slice(builder, zero, step, line, step.type) as (offset, _):
            how = [ir.Constant(number, word) for word in (_READ, _KEEP, _DATA)]
            builder.call(ask, [builder.gep(begin, [offset]), *how])
        return context.get_dummy_value()

    return types.void(A, i), generate


@inner
def fetch_ahead(B, indices, t, end):
    """Ask for the row of B that an entry some places on names; entries end at ``end``."""
    prefetch_row(B, indices[min(t + AHEAD, end - 1)])  # type: ignore[call-arg]
