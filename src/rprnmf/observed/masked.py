"""Incomplete matrices: only the stored entries are observations."""

from __future__ import annotations

import numpy as np

from rprnmf.observed.base import Entrywise
from rprnmf.observed.entries import Entries
from rprnmf.observed.stored import SparseView


class Masked(SparseView):
    """The observed entries of an incomplete matrix.

    Parameters
    ----------
    entries : Entries
        The observed entries; a stored zero is an observed zero.
    """

    one_gram = False

    def __init__(self, entries: Entries):
        super().__init__(entries, n_observed=len(entries.data))

    def _transposed(self) -> Masked:
        return Masked(self.entries.T)

    @property
    def row_counts(self) -> np.ndarray:
        return self.entries.row_counts

    def ones_times(self, G: np.ndarray) -> np.ndarray:
        return self.entries.ones_times(G)

    def model_times(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        return self.entries.model_times(F, G)

    def model_times_column(self, F: np.ndarray, G: np.ndarray, k: int) -> np.ndarray:
        model = self.entries.replaced(self.entries.model(F, G))
        return model.times(np.ascontiguousarray(G[:, k : k + 1]))[:, 0]

    def squared_error(self, F: np.ndarray, G: np.ndarray) -> float:
        return self.entries.squared_error(F, G)[0]

    def divergence(self, F: np.ndarray, G: np.ndarray) -> float:
        return self.entries.divergence(F, G, self.floor)[0]

    def entrywise_sum(self, function: Entrywise, F: np.ndarray, G: np.ndarray) -> float:
        values = function.at(self.entries.data, self.entries.model(F, G))
        return float(values.sum(dtype=np.float64))

    def entrywise_times(
        self, function: Entrywise, F: np.ndarray, G: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        first, second = function.at(self.entries.data, self.entries.model(F, G))
        return self.entries.replaced(first).times(G), self.entries.replaced(second).times(G)

    def stored(self) -> Entries:
        return self.entries

    def scaled(self, factor: float) -> Masked:
        return Masked(self.entries.replaced(self.entries.data * self.dtype.type(factor)))

    def take(self, rows: np.ndarray) -> Masked:
        return Masked(self.entries.take(rows))

    def column_moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.entries.T.row_counts, *self.sums_by_column()
