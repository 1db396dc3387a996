"""Compiled loops: arrays in, arrays out, over a range of rows, without the GIL."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.options import DefaultOptions

from rprnmf.kernels.cache import IN_MEMORY, SafeCache
from rprnmf.kernels.collector import is_kernel

# Sums may be reordered (so that they vectorise); NaN and infinities keep their meaning.
FAST = {"reassoc", "contract", "nsz"}


def _digest() -> str:
    """A digest of all kernels: what one of them does depends on the others."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


_STAMP = _digest()
ON_DISK = (
    "rprnmf compiles its loops for this machine, which takes some seconds; later runs find them "
    "on disk."
)
_COUNTED = hasattr(DefaultOptions, "_nrt")  # a private name, which numba may change


def _compiled(function: Any, **options: Any) -> Any:
    if _COUNTED:
        options["_nrt"] = False
    return numba.njit(nogil=True, fastmath=FAST, error_model="numpy", **options)(function)


def kernel(function: Any) -> Any:
    """Compile a kernel on first use and keep the machine code on disk.

    A kernel allocates nothing and returns no array. Without numba's runtime its views of arrays
    are not counted: counting is an atomic operation for each, which would cost as much as the
    arithmetic on a short row.
    """
    try:
        dispatcher = _compiled(function, cache=True, no_cfunc_wrapper=True)
    except (RuntimeError, OSError):  # numba found no folder that it can write
        _Notice.on_disk = False
        return _compiled(function, no_cfunc_wrapper=True)
    with contextlib.suppress(AttributeError):  # a private name, which numba may change
        dispatcher._cache = SafeCache(dispatcher._cache, _STAMP)
    return dispatcher


def inner(function: Any) -> Any:
    """As `kernel`, for what kernels call; it is part of their machine code.

    A process that compiles has it twice, by itself and as that part, and may call either. Where
    sums are reordered the two need not agree in the last digit, and the first run on a machine
    would not give what later ones do: long sums are `spliced`.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def spliced(function: Any) -> Any:
    """As `inner`, for long sums, and for what takes many arrays and is called for every row.

    To hand over an array is to hand over its address, shape and strides: a call with twenty of
    them costs as much as the arithmetic on a short row.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


def part(function: Any) -> Any:
    """A part of one kernel that has a name of its own; it is compiled with that kernel.

    Unlike `spliced` it is no function of its own to the compiler, which saves seconds where it
    is handed most of what the kernel has.
    """
    return _compiled(function, inline="always")


class _Notice(event.Listener):
    """Says once why the first call on a machine takes seconds."""

    told = False
    on_disk = True  # whether compiled code can be kept
    show: Callable[[], None] | None = None  # instead of the log

    def on_start(self, event: Any) -> None:
        if not is_kernel(event):
            return
        if self.show is not None:
            self.show()
        elif not self.told:
            logging.getLogger("rprnmf").warning(ON_DISK if self.on_disk else IN_MEMORY)
        self.told = True

    def on_end(self, event: Any) -> None:
        """Nothing is to be said."""


_notice = _Notice()
event.register("numba:compile", _notice)


@contextlib.contextmanager
def notices_to(show: Callable[[], None]) -> Iterator[None]:
    """Within it ``show`` is called when a kernel is compiled, and nothing is logged."""
    before, _notice.show = _notice.show, show
    try:
        yield
    finally:
        _notice.show = before
