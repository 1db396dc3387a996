"""Rows of one factor, and how to place a row: by its ratings, and by what its features predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.estimators.prior import LearnedPrior, prior_of, pull_shape
from rprnmf.objective import Problem, Side
from rprnmf.observed import BaseView, make_view
from rprnmf.priors import Prior
from rprnmf.recommend.features import RowFeatures, SideFeatures
from rprnmf.solvers import SOLVERS, Settings

# Which items a row rated is a good guide where there are many ratings, and a poor one where there
# are next to none: with fewer than this the metadata alone take over, in proportion.
ENOUGH = 10
# And the pull is stronger, by up to this: one rating says little. Both were chosen on MovieLens 1M,
# for users and items that were cut down to a few ratings.
STRONGER = 1.5
SOLVED = Settings(max_iter=100, tol=1e-3)


@dataclass(frozen=True)
class Coefficients:
    """A regression of the rows of a factor on features."""

    B: np.ndarray
    b: np.ndarray

    def means(self, features: Any) -> np.ndarray:
        """What the features predict."""
        return np.asarray(features @ self.B) + self.b


@dataclass(frozen=True)
class DataWeights:
    """What missing entries weigh, and L2 terms, see `clicks.py` and `recipes.py`.

    Attributes
    ----------
    missing_weight : float
        Of a pair that did not happen.
    alpha, alpha_power : float
        L2 of a row: alpha * (sum of the weights of its entries) ^ alpha_power.
    """

    missing_weight: float = 0.0
    alpha: float = 0.0
    alpha_power: float = 1.0

    def view(self, X: sp.csr_array, weights: sp.csr_array | None, n_jobs: Any) -> BaseView:
        """The observed view of ratings, one row per user or per item."""
        return make_view(X, "zero", n_jobs, weights, self.missing_weight)


@dataclass(frozen=True)
class RowModel:
    """One factor of one start, and what its features say.

    Attributes
    ----------
    F : ndarray of shape (n_rows, n_components)
    by_all, by_known : Coefficients
        From all features, and from the metadata alone; with none, the mean row.
    unit : float
        Of the pull to what features predict; 0: rows are pulled to zero, by L2 terms.
    """

    F: np.ndarray
    by_all: Coefficients
    by_known: Coefficients
    unit: float

    @classmethod
    def of(
        cls, F: np.ndarray, features: SideFeatures, view: BaseView, found: LearnedPrior | None
    ) -> RowModel:
        """After a fit."""
        by_known = Coefficients(*prior_of(_Phi(features.rows.known), view, False).coefficients(F))
        if found is None:
            return cls(F, by_known, by_known, 0.0)
        unit = float(np.mean(found.weights)) / float(np.mean(pull_shape(view)))
        return cls(F, Coefficients(found.coefficients, found.intercept), by_known, unit)

    def means(self, features: RowFeatures, counts: np.ndarray) -> np.ndarray:
        """Where rows with so many ratings are pulled to."""
        share = share_of(counts)[:, None]
        known = self.by_known.means(features.known)
        if self.unit == 0:
            return known
        return (1.0 - share) * known + share * self.by_all.means(features.all)

    def pulls(self, view: BaseView) -> np.ndarray:
        """How strongly rows are pulled there."""
        counts = np.diff(view.stored().indptr)
        return self.unit * pull_shape(view) * (1.0 + STRONGER * (1.0 - share_of(counts)))

    def solve(
        self, view: BaseView, features: RowFeatures, other: np.ndarray, weights: DataWeights
    ) -> np.ndarray:
        """Rows for given ratings, the other factor as it is.

        Rows without ratings are what their features predict.
        """
        counts = np.diff(view.stored().indptr)
        means = self.means(features, counts)
        if self.unit > 0:
            pull = self.pulls(view)
            K = other.shape[1]
            prior = Prior(means, pull, 0.0, (np.eye(K), np.zeros(K)))
            side = Side(prior=prior)
        else:
            l2 = weights.alpha * view.row_counts.astype(np.float64) ** weights.alpha_power
            side = Side(l1=np.zeros_like(l2), l2=l2)
        problem = Problem(view, rows=side, only_rows=True, spread=1.0)
        Ht = np.ascontiguousarray(other, dtype=view.dtype)
        F = SOLVERS["cd"].fold_in(problem, Ht, None, SOLVED)
        empty = counts == 0
        F[empty] = np.maximum(means[empty], 0.0)
        return F


def share_of(counts: np.ndarray) -> np.ndarray:
    """How far rows with so many ratings have enough of them: 0 to 1."""
    return np.minimum(counts / ENOUGH, 1.0)


class _Phi:
    def __init__(self, phi: Any):
        self.phi = phi
