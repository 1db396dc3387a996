"""How close W H comes to the observed entries of X."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rprnmf.checks import check_matrix, check_start
from rprnmf.observed import BaseView, Reading, make_remote_view, make_view
from rprnmf.remote import RemoteArray, as_blocks, is_chunked, placed


@contextmanager
def pair_of(
    X: Any, W: Any, H: Any, missing: str | None
) -> Iterator[tuple[BaseView, Any, np.ndarray]]:
    """Within it: the view of X and both factors, (rows, K); where X is a Dask array in blocks."""
    if not is_chunked(X):
        yield read_pair(X, W, H, missing)
        return
    here = placed(X)
    try:
        view = make_remote_view(here, Reading(missing, 0.0, "the metric"), None)
        n, m = view.shape
        K = np.shape(H)[0] if np.ndim(H) else 0
        H = check_start(H, (K, m), "H", view.dtype, zeros=True)
        rows = here.pool.place(as_blocks(W, (n, K), here.chunks))
        W = RemoteArray.of(here.pool.map(checked_rows, rows, here.pool.rows, K), (K,), view.dtype)
        yield view, W.astype(view.dtype), np.ascontiguousarray(H.T)
    finally:
        here.pool.close()


def checked_rows(W: Any, n_rows: int, K: int) -> np.ndarray:
    """A block of W."""
    W = np.asarray(W)
    return np.ascontiguousarray(check_start(W, (n_rows, K), "W", W.dtype, zeros=True))


def read_pair(X: Any, W: Any, H: Any, missing: str | None) -> tuple[BaseView, np.ndarray, Any]:
    """The view of X and both factors as (rows, K) arrays of X's precision."""
    view = make_view(check_matrix(X, missing, "the metric"), missing)
    n, m = view.shape
    K = np.shape(W)[-1] if np.ndim(W) else 0
    W = check_start(W, (n, K), "W", view.dtype, zeros=True)
    H = check_start(H, (K, m), "H", view.dtype, zeros=True)
    return view, np.ascontiguousarray(W), np.ascontiguousarray(H.T)


def mean_squared_loss(X: Any, W: Any, H: Any, *, missing: str | None = None) -> float:
    """Mean squared loss (MSL): the mean of (x - wh)^2 over the observed entries.

    Parameters
    ----------
    X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
        Of a Dask array no more than a block is in one place, and no product of its shape is made.
    W : {array-like, dask array} of shape (n_samples, n_components)
    H : array-like of shape (n_components, n_features)
    missing : {None, "nan", "zero"}, default=None
        As in the estimators.

    Returns
    -------
    loss : float
        NaN if nothing is observed.

    Examples
    --------
    >>> from rprnmf.metrics import mean_squared_loss
    >>> mean_squared_loss([[1.0, 2.0]], [[1.0]], [[1.0, 1.0]])
    0.5
    """
    with pair_of(X, W, H, missing) as (view, W, Ht):
        return view.squared_error(W, Ht) / view.n_observed if view.n_observed else np.nan


def mean_divergence(X: Any, W: Any, H: Any, *, missing: str | None = None) -> float:
    """Mean divergence (MD): the mean of x log(x / wh) - x + wh over the observed entries.

    Parameters
    ----------
    X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
        Of a Dask array no more than a block is in one place, and no product of its shape is made.
    W : {array-like, dask array} of shape (n_samples, n_components)
    H : array-like of shape (n_components, n_features)
    missing : {None, "nan", "zero"}, default=None
        As in the estimators.

    Returns
    -------
    divergence : float
        NaN if nothing is observed.

    Examples
    --------
    >>> from rprnmf.metrics import mean_divergence
    >>> mean_divergence([[1.0, 0.0]], [[1.0]], [[1.0, 1.0]])
    0.5
    """
    with pair_of(X, W, H, missing) as (view, W, Ht):
        return view.divergence(W, Ht) / view.n_observed if view.n_observed else np.nan


def rmse(X: Any, W: Any, H: Any, *, missing: str | None = "zero") -> float:
    """Root mean squared error over the observed entries, e.g. held-out ratings.

    Parameters
    ----------
    X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
        The entries to compare with, e.g. a sparse matrix of the test ratings.
    W : {array-like, dask array} of shape (n_samples, n_components)
    H : array-like of shape (n_components, n_features)
    missing : {None, "nan", "zero"}, default="zero"
        As in the estimators; by default entries that are not stored, or 0, are not compared.

    Returns
    -------
    error : float

    Examples
    --------
    >>> from rprnmf.metrics import rmse
    >>> rmse([[3.0, 0.0]], [[1.0]], [[1.0, 5.0]])
    2.0
    """
    return float(np.sqrt(mean_squared_loss(X, W, H, missing=missing)))
