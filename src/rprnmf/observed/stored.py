"""What complete and incomplete sparse matrices have in common."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rprnmf.kernels import csr
from rprnmf.observed.base import BaseView
from rprnmf.observed.entries import Entries


class SparseView(BaseView):
    """Answers that come from the stored entries alone.

    Parameters
    ----------
    entries : Entries
    n_observed : int
    """

    def __init__(self, entries: Entries, n_observed: int):
        self.entries = entries
        self.shape = entries.shape
        self.dtype = entries.data.dtype
        self.n_jobs = entries.n_jobs
        self.n_observed = n_observed

    @cached_property
    def total(self) -> float:
        return float(self.entries.data.sum(dtype=np.float64))

    @cached_property
    def squares(self) -> float:
        return float(np.dot(self.entries.data.astype(np.float64), self.entries.data))

    @cached_property
    def n_nonzero(self) -> int:
        return int(np.count_nonzero(self.entries.data))

    def times(self, G: np.ndarray) -> np.ndarray:
        return self.entries.times(G)

    def ratio_times(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        return self.entries.ratio_times(F, G, self.floor)

    def power_sum(self, power: float) -> float:
        data = self.entries.data
        return float(np.sum(data[data > 0].astype(np.float64) ** power))

    def extremes(self) -> tuple[float, float]:
        data = self.entries.data
        if len(data) == self.shape[0] * self.shape[1]:
            return float(data.min()), float(data.max())
        return 0.0, float(data.max(initial=0.0))

    def sums_by_column(self) -> tuple[np.ndarray, np.ndarray]:
        """Sums of x and of x^2 over the stored entries of each column."""
        first, second = np.zeros(self.shape[1]), np.zeros(self.shape[1])
        csr.column_moments(self.entries.indices, self.entries.data, first, second)
        return first, second
