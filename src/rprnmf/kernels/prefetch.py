"""Asking the memory for rows of a factor before they are needed.

The entries of a row of X name rows of the other factor that lie far from each other. Where that
factor outgrows the caches, the wait for each of them costs more than the arithmetic.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from rprnmf.kernels import inner

AHEAD = 12  # entries: far enough for memory to answer in time, near enough to stay in the cache
LINE = 64  # bytes of a cache line
_READ, _KEEP, _DATA = 0, 3, 1  # llvm's codes: read, keep in all caches, data


@intrinsic
def _ask(_: Any, A: Any, i: Any) -> Any:
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


def _nothing(A: Any, i: Any) -> None:
    """The interpreter has no such instruction."""


_settings: Any = numba.config
prefetch_row: Any = _nothing if _settings.DISABLE_JIT else _ask


@inner
def fetch_ahead(B, indices, t):
    """Ask for the row of B that an entry some places after t names, of this row or the next."""
    prefetch_row(B, indices[min(t + AHEAD, indices.shape[0] - 1)])
