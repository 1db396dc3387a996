"""Complete sparse matrices: entries that are not stored are observed zeros."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from rprnmf.kernels import csr
from rprnmf.observed import blocks
from rprnmf.observed.base import Entrywise
from rprnmf.observed.blocks import Block, row_slices
from rprnmf.observed.entries import Entries
from rprnmf.observed.stored import SparseView


class FullSparse(SparseView):
    """A sparse matrix whose unstored entries are zeros, but for a few holes.

    Sums over everything come from column sums and Gram matrices. A row with holes is summed
    column by column instead: subtracting the holes from the sum over everything would lose
    all digits where most of a row is holes. Nothing of size n x m exists.

    Parameters
    ----------
    entries : Entries
        The non-zeros.
    holes : Entries or None
        Places that are not observed.
    """

    zeros_implied = True

    def __init__(self, entries: Entries, holes: Entries | None = None):
        n, m = entries.shape
        super().__init__(entries, n_observed=n * m - (len(holes.data) if holes else 0))
        self.holes = holes
        self.holed_rows = np.flatnonzero(holes.row_counts) if holes else np.zeros(0, dtype=np.int64)

    def _transposed(self) -> FullSparse:
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
        csr.ones_except(self.holed_rows, self.holes.arrays, G, sums)
        return sums

    def model_times(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        out = F @ (G.T @ G)
        if self.holes is not None:
            csr.model_except(self.holed_rows, self.holes.arrays, F, G, 0, out)
        return out

    def model_times_column(self, F: np.ndarray, G: np.ndarray, k: int) -> np.ndarray:
        column = (F @ (G.T @ G[:, k]))[:, None]
        if self.holes is not None:
            csr.model_except(self.holed_rows, self.holes.arrays, F, G, k, column)
        return column[:, 0]

    @cached_property
    def whole(self) -> Entries:
        """The non-zeros of the rows without holes."""
        counts = self.entries.row_counts.copy()
        keep = np.ones(self.shape[0], dtype=bool)
        keep[self.holed_rows] = False
        chosen = np.repeat(keep, counts)
        counts[self.holed_rows] = 0
        indptr = np.concatenate(([0], np.cumsum(counts)))
        parts = (self.entries.data[chosen], self.entries.indices[chosen], indptr)
        return Entries(sp.csr_array(parts, shape=self.shape), self.n_jobs)

    def _holed_rows_loss(self, F: np.ndarray, G: np.ndarray, divergence: bool) -> float:
        assert self.holes is not None
        stored, holes = self.entries.arrays, self.holes.arrays
        return csr.loss_except(self.holed_rows, stored, holes, F, G, self.floor, divergence)

    def squared_error(self, F: np.ndarray, G: np.ndarray) -> float:
        of_holed = 0.0
        entries, whole = self.entries, F
        if self.holes is not None:
            of_holed = self._holed_rows_loss(F, G, divergence=False)
            entries, whole = self.whole, np.delete(F, self.holed_rows, axis=0)
        error, squares = entries.squared_error(F, G)
        whole, G = whole.astype(np.float64, copy=False), G.astype(np.float64, copy=False)
        everywhere = float(np.sum((whole.T @ whole) * (G.T @ G)))
        return of_holed + error + max(everywhere - squares, 0.0)

    def divergence(self, F: np.ndarray, G: np.ndarray) -> float:
        of_holed = 0.0
        entries, whole = self.entries, F
        if self.holes is not None:
            of_holed = self._holed_rows_loss(F, G, divergence=True)
            entries, whole = self.whole, np.delete(F, self.holed_rows, axis=0)
        divergence, sums = entries.divergence(F, G, self.floor)
        totals = whole.sum(axis=0, dtype=np.float64), G.sum(axis=0, dtype=np.float64)
        return of_holed + divergence + max(float(np.dot(*totals)) - sums, 0.0)

    def model_blocks(self, F: np.ndarray, G: np.ndarray) -> Iterator[Block]:
        """The model, some rows at a time."""
        for rows in row_slices(self.shape, blocks.CACHED):
            places, values = self.entries.places(rows)
            holes = None if self.holes is None else self.holes.places(rows)[0]
            yield Block(rows, F[rows] @ G.T, places, values, holes)

    def entrywise_sum(self, function: Entrywise, F: np.ndarray, G: np.ndarray) -> float:
        total = 0.0
        for block in self.model_blocks(F, G):
            at = function.at(block.x, block.y[block.places])
            total += float(block.filled(function.at_zero(block.y), at).sum(dtype=np.float64))
        return total

    def entrywise_times(
        self, function: Entrywise, F: np.ndarray, G: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        outs = np.empty_like(F), np.empty_like(F)
        kept = []  # second weights that are zero where X is
        for block in self.model_blocks(F, G):
            at = function.at(block.x, block.y[block.places])
            first, second = function.at_zero(block.y)
            outs[0][block.rows] = block.filled(first, at[0]) @ G
            if second is None:
                kept.append(at[1])
            else:
                outs[1][block.rows] = block.filled(second, at[1]) @ G
        if kept:
            return outs[0], self.entries.replaced(np.concatenate(kept)).times(G)
        return outs

    def stored(self) -> Entries:
        raise ValueError(
            "the observed zeros of a full sparse matrix cannot be listed without making it "
            "dense; pass missing='zero' if only stored entries are observations."
        )

    def nonzeros(self) -> Entries:
        return self.entries

    def complete_matrix(self) -> sp.csr_array | None:
        return None if self.holes is not None else self.entries.matrix()

    def scaled(self, factor: float) -> FullSparse:
        data = self.entries.data * self.dtype.type(factor)
        return FullSparse(self.entries.replaced(data), self.holes)

    def take(self, rows: np.ndarray) -> FullSparse:
        holes = None if self.holes is None else self.holes.take(rows)
        return FullSparse(self.entries.take(rows), holes)

    def column_moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.T.row_counts, *self.sums_by_column()
