"""The sums that a change of one column needs, at O(nmK) for all of them.

The full Frobenius loss needs Gram matrices only; everything else keeps the model at the
stored entries up to date by rank-one changes (`kernels/columnwise.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from rprnmf.kernels import columnwise
from rprnmf.observed import BaseView, Entries
from rprnmf.threads import available_threads, map_blocks, row_blocks

Parts = tuple[np.ndarray, np.ndarray]
#: sums over the stored entries, for the rows and for the columns
KERNELS = {
    "quadratic": (columnwise.rows_frobenius, columnwise.columns_frobenius),
    "divergence": (columnwise.rows_divergence, columnwise.columns_divergence),
}
#: the least denominator; the program has no bound, so this one only prevents 0 / 0
TINY = {np.dtype(np.float64): 1e-200, np.dtype(np.float32): 1e-30}


class ColumnSums(ABC):
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


class ModelSums(ColumnSums):
    """Sums over all entries of a model that is updated after each change, as x g / y and g."""

    shape: tuple[int, int]

    def begin(self, W, Ht):
        self.W, self.Ht = W, Ht
        self.model = self._model(W, Ht)
        self.at = tuple(self._at())  # to hand a named tuple over takes four times as long
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
    def _at(self) -> columnwise.StoredModel | columnwise.DenseModel:
        """What the kernels need all through a sweep."""

    @abstractmethod
    def _pass(self, side: int, pending: Parts, vector: np.ndarray) -> Parts:
        """Add to the model what changed since the last pass, a b', and take one side's sums."""


class StoredSums(ModelSums):
    """Over stored entries: x g and y g (quadratic) or x g / y and g (divergence)."""

    def __init__(self, entries: Entries, row_problem: str):
        self.entries = entries
        self.kernels = KERNELS[row_problem]
        n, m = self.shape = entries.shape
        # a visit to an entry costs some ten multiply-adds
        self.blocks = row_blocks(entries.indptr * 10)
        self.number = {start: block for block, (start, _) in enumerate(self.blocks)}
        self.tiny = TINY[np.dtype(entries.data.dtype)]
        self.row_parts = np.empty((2, n))
        self.column_parts = np.empty((len(self.blocks), 2, m))

    def _model(self, W, Ht):
        return self.entries.model(W, Ht)

    def _at(self):
        arrays = self.entries.arrays
        return columnwise.StoredModel(arrays, self.model, self.W, self.Ht, self.tiny)

    def _pass(self, side, pending, vector):
        kernel, at = self.kernels[side], self.at

        def work(start: int, stop: int) -> None:
            target = self.column_parts[self.number[start]] if side else self.row_parts
            kernel(start, stop, at, pending, vector, *target)

        map_blocks(work, self.blocks, self.entries.n_threads)
        above, below = self.column_parts.sum(axis=0) if side else self.row_parts
        return above, below


class DenseDivergenceSums(ModelSums):
    """The divergence of a full dense matrix: x g / y and g."""

    def __init__(self, view: BaseView):
        self.X = np.ascontiguousarray(view.complete_matrix())
        n, m = self.shape = view.shape
        self.blocks = row_blocks(np.arange(n + 1) * (10 * m))
        self.number = {start: block for block, (start, _) in enumerate(self.blocks)}
        self.n_threads = available_threads(view.n_jobs)
        self.tiny = TINY[np.dtype(view.dtype)]
        self.row_parts = np.empty(n)
        self.column_parts = np.empty((len(self.blocks), m))

    def _model(self, W, Ht):
        return W @ Ht.T

    def _at(self):
        return columnwise.DenseModel(self.X, self.model, self.W, self.Ht, self.tiny)

    def _pass(self, side, pending, vector):
        kernel = (columnwise.dense_rows_divergence, columnwise.dense_columns_divergence)[side]
        at = self.at

        def work(start: int, stop: int) -> None:
            target = self.column_parts[self.number[start]] if side else self.row_parts
            kernel(start, stop, at, pending, vector, target)

        map_blocks(work, self.blocks, self.n_threads)
        above = self._column_sums() if side else self.row_parts
        return above, np.full(len(above), vector.sum(dtype=np.float64))

    def columns_after(self, k, least):
        at, pending = self.at, self._pending()
        g = self.Ht[:, k].copy()
        below = max(float(g.sum(dtype=np.float64)), float(least))

        def work(start: int, stop: int) -> None:
            target = self.column_parts[self.number[start]]
            columnwise.dense_both_divergence(start, stop, at, pending, k, g, below, target)

        map_blocks(work, self.blocks, self.n_threads)
        self.last, self.side = k, 1
        self.w, self.h = self.W[:, k].copy(), g
        above = self._column_sums()
        return above, np.full(len(above), self.w.sum(dtype=np.float64))

    def _column_sums(self) -> np.ndarray:
        parts = self.column_parts
        return parts.sum(axis=0) if len(parts) > 1 else parts[0]


class GramSums(ColumnSums):
    """The quadratic loss where one Gram matrix serves: X H' and W (H H')."""

    def __init__(self, view: BaseView):
        self.view = view

    def begin(self, W, Ht):
        self.W, self.Ht = W, Ht
        self.XH = self.view.times(Ht)  # enough: row k of H changes only after rows(k)

    def rows(self, k):
        return self.XH[:, k], self.view.model_times_column(self.W, self.Ht, k)

    def columns(self, k):
        w = np.ascontiguousarray(self.W[:, k : k + 1])
        return self.view.T.times(w)[:, 0], self.view.T.model_times_column(self.Ht, self.W, k)


class SparseDivergenceSums(StoredSums):
    """The divergence of a full sparse matrix: ratios at the non-zeros, sums everywhere."""

    def __init__(self, view: BaseView):
        super().__init__(view.nonzeros(), "divergence")
        self.view = view

    def rows(self, k):
        above, _ = super().rows(k)
        return above, self.view.ones_times(np.ascontiguousarray(self.Ht[:, k : k + 1]))[:, 0]

    def columns(self, k):
        above, _ = super().columns(k)
        return above, self.view.T.ones_times(np.ascontiguousarray(self.W[:, k : k + 1]))[:, 0]


def make_column_sums(view: BaseView, row_problem: str) -> ColumnSums:
    """The cheapest bookkeeping for a view and the row problem of a loss."""
    if not view.one_gram:
        return StoredSums(view.stored(), row_problem)
    if row_problem == "quadratic":
        return GramSums(view)
    return SparseDivergenceSums(view) if view.zeros_implied else DenseDivergenceSums(view)
