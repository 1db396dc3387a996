"""Compiled loops: arrays in, arrays out, over a range of rows, without the GIL."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.options import DefaultOptions

# Sums may be reordered (so that they vectorise); NaN and infinities keep their meaning.
_FAST = {"reassoc", "contract", "nsz"}


def _digest() -> str:
    """Of all kernels: what one of them does depends on the others."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


_STAMP = _digest()
_COUNTED = hasattr(DefaultOptions, "_nrt")  # numba may rename what it calls private


def _compiled(function: Any, counted: bool) -> Any:
    options: dict[str, Any] = {"_nrt": counted} if _COUNTED else {}
    if not counted:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    dispatcher = numba.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", **options)(
        function
    )
    # numba looks for changes in the file of a function alone, not in those of what it calls
    file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = _STAMP
    return dispatcher


def kernel(function: Any) -> Any:
    """Compile a kernel on first use and keep the machine code on disk."""
    return _compiled(function, counted=True)


def inner(function: Any) -> Any:
    """As `kernel`, for what is called in loops: it allocates nothing and returns no array.

    Without numba's runtime its views of arrays are not counted. Counting is an atomic
    operation for each, which would cost as much as the arithmetic on a short row.
    """
    return _compiled(function, counted=False)


class _Notice(event.Listener):
    """Says once why the first call on a machine takes seconds."""

    told = False

    def on_start(self, event: Any) -> None:
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        module = getattr(function, "__module__", None) or ""
        if not self.told and module.startswith(f"{__name__}."):
            self.told = True
            logging.getLogger("rprnmf").warning(
                "rprnmf compiles its loops for this machine, which takes some seconds; "
                "later runs find them on disk."
            )

    def on_end(self, event: Any) -> None:
        """Nothing is to be said."""


event.register("numba:compile", _Notice())
