"""From a matrix of ratings to a stacked model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from rprnmf.observed import BaseView
from rprnmf.progress import Progress
from rprnmf.recommend.clicks import Clicks
from rprnmf.recommend.features import SideFeatures
from rprnmf.recommend.ids import Ids
from rprnmf.recommend.leaning import best_lean
from rprnmf.recommend.metadata import Metadata
from rprnmf.recommend.recipes import Recipe
from rprnmf.recommend.row_model import RowModel, known_prior
from rprnmf.recommend.stacked import ITEMS, USERS, StackedModel
from rprnmf.recommend.usual import Usual
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

    @property
    def constrained(self) -> bool:
        """Whether there are comparisons."""
        return any(one.n_triplets > 0 for one in self.triplets)


class Prepared(NamedTuple):
    """A task as estimators take it.

    Attributes
    ----------
    matrix : sparse array
        Ratings, or what clicks are turned to.
    weights : sparse array or None
    views : list of BaseView
        Of users and of items.
    features : (SideFeatures, SideFeatures)
    clicks : Clicks or None
    """

    matrix: sp.csr_array
    weights: sp.csr_array | None
    views: list[BaseView]
    features: tuple[SideFeatures, SideFeatures]
    clicks: Clicks | None


def prepared(task: Task, n_jobs: Any) -> Prepared:
    """What all starts share."""
    X, recipe = task.X, task.recipe
    clicks = Clicks.of(X, recipe.weights.beta_loss) if task.implicit else None
    matrix, weights = X, None
    if clicks is not None:
        n_clicks = np.diff(X.indptr)
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
    return Prepared(matrix, weights, views, (users, items), clicks)


def fit_one(
    task: Task, given: Prepared, seed: int, callback: Callable[[Any], Any] | None, **settings: Any
) -> Any:
    """One start: the fitted estimator."""
    recipe = task.recipe
    priors: dict[str, Any] = {"row_prior": None, "column_prior": None}
    if recipe.weights.alpha == 0:
        priors = {"row_prior": given.features[USERS].prior}
        priors["column_prior"] = given.features[ITEMS].prior
    model = recipe.estimator(task.constrained, random_state=seed, **priors, **settings)
    if callback is not None:
        model.set_params(callback=callback)
    told: dict[str, Any] = {}
    if task.constrained:
        told["row_triplets"], told["column_triplets"] = task.triplets
    return model.fit(given.matrix, entry_weights=given.weights, **told)


def fit_stacked(
    task: Task, n_starts: int, random_state: Any, n_jobs: Any, verbose: int
) -> tuple[StackedModel, list[Any]]:
    """The model of all starts, and the estimators that were fitted."""
    given = prepared(task, n_jobs)
    rng = check_random_state(random_state)
    starts, fitted = [], []
    alone = n_starts == 1  # then the fit shows its own progress
    with Progress("Recommender", n_starts, silent=not verbose or alone) as progress:
        for _ in range(n_starts):
            seed = int(rng.randint(np.iinfo(np.int32).max))
            told = verbose if alone else max(verbose - 1, 0)
            model = fit_one(task, given, seed, None, n_jobs=n_jobs, verbose=told)
            factors = model.embedding_, np.ascontiguousarray(model.components_.T)
            rows, columns = (
                RowModel.of(factors[side], given.features[side], given.views[side], prior)
                for side, prior in zip((USERS, ITEMS), model.prior_, strict=True)
            )
            starts.append((rows, columns))
            fitted.append(model)
            progress.step()
    usual = None if task.implicit else usual_ratings(task.X, given, starts[0])
    shape, n_clicks = (task.X.shape[0], task.X.shape[1]), np.diff(task.X.indptr)
    known = task.metadata, shape, task.recipe.weights, given.clicks, n_clicks, usual, n_jobs
    return StackedModel(starts, given.features, *known), fitted


def usual_ratings(X: sp.csr_array, given: Prepared, start: tuple[RowModel, RowModel]) -> Usual:
    """Mean ratings, and how much rows without ratings lean on them."""
    both = X, sp.csr_array(X.T)
    users, items = (
        best_lean(
            known_prior(given.features[side], given.views[side]),
            start[side].F,
            start[1 - side].F,
            both[side],
        )
        for side in (USERS, ITEMS)
    )
    return Usual.of(X, (users, items))
