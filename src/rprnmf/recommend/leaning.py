"""How much predictions for rows without ratings lean on usual ratings.

Every row with ratings is looked at as if it had none: it is where metadata put it, by a regression
that has not seen it, which takes no further fit (the leverage of a row says how far it drew the
regression to itself). Then a share of the mean ratings is mixed in, the one with the least
squared error over all these ratings.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from rprnmf.priors import Prior
from rprnmf.recommend.usual import DAMPED

ROWS = 2000  # so many rows are enough, evenly over all


def without_own_row(prior: Prior, F: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Where a regression on features puts some rows of a factor, each from all others."""
    phi: Any = prior.features[rows]
    phi = np.asarray(phi.todense() if sp.issparse(phi) else phi, dtype=np.float64)
    B, b = prior.coefficients(F)
    apart = phi - prior.center
    leverage = prior.share[rows].astype(np.float64)
    if prior.factored is not None:
        solved = la.cho_solve(prior.factored, apart.T).T
        leverage = leverage + prior.weights[rows] * np.einsum("ir,ir->i", apart, solved)
    own = F[rows].astype(np.float64)
    return np.maximum(own - (own - phi @ B - b) / np.maximum(1.0 - leverage, 1e-3)[:, None], 0.0)


def best_lean(prior: Prior, F: np.ndarray, other: np.ndarray, X: sp.csr_array) -> float:
    """The share of mean ratings with which ratings of rows are predicted best, 0 to 1.

    Parameters
    ----------
    prior : Prior
        The regression of F on metadata.
    F : ndarray of shape (n_rows, n_components)
    other : ndarray of shape (n_others, n_components)
        The other factor.
    X : sparse array of shape (n_rows, n_others)
        Ratings.
    """
    rows, n_others = looked_at(X.shape[0]), X.shape[1]
    counts = np.bincount(X.indices, minlength=n_others)
    sums = np.bincount(X.indices, weights=X.data, minlength=n_others)
    overall = float(X.data.mean(dtype=np.float64))
    placed = without_own_row(prior, F, rows)
    return share_of_sums(*lean_sums(placed, other, sp.csr_array(X[rows]), (counts, sums), overall))


def looked_at(n: int) -> np.ndarray:
    """Some of n rows, evenly over all."""
    return np.unique(np.linspace(0, n - 1, min(n, ROWS)).astype(np.int64))


def lean_sums(
    placed: np.ndarray,
    other: np.ndarray,
    part: sp.csr_array,
    usual: tuple[np.ndarray, np.ndarray],
    overall: float,
) -> tuple[float, float]:
    """Two sums over ratings that give the best share.

    Parameters
    ----------
    placed : ndarray of shape (n_rows, n_components)
        Where rows would be without ratings.
    other : ndarray of shape (n_others, n_components)
    part : sparse array of shape (n_rows, n_others)
        Their ratings.
    usual : (ndarray of shape (n_others,), ndarray of shape (n_others,))
        The numbers and sums of all ratings of the others.
    overall : float
        The mean of all ratings.
    """
    ratings = part.data.astype(np.float64)
    at = np.repeat(np.arange(len(placed)), np.diff(part.indptr)), part.indices
    told = np.einsum("ik,ik->i", placed[at[0]], other[at[1]].astype(np.float64))
    counts, sums = (each[at[1]] for each in usual)
    means = (sums - ratings + DAMPED * overall) / (counts - 1 + DAMPED)  # without this rating
    apart = means - told
    return float(apart @ (ratings - told)), float(apart @ apart)


def share_of_sums(along: float, length: float) -> float:
    """The share, 0 to 1."""
    return float(np.clip(along / length, 0.0, 1.0)) if length > 0 else 0.0
