"""Compiled functions that are handed to kernels: a penalty, a distance.

numba compiles a kernel anew for every such function and splices it in, so that a new penalty
runs in every kernel at full speed. Python may call it as well. To find the machine code again on
disk numba must recognise the function in another process: it does so by an identifier, which is
random unless it is set.
"""

from __future__ import annotations

import hashlib
from types import CodeType
from typing import Any

from rprnmf.kernels import _compiled


def pluggable(function: Any) -> Any:
    """Compile a function so that kernels can be given it as an argument."""
    compiled = _compiled(function, forceinline=True)
    if hasattr(compiled, "_set_uuid"):  # without it kernels are compiled in every process
        compiled._set_uuid(f"{function.__module__}.{function.__qualname__}:{_digest(function)}")
    return compiled


def _digest(function: Any) -> str:
    """Of what the function does: machine code of an older version must not be taken for it."""
    return hashlib.sha256(repr(_content(function.__code__)).encode()).hexdigest()


def _content(code: CodeType) -> tuple:
    constants = tuple(
        _content(part) if isinstance(part, CodeType) else part for part in code.co_consts
    )
    return code.co_code, constants, code.co_names, code.co_varnames
