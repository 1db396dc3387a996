"""From blocks of a matrix to their view."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.checks import check_entry_weights, check_matrix, sorted_places
from rprnmf.observed.base import BaseView
from rprnmf.observed.entries import Entries
from rprnmf.observed.making import listed, make_view, observed, weighted
from rprnmf.observed.masked import Masked
from rprnmf.observed.remote import Kind, RemoteView
from rprnmf.observed.remote_parts import lazily
from rprnmf.observed.sparse import FullSparse
from rprnmf.remote import Placed, spans_of


class Reading(NamedTuple):
    """How the entries of a matrix are read: as `make_view` is told."""

    missing: str | None
    missing_weight: float
    whom: str  # the estimator, for messages


class Found(NamedTuple):
    """What a block is, or all of them are."""

    n_missing: int
    others: int  # entries whose weight is not 1
    kinds: set[Any]  # whether it is sparse, and of float32


def make_remote_view(X: Placed, reading: Reading, n_jobs: int | None) -> RemoteView:
    """The view of a matrix whose blocks lie elsewhere, checked.

    Parameters
    ----------
    X : Placed
        With the weights of its entries, if they have any.
    reading : Reading
    n_jobs : int or None
    """
    pool, missing = X.pool, reading.missing
    found = Found(*pool.total(examined, X.blocks, X.weights, pool.first, reading))
    sparse, single = ({kind[place] for kind in found.kinds} for place in (0, 1))
    if len(sparse) > 1:
        first, *rest = pool.each(sp.issparse, X.blocks)
        other = rest.index(not first) + 1
        raise TypeError(
            "all blocks of X must be sparse, or none: block 0 is "
            f"{'sparse' if first else 'dense'}, {spans_of(pool.sizes)[other]} is not."
        )
    is_sparse, dtype = sparse == {True}, np.dtype(np.float32 if single == {True} else np.float64)
    holed = found.n_missing > 0 or (is_sparse and missing == "zero")
    jobs = pool.jobs_of_block(n_jobs)
    weak = missing is not None and reading.missing_weight > 0
    make: Any = partial(view_of_block, missing=missing, holed=holed, dtype=dtype, n_jobs=jobs)
    gappy = holed and not (is_sparse and missing == "nan")
    kind = Kind(dtype, n_jobs, not gappy, is_sparse and not gappy)
    if X.weights is not None or (weak and holed):
        full = is_sparse and missing != "zero"  # what is not stored is a zero like any other
        rest = 1.0 if full else reading.missing_weight
        ones = reading.missing_weight == 1.0 or (full and not found.n_missing)
        even = ones and found.others == 0
        make = partial(weighted_block, reading=reading, dtype=dtype, n_jobs=jobs, even=even)
        kind = Kind(dtype, n_jobs, even, even, not even, rest, weak and not full and not even)
    views = pool.map(lazily(make), X.blocks, X.weights)
    return RemoteView(pool, views, X.shape[1], kind)


def examined(X: Any, weights: Any, first: int, reading: Reading) -> Found:
    """How many entries are missing, and whether the block is sparse and of float32."""
    try:
        given, X = X, check_matrix(X, reading.missing, reading.whom, first)
        if weights is not None:
            weights = check_entry_weights(weights, given, X)
    except ValueError as error:
        raise ValueError(f"in the block of rows from {first} on: {error}") from None
    if sp.issparse(X):
        seen = ~np.isnan(sorted_places(X).data)
        n_missing = int(len(seen) - seen.sum())
    else:
        seen = observed(X, reading.missing)
        n_missing = int(X.size - seen.sum())
    others = 0
    if weights is not None:
        c = weights.data if sp.issparse(weights) else weights
        others = int(np.count_nonzero(c[seen] != 1))
    return Found(n_missing, others, {(sp.issparse(X), X.dtype == np.float32)})


def view_of_block(
    X: Any, _: None, missing: str | None, holed: bool, dtype: np.dtype, n_jobs: int | None
) -> BaseView:
    """The view of a block; of one kind in all blocks, whatever this one has."""
    if sp.issparse(X):
        return make_view(sp.csr_array(X).astype(dtype, copy=False), missing, n_jobs)
    X = np.ascontiguousarray(X, dtype=dtype)
    if holed:
        return Masked(Entries(listed(X, observed(X, missing)), n_jobs))
    return make_view(X, None, n_jobs)


def weighted_block(
    X: Any, weights: Any, reading: Reading, dtype: np.dtype, n_jobs: int | None, even: bool
) -> BaseView:
    """The same where entries have weights; ``even``: where all of them turned out to be 1."""
    if sp.issparse(X):
        X = sp.csr_array(X).astype(dtype, copy=False)
        weights = None if weights is None else sorted_places(weights)
    else:
        X = np.ascontiguousarray(X, dtype=dtype)
        weights = None if weights is None else np.asarray(weights)
    view = weighted(X, reading.missing, n_jobs, weights, reading.missing_weight)
    return FullSparse(view.entries) if even else view
