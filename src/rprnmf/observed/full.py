"""Complete matrices: every entry is an observation (in a sparse one, zeros too)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from rprnmf.kernels import csr
from rprnmf.observed.base import BaseView, SparseView
from rprnmf.observed.entries import Entries

BLOCK = 1 << 21  # entries of the model that are alive at once


class FullDense(BaseView):
    """A dense matrix without holes.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
    n_jobs : int or None
    """

    def __init__(self, X: np.ndarray, n_jobs: int | None = None):
        self.X = X
        self.shape = X.shape
        self.dtype = X.dtype
        self.n_jobs = n_jobs
        self.n_observed = X.size

    @cached_property
    def total(self) -> float:
        return float(self.X.sum(dtype=np.float64))

    @cached_property
    def squares(self) -> float:
        return float(np.einsum("ij,ij->", self.X, self.X, dtype=np.float64))

    @cached_property
    def n_nonzero(self) -> int:
        return int(np.count_nonzero(self.X))

    def _turned(self) -> FullDense:
        return FullDense(self.X.T, self.n_jobs)

    @property
    def row_counts(self) -> np.ndarray:
        return np.full(self.shape[0], self.shape[1])

    def times(self, G: np.ndarray) -> np.ndarray:
        return self.X @ G

    def ones_times(self, G: np.ndarray) -> np.ndarray:
        return np.broadcast_to(G.sum(axis=0), (self.shape[0], G.shape[1]))

    def model_times(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        return F @ (G.T @ G)

    def _blocks(self, F: np.ndarray, G: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        step = max(1, BLOCK // self.shape[1])
        for start in range(0, self.shape[0], step):
            rows = slice(start, start + step)
            yield rows, F[rows] @ G.T

    @property
    def by_columns(self) -> bool:
        """Whether columns lie together in memory: then blocks of columns are read faster."""
        return not self.X.flags.c_contiguous and bool(self.X.flags.f_contiguous)

    def _ratios(self, F: np.ndarray, G: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        for rows, model in self._blocks(F, G):
            np.maximum(model, self.floor, out=model)
            yield rows, np.divide(self.X[rows], model, out=model)

    def ratio_times(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        if self.by_columns:
            out = np.zeros_like(F)
            for columns, ratio in self.T._ratios(G, F):
                out += ratio.T @ G[columns]
            return out
        out = np.empty_like(F)
        for rows, ratio in self._ratios(F, G):
            out[rows] = ratio @ G
        return out

    def squared_error(self, F: np.ndarray, G: np.ndarray) -> float:
        if self.by_columns:
            return self.T.squared_error(G, F)
        total = 0.0
        for rows, model in self._blocks(F, G):
            model -= self.X[rows]
            total += float(np.einsum("ij,ij->", model, model, dtype=np.float64))
        return total

    def divergence(self, F: np.ndarray, G: np.ndarray) -> float:
        if self.by_columns:
            return self.T.divergence(G, F)
        total = 0.0
        for rows, model in self._blocks(F, G):
            x = self.X[rows]
            total += float((model - x).sum(dtype=np.float64))
            np.maximum(model, self.floor, out=model)
            logs = np.zeros_like(x)
            np.divide(x, model, out=logs, where=x > 0)
            np.log(logs, out=logs, where=x > 0)
            total += float(np.einsum("ij,ij->", x, logs, dtype=np.float64))
        return total

    def extremes(self) -> tuple[float, float]:
        return float(self.X.min()), float(self.X.max())

    def stored(self) -> Entries:
        n, m = self.shape
        indices = np.tile(np.arange(m, dtype=np.int32), n)
        every = sp.csr_array((self.X.ravel(), indices, np.arange(n + 1) * m), shape=(n, m))
        return Entries(every, self.n_jobs)

    def scaled(self, factor: float) -> FullDense:
        return FullDense(self.X * self.X.dtype.type(factor), self.n_jobs)

    def take(self, rows: np.ndarray) -> FullDense:
        return FullDense(self.X[rows], self.n_jobs)

    def column_moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return (
            np.full(self.shape[1], self.shape[0]),
            self.X.sum(axis=0, dtype=np.float64),
            np.einsum("ij,ij->j", self.X, self.X, dtype=np.float64),
        )


class FullSparse(SparseView):
    """A sparse matrix whose unstored entries are zeros, but for a few holes.

    Sums over everything come from column sums and Gram matrices. A row with holes is summed
    column by column instead: taking the holes away from the sum over everything would keep
    no digits where little else is left. Nothing of size n x m exists.

    Parameters
    ----------
    entries : Entries
        The non-zeros.
    holes : Entries or None
        Places that are not observed.
    """

    def __init__(self, entries: Entries, holes: Entries | None = None):
        n, m = entries.shape
        super().__init__(entries, n_observed=n * m - (len(holes.data) if holes else 0))
        self.holes = holes
        self.torn = np.flatnonzero(holes.row_counts) if holes else np.zeros(0, dtype=np.int64)

    def _turned(self) -> FullSparse:
        return FullSparse(self.entries.T, self.holes.T if self.holes else None)

    @property
    def row_counts(self) -> np.ndarray:
        holes = self.holes.row_counts if self.holes else 0
        return np.full(self.shape[0], self.shape[1]) - holes

    def ones_times(self, G: np.ndarray) -> np.ndarray:
        sums = np.broadcast_to(G.sum(axis=0), (self.shape[0], G.shape[1]))
        if self.holes is None:
            return sums
        sums = sums.copy()
        csr.ones_except(self.torn, self.holes.indptr, self.holes.indices, G, sums)
        return sums

    def model_times(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        out = F @ (G.T @ G)
        if self.holes is not None:
            csr.model_except(self.torn, self.holes.indptr, self.holes.indices, F, G, 0, out)
        return out

    @cached_property
    def whole(self) -> Entries:
        """The non-zeros of the rows without holes."""
        counts = self.entries.row_counts.copy()
        keep = np.ones(self.shape[0], dtype=bool)
        keep[self.torn] = False
        chosen = np.repeat(keep, counts)
        counts[self.torn] = 0
        indptr = np.concatenate(([0], np.cumsum(counts)))
        parts = (self.entries.data[chosen], self.entries.indices[chosen], indptr)
        return Entries(sp.csr_array(parts, shape=self.shape), self.n_jobs)

    def _torn_loss(self, F: np.ndarray, G: np.ndarray, divergence: bool) -> float:
        stored, holes = self.entries, self.holes
        assert holes is not None
        return csr.loss_except(
            *(self.torn, stored.indptr, stored.indices, stored.data, holes.indptr, holes.indices),
            *(F, G, self.floor, divergence),
        )

    def squared_error(self, F: np.ndarray, G: np.ndarray) -> float:
        torn = 0.0
        entries, whole = self.entries, F
        if self.holes is not None:
            torn = self._torn_loss(F, G, divergence=False)
            entries, whole = self.whole, np.delete(F, self.torn, axis=0)
        error, squares = entries.squared_error(F, G)
        whole, G = whole.astype(np.float64, copy=False), G.astype(np.float64, copy=False)
        everywhere = float(np.sum((whole.T @ whole) * (G.T @ G)))
        return torn + error + max(everywhere - squares, 0.0)

    def divergence(self, F: np.ndarray, G: np.ndarray) -> float:
        torn = 0.0
        entries, whole = self.entries, F
        if self.holes is not None:
            torn = self._torn_loss(F, G, divergence=True)
            entries, whole = self.whole, np.delete(F, self.torn, axis=0)
        divergence, sums = entries.divergence(F, G, self.floor)
        totals = whole.sum(axis=0, dtype=np.float64), G.sum(axis=0, dtype=np.float64)
        return torn + divergence + max(float(np.dot(*totals)) - sums, 0.0)

    def stored(self) -> Entries:
        raise ValueError(
            "the observed zeros of a full sparse matrix cannot be listed without making it "
            "dense; pass missing='zero' if only stored entries are observations."
        )

    def scaled(self, factor: float) -> FullSparse:
        data = self.entries.data * self.dtype.type(factor)
        return FullSparse(self.entries.replaced(data), self.holes)

    def take(self, rows: np.ndarray) -> FullSparse:
        holes = None if self.holes is None else self.holes.take(rows)
        return FullSparse(self.entries.take(rows), holes)

    def column_moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.T.row_counts, *self.sums_by_column()
