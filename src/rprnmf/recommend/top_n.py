"""The best items of many users, block by block: no table of all users and items."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rprnmf.kernels.top import top_of_rows

BLOCK = 1 << 19  # scores at a time: they stay in the cache of a core
FEW = 128  # up to so many are kept sorted while scores are read; more are partitioned


def top_n(
    W: np.ndarray,
    Ht: np.ndarray,
    n: int,
    seen: sp.csr_array | None = None,
    allowed: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The items with the largest scores, and the scores.

    Parameters
    ----------
    W : ndarray of shape (n_users, n_components)
    Ht : ndarray of shape (n_items, n_components)
    n : int
    seen : sparse array of shape (n_users, n_items) or None
        Stored entries are left out.
    allowed : ndarray of bool of shape (n_items,) or None
        Only these items are looked at.

    Returns
    -------
    items : ndarray of shape (n_users, n)
        -1 where there are no more.
    scores : ndarray of shape (n_users, n)
    """
    n = min(n, len(Ht))
    items = np.empty((len(W), n), dtype=np.int64)
    scores = np.empty((len(W), n), dtype=W.dtype)
    banned = None if allowed is None else np.flatnonzero(~allowed)
    step = max(1, BLOCK // max(len(Ht), 1))
    top = top_of_rows if n <= FEW else top_by_partition
    G = np.ascontiguousarray(Ht.T)
    for first in range(0, len(W), step):
        rows = slice(first, min(first + step, len(W)))
        block = W[rows] @ G
        if seen is not None:
            begin, end = seen.indptr[rows.start], seen.indptr[rows.stop]
            lengths = np.diff(seen.indptr[rows.start : rows.stop + 1])
            block[np.repeat(np.arange(len(lengths)), lengths), seen.indices[begin:end]] = -np.inf
        if banned is not None:
            block[:, banned] = -np.inf
        top(block, items[rows], scores[rows])
    return items, scores


def top_by_partition(block: np.ndarray, items: np.ndarray, scores: np.ndarray) -> None:
    """As `top_of_rows`, for many of each row."""
    n = items.shape[1]
    found = np.argpartition(-block, n - 1, axis=1)[:, :n]
    found.sort(axis=1)
    values = np.take_along_axis(block, found, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    items[:] = np.take_along_axis(found, order, axis=1)
    scores[:] = np.take_along_axis(values, order, axis=1)
    items[np.isneginf(scores)] = -1
