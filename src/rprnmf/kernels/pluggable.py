"""Functions that kernels call by the class of an argument: a penalty, a distance.

A penalty travels to the kernels as a named tuple of its numbers, whose class says which penalty
it is. numba compiles a kernel anew for every such class and splices the penalty's function in, so
that a new penalty runs in every kernel at full speed; no function is handed over at run time.
"""

from __future__ import annotations

import hashlib
from collections import namedtuple
from types import CodeType
from typing import Any

from numba.core.options import DefaultOptions
from numba.extending import overload

from rprnmf.kernels import FAST

_OPTIONS: Any = {"nogil": True, "fastmath": FAST, "error_model": "numpy", "forceinline": True}
if hasattr(DefaultOptions, "_nrt"):
    _OPTIONS["_nrt"] = False


def by_class(stub: Any) -> Any:
    """Decorates a function of types that gives the compiled code for calls of ``stub``."""
    return overload(stub, jit_options=_OPTIONS)


def tagged(base: type, owner: type, function: Any) -> Any:
    """A named tuple class with the fields of ``base`` that stands for a function of ``owner``.

    Its name has a digest of what the function does: numba finds machine code on disk by it, and
    must not take that of an older version for it.
    """
    name = f"{base.__name__}_{_digest(function)}"
    tag: Any = namedtuple(name, getattr(base, "_fields"))  # type: ignore[misc]  # noqa: B009
    tag.__module__, tag.__qualname__ = owner.__module__, f"{owner.__qualname__}.{name}"
    setattr(owner, name, tag)  # where pickle looks for it
    return tag


def _digest(function: Any) -> str:
    return hashlib.sha256(repr(_content(function.__code__)).encode()).hexdigest()[:16]


def _content(code: CodeType) -> tuple:
    constants = tuple(_content(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.co_code, constants, code.co_names, code.co_varnames
