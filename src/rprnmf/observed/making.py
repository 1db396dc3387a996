"""From a checked matrix to its observed view."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.checks import sorted_places
from rprnmf.observed.base import BaseView
from rprnmf.observed.dense import FullDense
from rprnmf.observed.entries import Entries
from rprnmf.observed.masked import Masked
from rprnmf.observed.sparse import FullSparse
from rprnmf.observed.weighted import Weighted


def make_view(
    X: Any,
    missing: str | None = None,
    n_jobs: int | None = None,
    weights: Any = None,
    missing_weight: float = 0.0,
) -> BaseView:
    """The observed view of a checked matrix.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Finite but for NaN where ``missing="nan"``, non-negative, float32 or float64.
    missing : {None, "nan", "zero"}, default=None
        None: every entry is observed. "nan": NaN is not observed (sparse: a stored NaN;
        entries that are not stored are zeros). "zero": zeros are not observed (sparse:
        entries that are not stored; a stored 0 is an observation).
    n_jobs : int, default=None
    weights : {ndarray, sparse matrix} of shape (n_samples, n_features), default=None
        What each entry counts in a loss; sparse: at the stored places of X. None: 1.
    missing_weight : float, default=0.0
        What a missing entry counts, as a zero.

    Returns
    -------
    view : BaseView

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.observed import make_view
    >>> make_view(np.array([[1.0, np.nan], [0.0, 2.0]]), missing="nan").n_observed
    3
    >>> make_view(np.array([[1.0, np.nan]]), missing="nan", missing_weight=0.1).mass
    1.1
    """
    weak = missing is not None and missing_weight > 0
    if not sp.issparse(X):
        seen = observed(X, missing)
        if weights is None and (missing is None or seen.all()):
            return FullDense(X, n_jobs)
        if weights is None and not weak:
            return Masked(Entries(listed(X, seen), n_jobs))
        return plainest(weighted(X, missing, n_jobs, weights, missing_weight))
    X = sorted_places(X)
    holes = np.isnan(X.data) if missing == "nan" else np.zeros(0, dtype=bool)
    if weights is not None or (weak and (missing == "zero" or holes.any())):
        return plainest(weighted(X, missing, n_jobs, weights, missing_weight))
    if missing == "zero":
        return Masked(Entries(X, n_jobs))
    if holes.any():
        return FullSparse(_pick(X, ~holes, n_jobs), _pick(X, holes, n_jobs, value=0))
    return FullSparse(Entries(X, n_jobs))


def observed(X: np.ndarray, missing: str | None) -> np.ndarray:
    """Which entries of a dense matrix are not missing."""
    if missing is None:
        return np.ones(X.shape, dtype=bool)
    return ~np.isnan(X) if missing == "nan" else X != 0


def listed(X: np.ndarray, seen: np.ndarray) -> sp.csr_array:
    """Some entries of a dense matrix one by one."""
    indptr = np.concatenate(([0], np.cumsum(seen.sum(axis=1))))
    return sp.csr_array((X[seen], np.nonzero(seen)[1], indptr), shape=X.shape)


def weighted(
    X: Any, missing: str | None, n_jobs: int | None, weights: Any, missing_weight: float
) -> Weighted:
    """The view of a matrix whose entries have weights, or whose missing ones do; see `make_view`.

    Every entry that is not stored is a zero of one weight.
    """
    weak = missing is not None and missing_weight > 0
    if not sp.issparse(X):
        seen = observed(X, missing)
        entries = listed(X, seen)
        c = np.ones_like(entries.data) if weights is None else weights[seen].astype(X.dtype)
        return _weighted(Entries(entries, n_jobs), c, missing_weight, weak)
    X = sorted_places(X)
    holes = np.isnan(X.data) if missing == "nan" else np.zeros(0, dtype=bool)
    x, c = X.data, np.ones_like(X.data) if weights is None else weights.data.astype(X.dtype)
    if holes.any():
        x, c = np.where(holes, 0, x), np.where(holes, missing_weight, c).astype(X.dtype)
    rest = missing_weight if missing == "zero" else 1.0
    return _weighted(Entries(X, n_jobs).replaced(x), c, rest, weak and missing == "zero")


def plainest(view: Weighted) -> BaseView:
    """The view without weights, where all of them are 1 and nothing is missing."""
    return FullSparse(view.entries) if view.all_ones else view


def _weighted(entries: Entries, c: np.ndarray, rest: float, weak: bool) -> Weighted:
    """Stored entries with weights, the others zeros of the weight ``rest``."""
    weights = entries.replaced(c)
    if rest == 0.0 and not np.all(c > 0):  # entries without weight are missing
        rows = np.repeat(np.arange(entries.shape[0]), entries.row_counts)
        entries, weights = (part.only(rows, c > 0) for part in (entries, weights))
    return Weighted(entries, weights, rest, weak)


def _pick(X: sp.csr_array, chosen: np.ndarray, n_jobs: int | None, value=None) -> Entries:
    """Some of the stored entries, their values kept or all set to ``value``."""
    before = np.concatenate(([0], np.cumsum(chosen)))
    data = X.data[chosen] if value is None else np.full(chosen.sum(), value, dtype=X.dtype)
    picked = sp.csr_array((data, X.indices[chosen], before[X.indptr]), shape=X.shape)
    return Entries(picked, n_jobs)
