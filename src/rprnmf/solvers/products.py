"""The sums that a change of one column needs, at O(nmK) for all of them.

The full Frobenius loss needs Gram matrices only; everything else keeps the model at the
stored entries up to date by rank-one changes (`kernels/columnwise.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from rprnmf.kernels import columnwise, csr
from rprnmf.observed import BaseView, Entries, FullDense, FullSparse, Masked
from rprnmf.threads import available_threads, map_blocks, row_blocks

Parts = tuple[np.ndarray, np.ndarray]
TINY = {np.dtype(np.float64): 1e-200, np.dtype(np.float32): 1e-30}


class Products(ABC):
    """Numerators and denominators of column k, for the rows of W and the columns of H.

    ``begin`` starts at (W, Ht), which the caller changes in place: after ``rows(k)`` it may
    change ``W[:, k]``, after ``columns(k)`` ``Ht[:, k]``, and nothing else.
    """

    W: np.ndarray
    Ht: np.ndarray

    @abstractmethod
    def begin(self, W: np.ndarray, Ht: np.ndarray) -> None:
        """Start a sweep."""

    @abstractmethod
    def rows(self, k: int) -> Parts:
        """For W[:, k]."""

    @abstractmethod
    def columns(self, k: int) -> Parts:
        """For Ht[:, k], with the new W[:, k]."""

    def columns_after(self, k: int, least: float) -> Parts:
        """Change W[:, k] by its own sums, no denominator below ``least``, then `columns`."""
        above, below = self.rows(k)
        self.W[:, k] = self.W[:, k] * above / np.maximum(below, least)
        return self.columns(k)


class ModelProducts(Products):
    """Sums over all entries of a model that follows each change: x g / y and g, say."""

    shape: tuple[int, int]

    def begin(self, W, Ht):
        self.W, self.Ht = W, Ht
        self.model = self._model(W, Ht)
        n, m = self.shape
        self.w, self.h = np.zeros(n, dtype=W.dtype), np.zeros(m, dtype=W.dtype)
        self.last, self.side = -1, 0

    def rows(self, k):
        pending = self._pending()
        self.last, self.side = k, 0
        self.w, self.h = self.W[:, k].copy(), self.Ht[:, k].copy()
        return self._pass(0, pending, self.h)

    def columns(self, k):
        pending = self._pending()
        self.last, self.side = k, 1
        self.w, self.h = self.W[:, k].copy(), self.Ht[:, k].copy()
        return self._pass(1, pending, self.w)

    def _pending(self) -> Parts:
        """What one column of one factor has added to the model since the last pass: a b'."""
        if self.last < 0:
            return self.w, self.h
        if self.side == 0:
            return self.W[:, self.last] - self.w, self.h
        return self.w, self.Ht[:, self.last] - self.h

    @abstractmethod
    def _model(self, W: np.ndarray, Ht: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _pass(self, side: int, pending: Parts, vector: np.ndarray) -> Parts:
        """Add to the model what changed since the last pass, a b', and take one side's sums."""


class StoredProducts(ModelProducts):
    """Over stored entries: x g and y g (Frobenius) or x g / y and g (divergence)."""

    def __init__(self, entries: Entries, divergence: bool):
        self.entries = entries
        self.kernels = (
            (columnwise.rows_divergence, columnwise.columns_divergence)
            if divergence
            else (columnwise.rows_frobenius, columnwise.columns_frobenius)
        )
        n, m = self.shape = entries.shape
        # a visit to an entry costs some ten multiply-adds
        self.blocks = row_blocks(entries.indptr * 10)
        self.number = {start: block for block, (start, _) in enumerate(self.blocks)}
        self.tiny = TINY[np.dtype(entries.data.dtype)]
        self.row_parts = np.empty((2, n))
        self.column_parts = np.empty((len(self.blocks), 2, m))

    def _model(self, W, Ht):
        return self.entries.model(W, Ht)

    def _pass(self, side, pending, vector):
        kernel, entries = self.kernels[side], self.entries

        def work(start: int, stop: int) -> None:
            target = self.column_parts[self.number[start]] if side else self.row_parts
            kernel(
                *(start, stop, entries.indptr, entries.indices, entries.data, self.model),
                *(self.W, self.Ht, *pending, vector, self.tiny, *target),
            )

        map_blocks(work, self.blocks, entries.n_threads)
        above, below = self.column_parts.sum(axis=0) if side else self.row_parts
        return above, below


class DenseDivergenceProducts(ModelProducts):
    """The divergence of a full dense matrix: x g / y and g."""

    def __init__(self, view: FullDense):
        self.X = np.ascontiguousarray(view.X)
        n, m = self.shape = view.shape
        self.blocks = row_blocks(np.arange(n + 1) * (10 * m))
        self.number = {start: block for block, (start, _) in enumerate(self.blocks)}
        self.n_threads = available_threads(view.n_jobs)
        self.tiny = TINY[np.dtype(view.dtype)]
        self.row_parts = np.empty(n)
        self.column_parts = np.empty((len(self.blocks), m))

    def _model(self, W, Ht):
        return W @ Ht.T

    def _pass(self, side, pending, vector):
        kernel = (columnwise.dense_rows_divergence, columnwise.dense_columns_divergence)[side]

        def work(start: int, stop: int) -> None:
            block = self.number[start]
            kernel(
                *(start, stop, self.X, self.model, self.W, self.Ht, *pending, vector, self.tiny),
                self.column_parts[block] if side else self.row_parts,
            )

        map_blocks(work, self.blocks, self.n_threads)
        above = self._column_sums() if side else self.row_parts
        return above, np.full(len(above), vector.sum(dtype=np.float64))

    def columns_after(self, k, least):
        a, b = self._pending()
        g = self.Ht[:, k].copy()
        below = max(float(g.sum(dtype=np.float64)), float(least))

        def work(start: int, stop: int) -> None:
            columnwise.dense_both_divergence(
                *(start, stop, self.X, self.model, self.W, self.Ht, a, b, k, g, below, self.tiny),
                self.column_parts[self.number[start]],
            )

        map_blocks(work, self.blocks, self.n_threads)
        self.last, self.side = k, 1
        self.w, self.h = self.W[:, k].copy(), g
        above = self._column_sums()
        return above, np.full(len(above), self.w.sum(dtype=np.float64))

    def _column_sums(self) -> np.ndarray:
        parts = self.column_parts
        return parts.sum(axis=0) if len(parts) > 1 else parts[0]


class GramProducts(Products):
    """The full Frobenius loss: X H' and W (H H'); rows with holes one column after the other."""

    def __init__(self, view: FullDense | FullSparse):
        self.view = view

    def begin(self, W, Ht):
        self.W, self.Ht = W, Ht
        self.XH = self.view.times(Ht)  # a row of H changes after its turn only: once is enough

    def rows(self, k):
        return self.XH[:, k], self._below(self.view, self.W, self.Ht, k)

    def columns(self, k):
        w = np.ascontiguousarray(self.W[:, k : k + 1])
        return self.view.T.times(w)[:, 0], self._below(self.view.T, self.Ht, self.W, k)

    @staticmethod
    def _below(view: FullDense | FullSparse, F: np.ndarray, G: np.ndarray, k: int) -> np.ndarray:
        below = (F @ (G.T @ G[:, k]))[:, None]
        if isinstance(view, FullSparse) and view.holes is not None:
            holes = view.holes
            csr.model_except(view.torn, holes.indptr, holes.indices, F, G, k, below)
        return below[:, 0]


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
    assert isinstance(view, FullDense)
    return DenseDivergenceProducts(view)
