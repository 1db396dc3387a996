"""Who rated an item, as features, where the ratings lie in blocks of users.

As `priors/mask.py`, from the same random numbers: the singular vectors span the same space. They
are as long as the users and stay with the blocks; of them rows come here that are asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.observed import Entries, FullSparse, RemoteView
from rprnmf.observed.remote import Kind
from rprnmf.priors.features import DataPart
from rprnmf.priors.kernel import squares
from rprnmf.priors.mask import POWER, VECTORS, MaskFeatures
from rprnmf.remote import Pool, Remote, RemoteArray
from rprnmf.remote.singular import singular_vectors

Counts = tuple[np.ndarray, np.ndarray]


class BlockMask(MaskFeatures):
    """A map from rows of ones where an entry is observed to features.

    Parameters
    ----------
    column_counts : ndarray
        Of the observed entries.
    vectors : RemoteArray of shape (n_columns, n_features)
    features : ndarray of shape (n_rows, n_features)
        The rows of the fit times these.
    """

    def __init__(self, column_counts: np.ndarray, vectors: Any, features: Any):
        self.column_weights = weights_of(column_counts)
        self.vectors = vectors
        self.phi = self.centre(features)

    def raw(self, mask: sp.csr_array) -> np.ndarray:
        A = self.weighted(mask)
        columns = np.unique(A.indices).astype(np.int64)
        return A[:, columns] @ self.vectors[columns]


def weights_of(counts: np.ndarray) -> np.ndarray:
    """What the columns are multiplied by."""
    return np.maximum(counts, 1.0) ** -POWER


def item_mask(pool: Pool, X: Remote, counts: Counts) -> BlockMask:
    """The features of items: who rated them."""
    cuts = np.split(weights_of(counts[0]), pool.bounds[1:-1])
    rows = pool.map(rows_times, X, pool.scatter(cuts))
    length = np.sqrt(pool.total(squares_of_columns, rows))
    inverse = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    view = view_of(pool, pool.map(columns_times, rows, inverse), len(counts[1]))
    vectors: RemoteArray = singular_vectors(view, width(counts), np.random.RandomState(0))[0]
    return BlockMask(counts[0], vectors, view.T.times(vectors))


def width(counts: Counts) -> int:
    """The number of features."""
    return min(VECTORS, len(counts[0]), len(counts[1]))


def view_of(pool: Pool, rows: Remote, n_columns: int) -> RemoteView:
    """Sparse blocks as a matrix."""
    views = pool.map(full_view, rows, pool.jobs_of_block(None))
    return RemoteView(pool, views, n_columns, Kind(np.dtype(np.float64), None, True, True))


def full_view(rows: sp.csr_array, n_jobs: int | None) -> FullSparse:
    """The view of a block."""
    return FullSparse(Entries(rows, n_jobs))


def ones_of(X: sp.csr_array) -> sp.csr_array:
    """Ones at the stored places."""
    return sp.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)


def rows_times(X: sp.csr_array, rows: np.ndarray) -> sp.csr_array:
    """Ones times the weights of rows."""
    return sp.csr_array(sp.diags_array(rows) @ ones_of(X))


def columns_times(X: sp.csr_array, columns: np.ndarray) -> sp.csr_array:
    """Columns times numbers."""
    return sp.csr_array(X @ sp.diags_array(columns))


def squares_of_columns(X: sp.csr_array) -> np.ndarray:
    """The squared length of each column."""
    return squares(sp.csr_array(X.T))


def part_of(found: MaskFeatures, phi: Any, n_columns: int) -> DataPart:
    """As `DataPart` of features of incomplete data."""
    part = DataPart.__new__(DataPart)
    part.by_mask, part.fill = True, np.zeros(n_columns)  # which complete data need
    part.map, part.phi = found, phi
    part.names = [f"data{number}" for number in range(found.width_of_features)]
    return part
