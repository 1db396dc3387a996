"""What the blocks of a `RemoteView` are asked, where they lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.observed.base import BaseView, Extent, spread_parts
from rprnmf.observed.dense import FullDense
from rprnmf.observed.entries import Entries
from rprnmf.observed.masked import Masked
from rprnmf.observed.sparse import FullSparse
from rprnmf.observed.weighted import Weighted
from rprnmf.remote.parts import here
from rprnmf.remote.program import Deferred


class Asked:
    """A question to a view, or to its transpose."""

    def __init__(self, question: str, transposed: bool = False):
        self.question, self.transposed = question, transposed

    def __call__(self, view: BaseView, *arguments: Any) -> Any:
        found = getattr(view.T if self.transposed else view, self.question)
        found = found(*arguments) if callable(found) else found
        if self.question == "row_counts":
            return np.asarray(found, dtype=np.float64)
        return found


def lazily(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes a view: it is made when it is used, where blocks do not stay."""
    return Deferred(function)


def item(parts: Any, place: int) -> Any:
    """One of several."""
    return parts[place]


def with_extent(view: BaseView, extent: Extent) -> BaseView:
    """The view as a part of all rows."""
    view.extent = extent
    if view._made is not None:
        view._made.extent = extent
    return view


def summary(view: BaseView) -> tuple[Any, ...]:
    """Counts, sums, the least and the largest entry, the number of holes, and weights."""
    holes = 0 if view.holes is None else len(view.holes.data)
    n_stored, weights, n_weights = 0, 0.0, 0
    if isinstance(view, Weighted):
        n_stored = len(view.entries.data)
        weights, n_weights = view.stored_weights()
    counts = np.array([view.n_observed, view.n_nonzero, n_stored, n_weights])
    sums = np.array([view.total, view.squares, view.mass, weights])
    return counts, sums, [view.extremes()], holes


def keys_of_rows(view: BaseView, columns: np.ndarray) -> np.ndarray:
    """What rows are ordered by."""
    return np.stack((view.row_sums(), view.times(columns)[:, 0]))


def moments_of_rows(view: BaseView) -> tuple[np.ndarray, ...]:
    """Counts, sums and sums of squares of the rows."""
    return tuple(np.asarray(each, dtype=np.float64) for each in view.T.column_moments())


def spread_of_rows(view: BaseView) -> tuple[float, float]:
    """The sums of the variances and of the mean squares of the rows."""
    return spread_parts(*view.T.column_moments())


def held_out(
    view: BaseView, row_ranks: np.ndarray, column_ranks: np.ndarray, number: int, n_folds: int
) -> tuple[BaseView, BaseView]:
    """A view without some of its entries, and these."""
    from rprnmf.observed.parts import Fold, hold_out

    return hold_out(view, Fold(row_ranks, column_ranks, number, n_folds))


def rows_of_view(view: BaseView, first: int, rows: np.ndarray) -> list[Any]:
    """The view of those of some rows that are in this block, and their places among them."""
    places = here(first, view.shape[0], rows)
    return [(places, view.take(rows[places] - first))] if len(places) else []


def columns_of_view(view: BaseView, columns: np.ndarray) -> BaseView:
    """The view of some columns."""
    return view.T.take(columns).T


def joined(found: list[tuple[np.ndarray, Any]], n_columns: int, n_jobs: int | None) -> BaseView:
    """One view of rows from several blocks, in their order."""
    order = np.argsort(np.concatenate([places for places, _ in found]), kind="stable")
    views = [view for _, view in found]
    if isinstance(views[0], FullDense):
        return FullDense(np.concatenate([view.X for view in views])[order], n_jobs)
    entries = stacked([view.entries for view in views], order, n_jobs)
    if isinstance(views[0], Masked):
        return Masked(entries)
    if isinstance(views[0], Weighted):
        weights = stacked([view.weights for view in views], order, n_jobs)
        return Weighted(entries, weights, views[0].rest, views[0].weak_zeros)
    holes = [view.holes or no_entries(view) for view in views]
    if not any(len(part.data) for part in holes):
        return FullSparse(entries)
    return FullSparse(entries, stacked(holes, order, n_jobs))


def stacked(parts: list[Entries], order: np.ndarray, n_jobs: int | None) -> Entries:
    """Entries of several blocks one below the other, their rows then in another order."""
    return Entries(sp.csr_array(sp.vstack([part.matrix() for part in parts])[order]), n_jobs)


def no_entries(view: BaseView) -> Entries:
    """None, for a view without holes."""
    return Entries(sp.csr_array(view.shape, dtype=view.dtype))
