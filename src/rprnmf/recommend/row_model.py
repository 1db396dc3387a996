"""Rows of one factor, and how to place a row: by its ratings, and by what its features predict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.estimators.prior import RIDGE, LearnedPrior, pull_shape
from rprnmf.losses import get_loss
from rprnmf.objective import Problem, Side
from rprnmf.observed import BaseView, make_view
from rprnmf.priors import Prior
from rprnmf.recommend.features import RowFeatures, SideFeatures
from rprnmf.recommend.usual import ENOUGH, share_of
from rprnmf.solvers import SOLVERS, Settings

# Rows with few ratings are pulled to what the metadata alone tell, in proportion to what they lack
# of `ENOUGH`, and more strongly, by up to this: one rating says little. Chosen on MovieLens 1M, for
# users and items that were cut down to a few ratings.
STRONGER = 1.5
# What the metadata tell is learned from all rows, and is used for those with few ratings: their
# weights grow less with their ratings than in the fit, by the root. (With the weights of the fit
# items that are rare by nature are predicted too high; with equal weights popular ones that
# are new are predicted too low.)
FLATTER = 0.5
# How much more strongly than to zero the row of a user with next to no clicks is pulled to the mean
# user; less by the square of what they lack. Tried on clicks of MovieLens cut down to 1 to 20 and 1
# to 5 of each user, on users of MovieLens 1M with few clicks, and on made ones.
LEAN = 16.0
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
    beta_loss : {"frobenius", "kullback-leibler"}
    """

    missing_weight: float = 0.0
    alpha: float = 0.0
    alpha_power: float = 1.0
    beta_loss: str = "frobenius"

    def view(self, X: sp.csr_array, weights: sp.csr_array | None, n_jobs: Any) -> BaseView:
        """The observed view of ratings, one row per user or per item."""
        return make_view(X, "zero", n_jobs, weights, self.missing_weight)

    def l2(self, view: BaseView) -> np.ndarray:
        """The L2 terms of the rows of a view."""
        half = 0.5 * get_loss(self.beta_loss).times_sklearn * self.alpha
        return half * view.row_counts.astype(np.float64) ** self.alpha_power


class Comparisons(NamedTuple):
    """Triplets that name rows which are to be placed.

    Attributes
    ----------
    triplets : ndarray of shape (n_triplets, 3)
        The rows to be placed come first, then the known ones.
    weights : ndarray of shape (n_triplets,)
    known : ndarray of shape (n_known,)
        Positions of rows that stay where they are.
    """

    triplets: np.ndarray
    weights: np.ndarray
    known: np.ndarray


class Lacking(NamedTuple):
    """Users of few clicks, who lean on what the mean user, or their metadata, tell.

    Attributes
    ----------
    share : ndarray of shape (n_rows,)
        What each lacks of enough clicks: 1 for no click, 0 for enough.
    unit : ndarray of shape (n_rows,)
        What the row of each was multiplied by, see `clicks.py`.
    """

    share: np.ndarray
    unit: np.ndarray


