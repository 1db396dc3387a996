"""What a loss may ask of X: one view for complete data, one for incomplete data.

``make_view`` reads X and the ``missing`` rule; everything below this room works with
X ~ F G' where ``F`` is (rows, K) and ``G`` (columns, K), and ``view.T`` serves the
other factor with the same code.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rprnmf.observed.base import BaseView, Entrywise
from rprnmf.observed.dense import FullDense
from rprnmf.observed.entries import Entries
from rprnmf.observed.masked import Masked
from rprnmf.observed.parts import column_means, filled, hold_out, observed_ones
from rprnmf.observed.sparse import FullSparse

__all__ = [
    "BaseView",
    "Entries",
    "Entrywise",
    "FullDense",
    "FullSparse",
    "Masked",
    "column_means",
    "filled",
    "hold_out",
    "make_view",
    "observed_ones",
]


def make_view(X, missing: str | None = None, n_jobs: int | None = None) -> BaseView:
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

    Returns
    -------
    view : BaseView

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.observed import make_view
    >>> make_view(np.array([[1.0, np.nan], [0.0, 2.0]]), missing="nan").n_observed
    3
    """
    if sp.issparse(X):
        X = sp.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        if missing == "zero":
            return Masked(Entries(X, n_jobs))
        holes = np.isnan(X.data) if missing == "nan" else np.zeros(0, dtype=bool)
        if holes.any():
            return FullSparse(_pick(X, ~holes, n_jobs), _pick(X, holes, n_jobs, value=0))
        return FullSparse(Entries(X, n_jobs))
    if missing is None:
        return FullDense(X, n_jobs)
    seen = ~np.isnan(X) if missing == "nan" else X != 0
    if seen.all():
        return FullDense(X, n_jobs)
    indptr = np.concatenate(([0], np.cumsum(seen.sum(axis=1))))
    entries = sp.csr_array((X[seen], np.nonzero(seen)[1], indptr), shape=X.shape)
    return Masked(Entries(entries, n_jobs))


def _pick(X: sp.csr_array, chosen: np.ndarray, n_jobs: int | None, value=None) -> Entries:
    """Some of the stored entries, their values kept or all set to ``value``."""
    before = np.concatenate(([0], np.cumsum(chosen)))
    data = X.data[chosen] if value is None else np.full(chosen.sum(), value, dtype=X.dtype)
    picked = sp.csr_array((data, X.indices[chosen], before[X.indptr]), shape=X.shape)
    return Entries(picked, n_jobs)
