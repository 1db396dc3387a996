"""The sums that a change of one column needs, at O(nmK) for a whole sweep.

The authors' program recomputes W H before each of its 2K half steps. Here the full
Frobenius loss needs Gram matrices only, and everything else keeps the model at the
stored entries up to date by rank-one changes (`kernels/columnwise.py`).
"""

from __future__ import annotations

import numpy as np

from rprnmf.kernels import columnwise
from rprnmf.observed import BaseView, Entries, FullDense, FullSparse, Masked
from rprnmf.threads import map_blocks, row_blocks

Parts = tuple[np.ndarray, np.ndarray]
TINY = {np.dtype(np.float64): 1e-200, np.dtype(np.float32): 1e-30}


class Products:
    """Numerators and denominators of column k, for the rows of W and the columns of H.

    Within a sweep call ``rows(k)``, change ``W[:, k]``, call ``columns(k)``, change
    ``Ht[:, k]``, for k = 0, 1, ...; ``begin`` starts a sweep at (W, Ht), which the caller
    changes in place.
    """

    def begin(self, W: np.ndarray, Ht: np.ndarray) -> None:
        """Start a sweep."""
        raise NotImplementedError

    def rows(self, k: int) -> Parts:
        """For W[:, k]."""
        raise NotImplementedError

    def columns(self, k: int) -> Parts:
        """For Ht[:, k], with the new W[:, k]."""
        raise NotImplementedError


class StoredProducts(Products):
    """Sums over stored entries: x g and y g (Frobenius) or x g / y and g (divergence)."""

    def __init__(self, entries: Entries, divergence: bool):
        self.entries = entries
        self.kernels = (
            (columnwise.rows_divergence, columnwise.columns_divergence)
            if divergence
            else (columnwise.rows_frobenius, columnwise.columns_frobenius)
        )
        n, m = entries.shape
        # a visit to an entry costs some ten multiply-adds
        self.blocks = row_blocks(entries.indptr * 10)
        self.tiny = TINY[np.dtype(entries.data.dtype)]
        self.row_parts = np.empty((2, n))
        self.column_parts = np.empty((len(self.blocks), 2, m))

    def begin(self, W, Ht):
        self.W, self.Ht = W, Ht
        self.model = self.entries.model(W, Ht)
        n, m = self.entries.shape
        self.pending = np.zeros(n, dtype=W.dtype), np.zeros(m, dtype=W.dtype)
        self.changed = -1

    def rows(self, k):
        if self.changed >= 0:  # the change of H from the last half step
            last = self.changed
            self.pending = self.W[:, last].copy(), self.Ht[:, last] - self.h
        self.w = self.W[:, k].copy()
        self._pass(0, self.Ht[:, k].copy(), lambda block: self.row_parts)
        return self.row_parts[0], self.row_parts[1]

    def columns(self, k):
        self.h = self.Ht[:, k].copy()
        new = self.W[:, k].copy()
        self.pending = new - self.w, self.h
        self._pass(1, new, lambda block: self.column_parts[block])
        self.changed = k
        above, below = self.column_parts.sum(axis=0)
        return above, below

    def _pass(self, side: int, vector: np.ndarray, target) -> None:
        kernel, entries = self.kernels[side], self.entries
        number = {start: block for block, (start, _) in enumerate(self.blocks)}

        def work(start: int, stop: int) -> None:
            kernel(
                *(start, stop, entries.indptr, entries.indices, entries.data, self.model),
                *(self.W, self.Ht, *self.pending, vector, self.tiny, *target(number[start])),
            )

        map_blocks(work, self.blocks, entries.n_threads)


class GramProducts(Products):
    """The full Frobenius loss: X H' and W (H H'), less what the holes add."""

    def __init__(self, view: FullDense | FullSparse):
        self.view = view
        holes = getattr(view, "holes", None)
        self.holes = StoredProducts(holes, divergence=False) if holes else None

    def begin(self, W, Ht):
        self.W, self.Ht = W, Ht
        self.XH = self.view.times(Ht)  # H[k] changes after its turn only, so once a sweep
        if self.holes:
            self.holes.begin(W, Ht)

    def rows(self, k):
        below = self.W @ (self.Ht.T @ self.Ht[:, k])
        if self.holes:
            below = np.maximum(below - self.holes.rows(k)[1], 0)
        return self.XH[:, k], below

    def columns(self, k):
        w = np.ascontiguousarray(self.W[:, k : k + 1])
        below = self.Ht @ (self.W.T @ w[:, 0])
        if self.holes:
            below = np.maximum(below - self.holes.columns(k)[1], 0)
        return self.view.T.times(w)[:, 0], below


class SparseDivergenceProducts(StoredProducts):
    """The divergence of a full sparse matrix: ratios at the non-zeros, sums everywhere."""

    def __init__(self, view: FullSparse):
        super().__init__(view.entries, divergence=True)
        self.view = view

    def rows(self, k):
        above, _ = super().rows(k)
        return above, self.view.ones_times(np.ascontiguousarray(self.Ht[:, k : k + 1]))[:, 0]

    def columns(self, k):
        above, _ = super().columns(k)
        return above, self.view.T.ones_times(np.ascontiguousarray(self.W[:, k : k + 1]))[:, 0]


def make_products(view: BaseView, divergence: bool) -> Products:
    """The cheapest bookkeeping for a view and a loss."""
    if isinstance(view, Masked):
        return StoredProducts(view.entries, divergence)
    if not divergence:
        assert isinstance(view, FullDense | FullSparse)
        return GramProducts(view)
    if isinstance(view, FullSparse):
        return SparseDivergenceProducts(view)
    return StoredProducts(view.stored(), divergence)
