"""Complete dense matrices."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from rprnmf.observed import blocks
from rprnmf.observed.base import BaseView, Entrywise
from rprnmf.observed.blocks import row_slices
from rprnmf.observed.entries import Entries


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

    def _transposed(self) -> FullDense:
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

    def model_times_column(self, F: np.ndarray, G: np.ndarray, k: int) -> np.ndarray:
        return F @ (G.T @ G[:, k])

    def _blocks(self, F: np.ndarray, G: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        for rows in row_slices(self.shape, blocks.BLOCK):
            yield rows, F[rows] @ G.T

    @property
    def by_columns(self) -> bool:
        """Whether columns are contiguous in memory: then blocks of columns are read faster."""
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

    def power_sum(self, power: float) -> float:
        parts = (self.X[rows] for rows in row_slices(self.shape, blocks.CACHED))
        return float(sum(np.sum(x[x > 0].astype(np.float64) ** power) for x in parts))

    def entrywise_sum(self, function: Entrywise, F: np.ndarray, G: np.ndarray) -> float:
        if self.by_columns:
            return self.T.entrywise_sum(function, G, F)
        return float(
            sum(
                function.at(self.X[rows], F[rows] @ G.T).sum(dtype=np.float64)
                for rows in row_slices(self.shape, blocks.CACHED)
            )
        )

    def entrywise_times(
        self, function: Entrywise, F: np.ndarray, G: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        outs = np.zeros_like(F), np.zeros_like(F)
        if self.by_columns:
            for columns in row_slices(self.T.shape, blocks.CACHED):
                weights = function.at(self.T.X[columns], G[columns] @ F.T)
                for out, w in zip(outs, weights, strict=True):
                    out += w.T @ G[columns]
            return outs
        for rows in row_slices(self.shape, blocks.CACHED):
            weights = function.at(self.X[rows], F[rows] @ G.T)
            for out, w in zip(outs, weights, strict=True):
                out[rows] = w @ G
        return outs

    def extremes(self) -> tuple[float, float]:
        return float(self.X.min()), float(self.X.max())

    def stored(self) -> Entries:
        n, m = self.shape
        indices = np.tile(np.arange(m, dtype=np.int32), n)
        every = sp.csr_array((self.X.ravel(), indices, np.arange(n + 1) * m), shape=(n, m))
        return Entries(every, self.n_jobs)

    def complete_matrix(self) -> np.ndarray:
        return self.X

    def without_zeros(self, value: float) -> FullDense:
        return FullDense(np.where(self.X == 0, self.dtype.type(value), self.X), self.n_jobs)

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
