"""The questions that every view of X answers."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np

from rprnmf.kernels import csr
from rprnmf.observed.entries import Entries
from rprnmf.observed.turning import Turning

# A model value below this share of the mean of X counts as this share where it stands
# below a fraction bar or in a logarithm.
TINY = {np.dtype(np.float64): 1e-20, np.dtype(np.float32): 1e-10}


class BaseView(Turning):
    """X as a solver sees it: a shape and sums over the observed entries.

    Attributes
    ----------
    shape : tuple of (n_rows, n_columns)
    dtype : numpy.dtype
    n_observed : int
    n_jobs : int or None
    """

    shape: tuple[int, int]
    dtype: np.dtype
    n_observed: int
    n_jobs: int | None

    @property
    @abstractmethod
    def total(self) -> float:
        """Sum of the observed entries."""

    @property
    @abstractmethod
    def squares(self) -> float:
        """Sum of their squares."""

    @property
    @abstractmethod
    def n_nonzero(self) -> int:
        """Number of observed entries that are not zero."""

    @property
    @abstractmethod
    def row_counts(self) -> np.ndarray:
        """Number of observed entries of each row."""

    @abstractmethod
    def times(self, G: np.ndarray) -> np.ndarray:
        """X G."""

    @abstractmethod
    def ones_times(self, G: np.ndarray) -> np.ndarray:
        """1 G, the ones standing at the observed entries."""

    @abstractmethod
    def model_times(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        """[F G'] G over the observed entries."""

    @abstractmethod
    def ratio_times(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        """[X / F G'] G over the observed entries."""

    @abstractmethod
    def squared_error(self, F: np.ndarray, G: np.ndarray) -> float:
        """Sum of (x - y)^2 over the observed entries."""

    @abstractmethod
    def divergence(self, F: np.ndarray, G: np.ndarray) -> float:
        """Sum of x log(x/y) - x + y over the observed entries."""

    @abstractmethod
    def extremes(self) -> tuple[float, float]:
        """Smallest and largest value, entries that are not observed counting as 0."""

    @abstractmethod
    def scaled(self, factor: float) -> BaseView:
        """The view of ``factor * X``."""

    @abstractmethod
    def take(self, rows: np.ndarray) -> BaseView:
        """The view of some rows."""

    @abstractmethod
    def column_moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Count, sum of x and sum of x^2 of the observed entries of each column."""

    @abstractmethod
    def stored(self) -> Entries:
        """All observed entries one by one; of a full matrix that is every one of n x m."""

    @property
    def mean(self) -> float:
        """Mean of the observed entries."""
        return self.total / max(self.n_observed, 1)

    @property
    def gappy(self) -> bool:
        """Whether enough is missing (5 %) to make a difference for a solver's schedule.

        A few holes in a large matrix must not slow down everything else.
        """
        return self.n_observed < 0.95 * self.shape[0] * self.shape[1]

    @property
    def floor(self) -> float:
        """What a model value of zero counts as below a fraction bar."""
        return TINY[np.dtype(self.dtype)] * (self.mean or 1.0)

    def spread(self) -> float:
        """Mean squared distance between two rows of X.

        That is twice the sum of the columns' variances; of a column with holes the
        variance of what is observed stands for the whole. Rows that do not differ fall
        back to their mean squared length, an empty X to 1.
        """
        count, first, second = (moment.astype(np.float64) for moment in self.column_moments())
        seen = count > 0
        count, first, second = count[seen], first[seen], second[seen]
        variance = np.maximum(second / count - (first / count) ** 2, 0.0).sum()
        length = (second / count).sum()
        if variance > 1e-12 * length:
            return float(2.0 * variance)
        return float(length) or 1.0


class SparseView(BaseView):
    """What complete and incomplete sparse matrices have in common.

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