class Task(NamedTuple):
    """Rows to be placed.

    Attributes
    ----------
    view : BaseView
        Their ratings.
    counts : ndarray of shape (n_rows,)
        How many.
    features : RowFeatures
    comparisons : Comparisons or None
    lacking : Lacking or None
        Of users with clicks.
    """

    view: BaseView
    counts: np.ndarray
    features: RowFeatures
    comparisons: Comparisons | None = None
    lacking: Lacking | None = None


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
        by_known = Coefficients(*known_prior(features, view).coefficients(F))
        if found is None:
            return cls(F, by_known, by_known, 0.0)
        unit = float(np.mean(found.weights)) / float(np.mean(pull_shape(view.row_counts)))
        return cls(F, Coefficients(found.coefficients, found.intercept), by_known, unit)

    def means(self, features: RowFeatures, counts: np.ndarray) -> np.ndarray:
        """Where rows with so many ratings are pulled to."""
        share = share_of(counts)[:, None]
        known = self.by_known.means(features.known)
        if self.unit == 0:
            return known
        return (1.0 - share) * known + share * self.by_all.means(features.all)

    def pulls(self, view: BaseView, counts: np.ndarray) -> np.ndarray:
        """How strongly rows are pulled there."""
        pull = self.unit * pull_shape(view.row_counts)
        return pull * (1.0 + STRONGER * (1.0 - share_of(counts)))

    def pulled(self, task: Task, weights: DataWeights) -> tuple[np.ndarray, np.ndarray]:
        """Where rows of a task are pulled to, and how strongly.

        Rows of clicks are pulled to zero by L2 terms; those of users with few clicks also to what
        is known of them without these.
        """
        means = self.means(task.features, task.counts)
        if self.unit > 0:
            return means, self.pulls(task.view, task.counts)
        pulls = weights.l2(task.view)
        lean = np.zeros(len(pulls))
        if task.lacking is not None:
            lean = LEAN * task.lacking.share**2
            means = np.maximum(means, 0.0) * task.lacking.unit[:, None]
        seen = task.counts > 0
        means = np.where(seen[:, None], means * (lean / (1.0 + lean))[:, None], means)
        return means, pulls * (1.0 + lean)

    def solve(self, task: Task, other: np.ndarray, weights: DataWeights) -> np.ndarray:
        """Rows for given ratings, the other factor as it is.

        Rows without ratings and comparisons are what their features predict. With comparisons,
        those of rows with few ratings are evidence, beside what features predict, and some may
        stay unmet: few rows could hold out against them, and predictions would run away. Those of
        rows with enough ratings are met. All rows must be of one kind: with enough ratings, with
        few, or with none.
        """
        view, told = task.view, task.comparisons
        means, pulls = self.pulled(task, weights)
        unseen = task.counts == 0
        if told is None and unseen.all():
            return np.maximum(means, 0.0).astype(view.dtype)
        spread = 2.0 * float(self.F.var(axis=0, dtype=np.float64).sum()) or 1.0
        side, known = Side(), None
        if unseen.all():  # comparisons alone move these rows, which vary as all others do
            pulls = np.full(len(means), 0.5 * means.shape[1] / spread)
            side = Side(prior=pulled_to(means, pulls))
        elif self.unit > 0 or (task.lacking is not None and task.lacking.share.any()):
            side = Side(prior=pulled_to(means, pulls))
        else:
            side = Side(l1=np.zeros_like(pulls), l2=pulls)
        if told is not None:
            known = self.F[told.known] if len(told.known) else None
            side = replace(side, triplets=told.triplets, weight=told.weights, automatic=True)
            if task.counts.min() < ENOUGH:
                unit = get_loss(weights.beta_loss).unit(view) if view.n_observed else 1.0
                weight = float(pulls.mean()) * 2.0 * spread / means.shape[1]
                strength = len(told.triplets) * weight / (unit or 1.0)
                side = replace(side, automatic=False, strength=strength)
        problem = Problem(view, weights.beta_loss, rows=side, only_rows=True, spread=spread)
        Ht = np.ascontiguousarray(other, dtype=view.dtype)
        F = SOLVERS["cd"].fold_in(problem, Ht, known, SOLVED)
        if told is None:
            F[unseen] = np.maximum(means[unseen], 0.0)
        return F


def known_prior(features: SideFeatures, view: BaseView) -> Prior:
    """The regression of the rows of a factor on their metadata."""
    weights = pull_shape(view.row_counts) ** FLATTER
    return Prior(features.rows.known, weights / weights.mean(), RIDGE)


def pulled_to(means: np.ndarray, weights: np.ndarray) -> Prior:
    """The pull of each row to its own mean."""
    K = means.shape[1]
    return Prior(means, weights, 0.0, (np.eye(K), np.zeros(K)))
