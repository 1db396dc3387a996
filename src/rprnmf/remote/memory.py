"""How much memory blocks take, and how much they may."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import scipy.sparse as sp

SHARE = 0.4  # of the memory that blocks may take; else they are read whenever they are used


class Share:
    """Bytes that blocks take in one place, whichever fit they belong to.

    Parameters
    ----------
    limit : float
        That they may take.
    """

    def __init__(self, limit: float):
        self.limit, self.held, self.lock = limit, 0, threading.RLock()

    def take(self, weight: int, anyway: bool = False) -> bool:
        """Count some more; False if that would be too many."""
        with self.lock:
            if not anyway and self.held + weight > self.limit:
                return False
            self.held += weight
            return True

    def give_back(self, weight: int) -> None:
        """Count some less."""
        with self.lock:
            self.held -= weight


def weight_of(X: Any, missing: str | None) -> int:
    """Bytes of a block, and of what a fit makes of it and keeps: a list of entries, a transpose."""
    item = 4 if X.dtype == np.float32 else 8
    plain = X.dtype in (np.float32, np.float64)
    if sp.issparse(X):
        parts = (getattr(X, name, None) for name in ("data", "indices", "indptr", "row", "col"))
        own = sum(part.nbytes for part in parts if isinstance(part, np.ndarray))
        once = X.nnz * (item + 4) + sum(X.shape) * 4
        return int(own + once + (0 if plain and X.format == "csr" else once))
    X = np.asarray(X)
    n_seen = X.size
    if missing == "nan" and X.dtype.kind == "f":
        n_seen -= int(np.isnan(X).sum())
    elif missing == "zero":
        n_seen = int(np.count_nonzero(X))
    if n_seen < X.size:  # listed, and listed by columns
        return int(X.nbytes + 2 * n_seen * (item + 8))
    return int(X.nbytes + (0 if plain and X.flags.c_contiguous else X.size * item))


def memory_here() -> float:
    """Bytes of memory of this machine."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError, AttributeError):  # not on this system
        return np.inf
