"""Features of X itself where its rows lie in blocks: the same as in one place.

Of the rows, the features stay with the workers. What maps a row to them is found here: for complete
data from a sample of the rows (`kernel.py`), for incomplete data by the singular vectors of which
entries are observed (`mask.py`), whose rounds send sums. Of the columns, the features come here:
sums over the rows tell how alike columns are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.observed import BaseView, column_means, filled, observed_ones
from rprnmf.observed.entries import Entries
from rprnmf.observed.remote import Kind, RemoteView
from rprnmf.observed.remote_parts import lazily
from rprnmf.observed.sparse import FullSparse
from rprnmf.priors.kernel import (
    EXACT,
    Centred,
    KernelFeatures,
    chosen_rows,
    features_of_products,
)
from rprnmf.priors.mask import POWER, VECTORS, MaskFeatures
from rprnmf.remote import RemoteArray
from rprnmf.remote.singular import singular_vectors


def data_of_rows(view: BaseView, matrix: Any, by_mask: bool, fill: np.ndarray) -> Any:
    """What features of rows are made of: X without holes, or ones where it is observed."""
    if by_mask:
        return observed_ones(view)
    return matrix if view.complete else filled(view, fill)


def data_of_block(view: BaseView, by_mask: bool, fill: np.ndarray) -> Any:
    """The same for a block."""
    return data_of_rows(view, view.complete_matrix(), by_mask, fill)


def row_features(view: RemoteView, by_mask: bool, fill: np.ndarray) -> tuple[Any, RemoteArray]:
    """What maps rows to features, and the features of all rows."""
    if by_mask:
        found: Any = mask_of_rows(view, fill)
    else:
        rows = chosen_rows(view.shape[0])
        sample = view.fetched(rows)
        sample.extent = view.extent_of_blocks
        found = KernelFeatures.of_sample(data_of_block(sample, False, fill), view.shape[0])
    raw = view.pool.map(raw_features, view.views, found, by_mask, fill)
    return found, found.centre(RemoteArray.of(raw, (found.width_of_features,), np.float64))


def raw_features(view: BaseView, found: Any, by_mask: bool, fill: np.ndarray) -> np.ndarray:
    """The features of a block before they are centred."""
    return found.raw(data_of_block(view, by_mask, fill))


def mask_of_rows(view: RemoteView, fill: np.ndarray) -> MaskFeatures:
    """The map of incomplete data."""
    counts = np.maximum(view.T.row_counts, 1.0)
    found = MaskFeatures.with_weights(counts**-POWER)
    weighted = view.pool.map(lazily(weighted_mask), view.views, found, fill)
    mask = view_of(view, weighted)
    U, _, Vt = singular_vectors(mask, min(VECTORS, *view.shape), np.random.RandomState(0))
    found.vectors = (Vt * signs_of(U)[:, None]).T
    return found


def weighted_mask(view: BaseView, found: MaskFeatures, fill: np.ndarray) -> BaseView:
    """The view of which entries of a block are observed, as singular vectors are taken of it."""
    return FullSparse(Entries(found.weighted(data_of_block(view, True, fill)), view.n_jobs))


def view_of(view: RemoteView, views: Any) -> RemoteView:
    """The view of sparse blocks of float64 that are all complete."""
    kind = Kind(np.dtype(np.float64), view.n_jobs, True, True)
    return RemoteView(view.pool, views, view.shape[1], kind)


def signs_of(U: Any) -> np.ndarray:
    """The sign of the largest entry of each column: what scikit-learn makes positive."""
    if isinstance(U, RemoteArray):
        U = np.array(U.pool.each(largest_entries, U))
    return np.sign(largest_entries(U))


def largest_entries(U: np.ndarray) -> np.ndarray:
    """Of each column, that with the largest absolute value."""
    return U[np.argmax(np.abs(U), axis=0), np.arange(U.shape[1])]


def column_features(view: RemoteView, by_mask: bool) -> np.ndarray:
    """Features of the columns of X, here."""
    if by_mask:
        return mask_of_columns(view)
    refuse_many_columns(view.shape[1])
    return features_of_products(view.pool.total(products_of_columns, view.views))


def refuse_many_columns(m: int) -> None:
    """Refuse to compare so many columns of complete data."""
    if m > EXACT:
        raise ValueError(
            f"column_prior='data' compares columns of X, each as long as X, and X lies in blocks "
            f"and has {m} of them, complete: it is made for up to {EXACT}. Pass a table of "
            "features, 'mean' or None."
        )


def products_of_columns(view: BaseView) -> np.ndarray:
    """X'X of a block whose holes have the means of their rows."""
    X = view.complete_matrix() if view.complete else filled(view.T, column_means(view.T)).T
    X = X.astype(np.float64)
    found = X.T @ X
    return found.toarray() if sp.issparse(found) else found


def mask_of_columns(view: RemoteView) -> np.ndarray:
    """The features of columns of incomplete data."""
    pool, m = view.pool, view.shape[1]
    squares = pool.total(squared_lengths, view.views)
    inverse = np.divide(1.0, np.sqrt(squares), out=np.zeros(m), where=squares > 0)
    mask = view_of(view, pool.map(lazily(mask_by_columns), view.views, inverse))
    size = min(VECTORS, *view.shape)
    U, _, Vt = singular_vectors(mask, size, np.random.RandomState(0), of_transpose=True)
    raw = mask.T.times(U) * signs_of(Vt.T)
    return Centred().centre(raw)


def weighted_rows(view: BaseView) -> sp.csr_array:
    """Ones where an entry is observed, divided by a power of the count of the row."""
    ones = observed_ones(view)
    counts = np.maximum(np.asarray(ones.sum(axis=1)).ravel(), 1.0)
    return sp.csr_array(sp.diags_array(counts**-POWER) @ ones)


def squared_lengths(view: BaseView) -> np.ndarray:
    """Of the columns of these."""
    found = weighted_rows(view)
    return np.bincount(found.indices, found.data**2, minlength=view.shape[1])


def mask_by_columns(view: BaseView, inverse: np.ndarray) -> BaseView:
    """The view of these with columns of length 1."""
    found = sp.csr_array(weighted_rows(view) @ sp.diags_array(inverse))
    return FullSparse(Entries(found, view.n_jobs))
