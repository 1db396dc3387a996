"""Rows of a stacked model: placed by ratings, metadata and comparisons, nothing else moved."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rprnmf.recommend.clicks import ENOUGH_CLICKS
from rprnmf.recommend.ids import Ids
from rprnmf.recommend.knowledge import Known
from rprnmf.recommend.row_model import Comparisons
from rprnmf.recommend.stacked import ITEMS, USERS, StackedModel
from rprnmf.recommend.usual import ENOUGH
from rprnmf.triplets import Triplets

ROUNDS = 2  # of users and items in turn, after new ratings
NO_TRIPLETS = Triplets(np.zeros((0, 3), dtype=np.int64))


def settled(
    model: StackedModel, X: sp.csr_array, ids: tuple[Ids, Ids], triplets: tuple[Triplets, Triplets]
) -> StackedModel:
    """The model with its sparse rows solved again, by the pull that few ratings ask for.

    Users and items without any rating are placed for the first time. Of clicks, only the rows of
    users with few are solved again.
    """
    model = model.knowing(X, triplets)
    for side, part in ((ITEMS, sp.csr_array(X.T)), (USERS, X)):
        few = resolved(model, side, np.diff(part.indptr))
        model = placed(model, side, part, few, ids[side], triplets[side])
    return model


def resolved(model: StackedModel, side: int, counts: np.ndarray) -> np.ndarray:
    """The rows with so few ratings that they are solved again."""
    fewest = ENOUGH if model.usual is not None else ENOUGH_CLICKS if side == USERS else 1
    return np.flatnonzero(counts < fewest)


def placed(
    model: StackedModel,
    side: int,
    X: sp.csr_array,
    rows: np.ndarray,
    ids: Ids,
    triplets: Triplets,
) -> StackedModel:
    """The model with some rows solved by their ratings, metadata and comparisons.

    Parameters
    ----------
    model : StackedModel
    side : {USERS, ITEMS}
    X : sparse array
        All ratings, one row per user or per item of this side.
    rows : ndarray
        Positions; all others stay.
    ids : Ids
        Of this side.
    triplets : Triplets
        By position. Rows that they name move last: those with enough ratings, with few, with none.
    """
    if len(rows) == 0:
        return model

    def moved(part: np.ndarray, told: Comparisons | None) -> StackedModel:
        task = model.task(side, sp.csr_array(X[part]), ids.at(part), part)
        found = model.solve(side, task._replace(comparisons=told))
        return model.with_rows(side, part, found)

    model = moved(rows, None)
    named = np.intersect1d(rows, triplets.items)
    counts = np.diff(X.indptr)[named]
    enough, none = counts >= ENOUGH, counts == 0
    for part in (named[enough], named[~enough & ~none], named[none]):
        if len(part):
            model = moved(part, comparisons(triplets, part))
    return model


def taken_in(
    model: StackedModel,
    X: sp.csr_array,
    ids: tuple[Ids, Ids],
    triplets: tuple[Triplets, Triplets],
    rows: list[np.ndarray],
) -> StackedModel:
    """The model after new ratings: rows that they name, and new ones, are solved by turns.

    Parameters
    ----------
    model : StackedModel
    X : sparse array
        All ratings, users by items.
    ids, triplets : pairs
        All that are known now.
    rows : list of ndarray
        Users and items to be solved.
    """
    model = with_new_rows(model.knowing(X, triplets), ids)
    for _ in range(ROUNDS):
        for side, part in ((ITEMS, sp.csr_array(X.T)), (USERS, X)):
            model = placed(model, side, part, rows[side], ids[side], triplets[side])
    return model


def with_new_rows(model: StackedModel, ids: tuple[Ids, Ids]) -> StackedModel:
    """The model with rows for ids that it has none for, by what their metadata tell."""
    firsts = [len(part.F) for part in model.starts[0]]
    for side in (USERS, ITEMS):
        new = np.arange(firsts[side], len(ids[side]))
        empty = sp.csr_array((len(ids[side]), firsts[1 - side]), dtype=np.float32)
        model = placed(model, side, empty, new, ids[side], NO_TRIPLETS)
    return model


def comparisons(triplets: Triplets, rows: np.ndarray) -> Comparisons:
    """The triplets that name any of these rows, which come first."""
    chosen = np.isin(triplets.items, rows).any(axis=1)
    items = triplets.items[chosen]
    known = np.setdiff1d(items, rows)
    order = np.concatenate((rows, known))
    place = np.argsort(order)
    local = place[np.searchsorted(order, items, sorter=place)]
    return Comparisons(local, triplets.weights[chosen].astype(float), known)


def among_rated(triplets: Triplets, n_rated: int) -> Triplets:
    """Those that speak of rated users or items alone, which come first."""
    return triplets.take((triplets.items < n_rated).all(axis=1))


def rated_triplets(known: Known) -> tuple[Triplets, Triplets]:
    """The comparisons that the fit sees: those of rated users or items alone."""
    users, items = map(among_rated, known.triplets, map(len, known.fitted))
    return users, items
