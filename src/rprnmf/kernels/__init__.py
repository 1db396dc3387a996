"""Compiled loops: arrays in, arrays out, over a range of rows, without the GIL."""

from __future__ import annotations

import logging
from typing import Any

import numba
from numba.core import event

# Sums may be reordered (so that they vectorise); NaN and infinities keep their meaning.
_FAST = {"reassoc", "contract", "nsz"}


def kernel(function: Any) -> Any:
    """Compile a kernel on first use and keep the machine code on disk."""
    return numba.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")(function)


def inner(function: Any) -> Any:
    """As `kernel`, for what is called in loops: it allocates nothing and returns no array.

    Without numba's runtime its views of arrays are not counted. Counting is an atomic
    operation for each, which would cost as much as the arithmetic on a short row.
    """
    options: dict[str, Any] = {"fastmath": _FAST, "error_model": "numpy", "_nrt": False}
    return numba.njit(cache=True, nogil=True, **options)(function)


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
