"""From blocks of a matrix to their view."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.checks import check_matrix
from rprnmf.observed.base import BaseView
from rprnmf.observed.entries import Entries
from rprnmf.observed.making import listed, make_view, observed
from rprnmf.observed.masked import Masked
from rprnmf.observed.remote import Kind, RemoteView
from rprnmf.observed.remote_parts import lazily
from rprnmf.remote import Pool, Remote


def make_remote_view(
    pool: Pool, X: Remote, n_columns: int, missing: str | None, whom: str, n_jobs: int | None
) -> RemoteView:
    """The view of a matrix whose blocks lie elsewhere, checked.

    Parameters
    ----------
    pool : Pool
    X : Remote
        A block of the matrix in each block of the pool.
    n_columns : int
    missing : {None, "nan", "zero"}
        As for `make_view`.
    whom : str
        The estimator, for messages.
    n_jobs : int or None
    """
    found = pool.total(examined, X, pool.first, missing, whom)
    n_missing, kinds = found
    sparse, single = ({kind[place] for kind in kinds} for place in (0, 1))
    if len(sparse) > 1:
        raise TypeError("some blocks of X are sparse and others are not.")
    is_sparse, dtype = sparse == {True}, np.dtype(np.float32 if single == {True} else np.float64)
    holed = n_missing > 0 or (is_sparse and missing == "zero")
    jobs = pool.jobs_of_block(n_jobs)
    views = pool.map(lazily(view_of_block), X, missing, holed, dtype, jobs)
    gappy = holed and not (is_sparse and missing == "nan")
    kind = Kind(dtype, n_jobs, not gappy, is_sparse and not gappy)
    return RemoteView(pool, views, n_columns, kind)


def examined(X: Any, first: int, missing: str | None, whom: str) -> tuple[int, set[Any]]:
    """How many entries are missing, and whether the block is sparse and of float32."""
    try:
        X = check_matrix(X, missing, whom)
    except ValueError as error:
        raise ValueError(f"in the block of rows from {first} on: {error}") from None
    if sp.issparse(X):
        n_missing = int(np.isnan(X.data).sum())
    else:
        n_missing = X.size - int(observed(X, missing).sum())
    return n_missing, {(sp.issparse(X), X.dtype == np.float32)}


def view_of_block(
    X: Any, missing: str | None, holed: bool, dtype: np.dtype, n_jobs: int | None
) -> BaseView:
    """The view of a block; of one kind in all blocks, whatever this one has."""
    if sp.issparse(X):
        return make_view(sp.csr_array(X).astype(dtype, copy=False), missing, n_jobs)
    X = np.ascontiguousarray(X, dtype=dtype)
    if holed:
        return Masked(Entries(listed(X, observed(X, missing)), n_jobs))
    return make_view(X, None, n_jobs)
