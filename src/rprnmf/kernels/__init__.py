"""Compiled loops: arrays in, arrays out, over a range of rows, without the GIL."""

from __future__ import annotations

from typing import Any

import numba

# Sums may be reordered (so that they vectorise); NaN and infinities keep their meaning.
_FAST = {"reassoc", "contract", "nsz"}


def kernel(function: Any) -> Any:
    """Compile a kernel on first use and keep the machine code on disk."""
    return numba.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")(function)
