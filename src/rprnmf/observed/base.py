"""The questions that every view of X answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rprnmf.observed.entries import Entries
from rprnmf.observed.transpose import Transposable

# In denominators and logarithms a model value is at least this fraction of the mean of X: so
# small that no fit notices, so large that x / y does not overflow.
TINY = {np.dtype(np.float64): 1e-20, np.dtype(np.float32): 1e-10}


class Entrywise(NamedTuple):
    """A function of the entries of X and of the model, or two of them.

    ``at_zero(y)`` is ``at(x, y)`` for x = 0, as most entries of a sparse matrix are. None in
    place of its second array stands for zeros. The caller may overwrite what it returns.
    """

    at: Callable[[np.ndarray, np.ndarray], Any]
    at_zero: Callable[[np.ndarray], Any]


class Extent(NamedTuple):
    """How much there is in all rows of X: by that its blocks decide alike."""

    shape: tuple[int, int]
    n_observed: int
    n_nonzero: int
    total: float
    mass: float
    entry_weight: float


class BaseView(Transposable):
    """X as a solver sees it: a shape and sums over the observed entries.

    Attributes
    ----------
    shape : tuple of (n_rows, n_columns)
    dtype : numpy.dtype
    n_observed : int
    n_jobs : int or None
    holes : Entries or None
        The few places that are not observed of a matrix that is complete otherwise.
    one_gram : bool
        Whether [F G'] G is F (G'G) for all rows but those with holes; if not, every row has a
        Gram matrix of its own.
    zeros_implied : bool
        Whether entries that are not stored are observed zeros, but for the holes.
    weighted : bool
        Whether entries have weights: then all sums are weighted, and a number of entries is the
        sum of their weights, but for `n_observed`, which counts entries of a positive weight.
    weak_zeros : bool
        Whether missing entries count as zeros of a small weight.
    remote : bool
        Whether the rows lie elsewhere, in blocks (`remote.py`).
    """

    shape: tuple[int, int]
    dtype: np.dtype
    n_observed: int
    n_jobs: int | None
    holes: Entries | None = None
    one_gram: bool = True
    zeros_implied: bool = False
    weighted: bool = False
    weak_zeros: bool = False
    remote: bool = False

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
        """Number of observed entries of each row, or the sum of their weights."""

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
    def model_times_column(self, F: np.ndarray, G: np.ndarray, k: int) -> np.ndarray:
        """Column k of [F G'] G over the observed entries."""

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
    def power_sum(self, power: float) -> float:
        """Sum of x^power over the observed entries that are not zero."""

    @abstractmethod
    def entrywise_sum(self, function: Entrywise, F: np.ndarray, G: np.ndarray) -> float:
        """Sum of a function of x and y over the observed entries, with y the model."""

    @abstractmethod
    def entrywise_times(
        self, function: Entrywise, F: np.ndarray, G: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """[v] G and [w] G over the observed entries, for a function (v, w) of x and y."""

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
        """All observed entries one by one; for a full matrix these are all n x m entries."""

    def row_sums(self) -> np.ndarray:
        """The sum of each row."""
        return self.times(np.ones((self.shape[1], 1), self.dtype))[:, 0]

    def ranks(self) -> np.ndarray:
        """The place of each row in the order of sums: it does not depend on the order of rows.

        Of rows with equal sums the one comes first whose entries stand in lighter columns.
        """
        columns = self.T.row_sums()[:, None].copy()
        return places_in_order(self.row_sums(), self.times(columns)[:, 0])

    def with_rows(self, table: Any) -> Any:
        """A table with one row per row of X, laid where these lie."""
        return table

    def nonzeros(self) -> Entries:
        """Entries that include all non-zeros; with `zeros_implied` zeros need not be listed."""
        return self.stored()

    def weighted_nonzeros(self) -> Entries:
        """The same, every value times its weight."""
        return self.nonzeros()

    def complete_matrix(self) -> Any:
        """X itself, dense or sparse; None for a view whose entries may be missing."""
        return None

    def without_zeros(self, value: float) -> BaseView:
        """The view with ``value`` in place of zeros that take memory; unstored zeros stay."""
        return self

    @cached_property
    def largest(self) -> float:
        """The largest observed value."""
        return self.extremes()[1]

    @property
    def complete(self) -> bool:
        """Whether every entry is observed."""
        of = self.extent or self
        return of.n_observed == of.shape[0] * of.shape[1]

    @property
    def mean(self) -> float:
        """Mean of the observed entries."""
        of = self.extent or self
        return of.total / (of.mass or 1.0)

    @property
    def mean_square(self) -> float:
        """Mean of their squares."""
        return self.squares / (self.mass or 1.0)

    @property
    def mass(self) -> float:
        """The sum of the weights of all entries."""
        return float(self.n_observed)

    @property
    def entry_weight(self) -> float:
        """The mean weight of a stored entry."""
        return 1.0

    @property
    def row_observed(self) -> np.ndarray:
        """Number of observed entries of each row, whatever they weigh."""
        return self.row_counts

    @property
    def row_shares(self) -> np.ndarray:
        """Which share of the entries of each row is observed."""
        return self.row_observed / self.shape[1]

    @property
    def gappy(self) -> bool:
        """Whether so much is missing (5 %) that solvers should proceed differently.

        A few holes in a large matrix must not slow down everything else.
        """
        of = self.extent or self
        return of.n_observed < 0.95 * of.shape[0] * of.shape[1]

    @property
    def incomplete(self) -> bool:
        """Whether so much is missing, be it as weak zeros."""
        return self.gappy

    @property
    def floor(self) -> float:
        """What a model value of zero counts as in denominators and logarithms."""
        return TINY[np.dtype(self.dtype)] * (self.mean or 1.0)

    def spread(self) -> float:
        """Mean squared distance between two rows of X.

        That is twice the sum of the columns' variances, each over the observed entries of
        its column. If all rows are equal it is their mean squared length instead, and 1 if
        X is empty or zero.
        """
        variance, length = spread_parts(*self.column_moments())
        if variance > 1e-12 * length:  # else it is rounding
            return float(2.0 * variance)
        return float(length) or 1.0


def spread_parts(count: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """The sums of the variances and of the mean squares of columns, from their moments."""
    count, first, second = (moment.astype(np.float64) for moment in (count, first, second))
    seen = count > 0
    count, first, second = count[seen], first[seen], second[seen]
    with np.errstate(over="ignore", invalid="ignore"):  # fits refuse an X so large
        variance = np.maximum(second / count - (first / count) ** 2, 0.0).sum()
    return variance, (second / count).sum()


def places_in_order(sums: np.ndarray, ties: np.ndarray) -> np.ndarray:
    """The place of each number in their order; of equal ones that with the lesser tie is first."""
    found = np.empty(len(sums), dtype=np.uint64)
    found[np.lexsort((ties, sums))] = np.arange(len(sums), dtype=np.uint64)
    return found
