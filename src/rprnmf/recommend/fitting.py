"""From a matrix of ratings to a stacked model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from rprnmf.progress import Progress
from rprnmf.recommend.clicks import Clicks
from rprnmf.recommend.features import SideFeatures
from rprnmf.recommend.ids import Ids
from rprnmf.recommend.metadata import Metadata
from rprnmf.recommend.recipes import Recipe
from rprnmf.recommend.row_model import ENOUGH, RowModel
from rprnmf.recommend.stacked import ITEMS, USERS, StackedModel
from rprnmf.triplets import Triplets


@dataclass(frozen=True)
class Task:
    """What is to be fitted.

    Attributes
    ----------
    X : sparse array of shape (n_users, n_items)
        Every user and every item has a rating.
    ids : (Ids, Ids)
    metadata : (Metadata or None, Metadata or None)
    triplets : (Triplets, Triplets)
        By position.
    recipe : Recipe
    implicit : bool
    """

    X: sp.csr_array
    ids: tuple[Ids, Ids]
    metadata: tuple[Metadata | None, Metadata | None]
    triplets: tuple[Triplets, Triplets]
    recipe: Recipe
    implicit: bool


def fit_stacked(
    task: Task, n_starts: int, random_state: Any, n_jobs: Any, verbose: int
) -> tuple[StackedModel, list[Any]]:
    """The model of all starts, and the estimators that were fitted."""
    X, recipe = task.X, task.recipe
    n_clicks = np.diff(X.indptr)
    clicks = Clicks.of(X) if task.implicit else None
    matrix, weights = X, None
    if clicks is not None:
        matrix, weights = clicks.weighed(X, np.repeat(clicks.busy(n_clicks), n_clicks))
    both = matrix, sp.csr_array(matrix.T)
    turned = None if weights is None else sp.csr_array(weights.T)
    views = [
        recipe.weights.view(part, of, n_jobs)
        for part, of in zip(both, (weights, turned), strict=True)
    ]
    users, items = (
        SideFeatures(task.metadata[k], task.ids[k].names, views[k], both[k], recipe.by_data)
        for k in (USERS, ITEMS)
    )
    features = users, items
    rng = check_random_state(random_state)
    constrained = any(one.n_triplets > 0 for one in task.triplets)
    priors: dict[str, Any] = {"row_prior": None, "column_prior": None}
    if recipe.weights.alpha == 0:
        priors = {"row_prior": features[USERS].prior, "column_prior": features[ITEMS].prior}
    starts, fitted = [], []
    with Progress("Recommender", n_starts, silent=not verbose) as progress:
        for _ in range(n_starts):
            seed = int(rng.randint(np.iinfo(np.int32).max))
            model = recipe.estimator(constrained, random_state=seed, n_jobs=n_jobs, **priors)
            model.set_params(verbose=max(verbose - 1, 0))
            comparisons: dict[str, Any] = {}
            if constrained:
                comparisons["row_triplets"], comparisons["column_triplets"] = task.triplets
            model.fit(matrix, entry_weights=weights, **comparisons)
            factors = model.embedding_, np.ascontiguousarray(model.components_.T)
            rows, columns = (
                RowModel.of(factors[side], features[side], views[side], model.prior_[side])
                for side in (USERS, ITEMS)
            )
            starts.append((rows, columns))
            fitted.append(model)
            progress.step()
    shape = X.shape[0], X.shape[1]
    stacked = StackedModel(
        starts, features, task.metadata, shape, recipe.weights, clicks, n_clicks, n_jobs
    )
    return settled(stacked, task), fitted


def settled(model: StackedModel, task: Task) -> StackedModel:
    """The model with its sparse rows solved again, by the pull that few ratings ask for.

    Rows that comparisons name stay where these want them.
    """
    if task.implicit:
        return model
    for side, X in ((ITEMS, sp.csr_array(task.X.T)), (USERS, task.X)):
        named = np.unique(task.triplets[side].items)
        few = np.flatnonzero(np.diff(X.indptr) < ENOUGH)
        rows = np.setdiff1d(few, named)
        if len(rows):
            found = model.solve(side, sp.csr_array(X[rows]), task.ids[side].at(rows))
            model = model.with_rows(side, rows, found)
    return model


def grown(X: sp.csr_array, n_users: int, n_items: int) -> sp.csr_array:
    """The same ratings in a larger matrix."""
    larger = X.copy()
    larger.resize((n_users, n_items))
    return larger


def updated(X: sp.csr_array, fresh: sp.csr_array, replace_old: bool) -> sp.csr_array:
    """Old and new ratings; of a pair in both the new one counts, or their sum."""
    n, m = fresh.shape
    old = grown(X, n, m)
    if not replace_old:
        return sp.csr_array(old + fresh)
    cells = [
        np.repeat(np.arange(n), np.diff(part.indptr)) * m + part.indices for part in (old, fresh)
    ]
    kept = ~np.isin(cells[0], cells[1])
    rows, columns = np.divmod(np.concatenate((cells[0][kept], cells[1])), m)
    values = np.concatenate((old.data[kept], fresh.data))
    found = sp.csr_array((values, (rows, columns)), shape=(n, m))
    found.sort_indices()
    return found


def with_cold_rows(model: StackedModel, side: int, ids: list[Any], n_other: int) -> StackedModel:
    """The model with a row for ids that nobody rated (or that rated nothing)."""
    if not ids:
        return model
    first = len(model.starts[0][side].F)
    dtype = model.starts[0][side].F.dtype
    empty = sp.csr_array((len(ids), n_other), dtype=dtype)
    found = model.solve(side, empty, ids)
    return model.with_rows(side, first + np.arange(len(ids)), found)


def replaced_metadata(model: StackedModel, side: int, metadata: Metadata | None) -> StackedModel:
    """The model that knows other facts."""
    pair = list(model.metadata)
    pair[side] = metadata
    return replace(model, metadata=(pair[0], pair[1]))
