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
    n, n_others = X.shape
    rows = np.unique(np.linspace(0, n - 1, min(n, ROWS)).astype(np.int64))
    part = sp.csr_array(X[rows])
    ratings = part.data.astype(np.float64)
    at = np.repeat(np.arange(len(rows)), np.diff(part.indptr)), part.indices
    placed = without_own_row(prior, F, rows)
    told = np.einsum("ik,ik->i", placed[at[0]], other[at[1]].astype(np.float64))
    counts = np.bincount(X.indices, minlength=n_others)[at[1]]
    sums = np.bincount(X.indices, weights=X.data, minlength=n_others)[at[1]]
    overall = float(X.data.mean(dtype=np.float64))
    usual = (sums - ratings + DAMPED * overall) / (counts - 1 + DAMPED)  # without this rating
    apart = usual - told
    length = float(apart @ apart)
    return float(np.clip(apart @ (ratings - told) / length, 0.0, 1.0)) if length > 0 else 0.0
