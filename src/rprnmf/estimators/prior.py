"""Priors of the estimators: which rows they pull how strongly, and what they were found to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rprnmf.observed import BaseView
from rprnmf.priors import Prior
from rprnmf.remote import RemoteArray, as_dask

# A row with m observed entries is pulled in proportion to (m + FEW) ^ POWER: rows with many entries
# lean on others that are uncertain too, so that their pull must grow, but less than their data do.
FEW, POWER = 20.0, 0.6
# Of the features, over the mean weight of a row. 1: half of a row is explained by them, half its
# own, as for answers about alike rows. Tables of facts explain less.
RIDGE_TAUGHT, RIDGE = 1.0, 25.0
NEW_ROWS = 0.1  # of the pull of the fit on new rows, where triplets teach


def pull_shape(counts: np.ndarray) -> np.ndarray:
    """How strongly rows of so many entries are pulled, but for a common factor."""
    return (counts.astype(np.float64) + FEW) ** POWER


def prior_of(features: Any, view: BaseView, learning: bool) -> Prior:
    """The prior of the rows of a view, with a mean weight of 1.

    Where triplets teach, ``learning``, all rows have the same weight.
    """
    if learning:
        ones = view.with_rows(np.ones(view.shape[0]))
        return Prior(features.phi, ones, RIDGE_TAUGHT)
    return prior_of_counts(features, view.row_counts)


def prior_of_counts(features: Any, counts: np.ndarray) -> Prior:
    """The prior of rows of so many entries, with a mean weight of 1."""
    weights = pull_shape(counts)
    return Prior(features.phi, weights / weights.mean(), RIDGE)


def tables_of_new_rows(features: Any, given: Any) -> list[Any] | None:
    """The tables of features of new rows; None where rows cannot be pulled without any.

    Parameters
    ----------
    features : Part or None
        Of the rows of the fit.
    given : table, list of tables or None
    """
    tables = list(given) if isinstance(given, (list, tuple)) else [given]
    if given is None:
        tables = []
    if features is None or len(tables) < features.wants:
        if given is not None:
            wants = 0 if features is None else features.wants
            raise ValueError(f"row_prior has {wants} tables of features, got {len(tables)}.")
        return None
    return tables


@dataclass(frozen=True)
class LearnedPrior:
    """What the features of one side predict.

    Attributes
    ----------
    names : list of str
        Of the features.
    coefficients : ndarray of shape (n_features, n_components)
        How far a feature moves the prior mean in each component.
    intercept : ndarray of shape (n_components,)
    means : ndarray of shape (n_rows, n_components)
        The prior mean of every row; may be negative, where the row itself ends at zero.
    weights : ndarray of shape (n_rows,)
        How strongly each row is pulled to it.
    ridge : float
        What the squared coefficients are multiplied by in the objective.
    """

    names: list[str]
    coefficients: np.ndarray
    intercept: np.ndarray
    means: np.ndarray
    weights: np.ndarray
    ridge: float

    def top(self, component: int, n: int = 5) -> list[tuple[str, float]]:
        """The features that raise a component most, with their coefficients."""
        order = np.argsort(-self.coefficients[:, component], kind="stable")[:n]
        return [(self.names[k], float(self.coefficients[k, component])) for k in order]


def learned(features: Any, terms: Any, F: np.ndarray) -> LearnedPrior:
    """What the prior of a side is at its factor."""
    B, b = terms.prior.coefficients(F)
    weights = terms.prior_weight * terms.prior.weights
    ridge = terms.prior_weight * terms.prior.ridge
    means = terms.prior.means(F)
    if isinstance(means, RemoteArray):
        means, weights = as_dask(means), as_dask(weights)
    return LearnedPrior(features.names, B, b, means, weights, ridge)
