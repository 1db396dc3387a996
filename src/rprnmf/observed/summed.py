"""Rows of X that are tied and lie in several blocks: their sums, in one place.

Tied rows have one row of W, which sees of X only sums over its members: of the entries, and of how
many are observed. So the sums travel once, and then a step in that row needs nothing of the blocks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.observed.base import BaseView
from rprnmf.observed.entries import Entries
from rprnmf.observed.masked import Masked


class Sums(NamedTuple):
    """Over the members of each group.

    Attributes
    ----------
    entries : ndarray or sparse array
        Where much is missing these are complex: the imaginary part counts the observed entries.
    shares : ndarray
        Of the entries of a row that are observed.
    """

    entries: Any
    shares: np.ndarray


class SummedRows:
    """As much of a view as row problems ask for, with one row per group.

    Parameters
    ----------
    sums : Sums
    sizes : ndarray
        The number of members of each group.
    of : BaseView
        The view of all rows.
    """

    remote = weighted = False
    holes = None
    entry_weight = 1.0

    def __init__(self, sums: Sums, sizes: np.ndarray, of: Any):
        self.extent, self.dtype, self.n_jobs = of.extent_of_blocks, of.dtype, of.n_jobs
        self.one_gram, self.zeros_implied = of.one_gram, of.zeros_implied
        self.complete, self.gappy, self.mean = of.complete, of.gappy, of.mean
        self.floor, self.sizes, self.row_shares = of.floor, sizes, sums.shares
        self.shape = len(sizes), of.shape[1]
        self.n_observed = of.n_observed
        entries, self.counts = sums.entries, None
        if sp.issparse(entries):
            entries.sort_indices()
        if not self.one_gram:
            self.counts = Entries(with_data(entries, entries.data.imag, of.dtype), of.n_jobs)
            entries = with_data(entries, entries.data.real, of.dtype)
        self.matrix = entries
        self.entries = Entries(sp.csr_array(entries), of.n_jobs)

    def times(self, G: np.ndarray) -> np.ndarray:
        """X G."""
        return self.entries.times(G) if sp.issparse(self.matrix) else self.matrix @ G

    def ones_times(self, G: np.ndarray) -> np.ndarray:
        """The sums of G over what is observed."""
        if self.counts is not None:
            return self.counts.times(G)
        return self.sizes.astype(G.dtype)[:, None] * G.sum(axis=0)

    def stored(self) -> Entries:
        """Sums of entries."""
        return self.entries

    weighted_nonzeros = stored


def with_data(matrix: sp.csr_array, data: np.ndarray, dtype: Any) -> sp.csr_array:
    """Other values at the same places."""
    data = np.ascontiguousarray(data, dtype=dtype)
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def sums_of_groups(view: BaseView, tying: Any) -> Sums:
    """The sums over the rows of a block that make up groups with rows elsewhere."""
    members = tying.members
    shares = members @ np.asarray(view.row_shares, dtype=np.float64)
    if isinstance(view, Masked):
        entries = view.stored().matrix()
        both = np.complex64 if view.dtype == np.float32 else np.complex128
        marked = with_data(entries, entries.data + both(1j), both)
        return Sums(sp.csr_array(members.astype(both) @ marked), shares)
    X = view.complete_matrix()
    found = members.astype(view.dtype) @ (view.nonzeros().matrix() if X is None else X)
    return Sums(sp.csr_array(found) if sp.issparse(found) else found, shares)
