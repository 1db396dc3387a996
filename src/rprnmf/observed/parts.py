"""Observed entries in two parts, and the matrix with its holes filled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.observed.base import BaseView
from rprnmf.observed.entries import Entries
from rprnmf.observed.masked import Masked
from rprnmf.observed.remote import RemoteView
from rprnmf.observed.sparse import FullSparse
from rprnmf.observed.weighted import Weighted

CELLS = 1 << 20  # entries looked at together, so that memory stays small

#: whether each entry is chosen, by its row and its column
Choice = Any


class Fold(NamedTuple):
    """One of ``n_folds`` parts of the entries, without pattern, by the ranks of row and column."""

    row_ranks: np.ndarray
    column_ranks: np.ndarray
    number: int
    n_folds: int

    def __call__(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        mixed = scattered(self.row_ranks[rows], self.column_ranks[columns])
        return mixed % self.n_folds == self.number


def scattered(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """A number without pattern for each pair of numbers (the mixing of splitmix64)."""
    mixed: np.ndarray = one * np.uint64(0x9E3779B97F4A7C15) + two * np.uint64(0xC2B2AE3D27D4EB4F)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def hold_out(view: BaseView, chosen: Choice) -> tuple[BaseView, BaseView]:
    """The view without some of its entries, and these."""
    if isinstance(view, RemoteView):
        return view.parted(chosen)
    if not view.zeros_implied:
        entries = view.stored()
        rows = np.repeat(np.arange(view.shape[0]), entries.row_counts)
        out = chosen(rows, entries.indices)
        if isinstance(view, Weighted):
            return view.parted(rows, out)
        kept, test = (Masked(entries.only(rows, part)) for part in (~out, out))
        return kept, test
    places = [chosen_cells(view, chosen, first, block) for first, block in observed_blocks(view)]
    cells = np.concatenate([place for place, _ in places])
    values = np.concatenate([value for _, value in places])
    test = sp.csr_array((values, np.divmod(cells, view.shape[1])), shape=view.shape)
    return FullSparse(*with_holes(view, test)), Masked(Entries(test, view.n_jobs))


def observed_blocks(view: BaseView) -> Iterator[tuple[int, np.ndarray]]:
    """Some rows at a time with NaN in the holes, and the number of the first."""
    entries, holes = view.nonzeros().matrix(), view.holes
    step = max(1, CELLS // max(view.shape[1], 1))
    for first in range(0, view.shape[0], step):
        block = entries[first : first + step].toarray()
        if holes is not None:
            block[holes.places(slice(first, min(first + step, view.shape[0])))[0]] = np.nan
        yield first, block


def chosen_cells(
    view: BaseView, chosen: Choice, first: int, block: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The places, counted row by row, and the values of the chosen entries of some rows."""
    rows, columns = np.nonzero(~np.isnan(block))
    out = chosen(rows + first, columns)
    rows, columns = rows[out], columns[out]
    return (rows + first) * np.int64(view.shape[1]) + columns, block[rows, columns]


def with_holes(view: BaseView, out: sp.csr_array) -> tuple[Entries, Entries]:
    """The non-zeros that stay, and all holes, where some entries become holes."""
    ones = sp.csr_array((np.ones(out.nnz), out.indices, out.indptr), shape=out.shape)
    entries = sp.coo_array(view.nonzeros().matrix())
    gone = np.asarray(ones[entries.coords]).ravel() > 0
    places = tuple(index[~gone] for index in entries.coords)
    left = sp.csr_array((entries.data[~gone], places), shape=view.shape)
    holes = ones
    if view.holes is not None:
        marks = view.holes.matrix()
        marks = sp.csr_array((np.ones(marks.nnz), marks.indices, marks.indptr), shape=marks.shape)
        holes = sp.csr_array(ones + marks)
    none = np.zeros(holes.nnz, dtype=view.dtype)
    holes = sp.csr_array((none, holes.indices, holes.indptr), shape=holes.shape)
    return Entries(left, view.n_jobs), Entries(holes, view.n_jobs)


def column_means(view: BaseView) -> np.ndarray:
    """The mean of the observed entries of each column; 0 where there are none."""
    count, total, _ = view.column_moments()
    return np.divide(total, count, out=np.zeros(len(count)), where=np.asarray(count) > 0)


def filled(view: BaseView, fill: np.ndarray) -> Any:
    """X with ``fill`` of its column in each hole, for data with few holes; sparse if X is."""
    if view.zeros_implied:
        X = view.nonzeros().matrix().astype(np.float64)
        if view.holes is not None:
            marks = view.holes.matrix()
            X = X + sp.csr_array((fill[marks.indices], marks.indices, marks.indptr), X.shape)
        return sp.csr_array(X)
    entries = view.stored()
    X = np.repeat(fill[None, :], view.shape[0], axis=0)
    X[np.repeat(np.arange(view.shape[0]), entries.row_counts), entries.indices] = entries.data
    return X


def observed_ones(view: BaseView) -> sp.csr_array:
    """Ones where an entry is observed, for data with many holes."""
    if not view.zeros_implied:
        ones = view.stored().matrix().astype(np.float64, copy=True)
        ones.data[:] = 1.0
        return ones
    parts = [sp.csr_array(~np.isnan(block), dtype=np.float64) for _, block in observed_blocks(view)]
    return sp.csr_array(sp.vstack(parts))
