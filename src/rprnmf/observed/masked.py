"""Incomplete matrices: only the stored entries are observations."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rprnmf.observed.base import BaseView
from rprnmf.observed.entries import Entries


class Masked(BaseView):
    """The observed entries of an incomplete matrix.

    Parameters
    ----------
    entries : Entries
        The observed entries; a stored zero is an observed zero.
    """

    def __init__(self, entries: Entries):
        self.entries = entries
        self.shape = entries.shape
        self.dtype = entries.data.dtype
        self.n_jobs = entries.n_jobs
        self.n_observed = len(entries.data)
        self.total = float(entries.data.sum(dtype=np.float64))
        self.squares = float(np.dot(entries.data.astype(np.float64), entries.data))

    @cached_property
    def T(self) -> Masked:
        other = Masked(self.entries.T)
        other.__dict__["T"] = self
        return other

    @property
    def row_counts(self) -> np.ndarray:
        return self.entries.row_counts

    def times(self, G: np.ndarray) -> np.ndarray:
        return self.entries.times(G)

    def ones_times(self, G: np.ndarray) -> np.ndarray:
        return self.entries.ones_times(G)

    def model_times(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        return self.entries.model_times(F, G)

    def ratio_times(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        return self.entries.ratio_times(F, G, self.floor)

    def squared_error(self, F: np.ndarray, G: np.ndarray) -> float:
        return self.entries.squared_error(F, G)[0]

    def divergence(self, F: np.ndarray, G: np.ndarray) -> float:
        return self.entries.divergence(F, G, self.floor)[0]

    def stored(self) -> Entries:
        return self.entries

    def extremes(self) -> tuple[float, float]:
        data = self.entries.data
        if self.n_observed == self.shape[0] * self.shape[1]:
            return float(data.min()), float(data.max())
        return 0.0, float(data.max(initial=0.0))

    def scaled(self, factor: float) -> Masked:
        return Masked(self.entries.replaced(self.entries.data * self.dtype.type(factor)))

    def column_moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        m, j, x = self.shape[1], self.entries.indices, self.entries.data.astype(np.float64)
        return np.bincount(j, minlength=m), np.bincount(j, x, m), np.bincount(j, x * x, m)
