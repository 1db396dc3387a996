"""Who rates what: the pairs of user and item as clicks, beside the ratings.

People rate what they turn to, so that which pairs were rated tells what they will turn to next.
The rating model does not ask that: it predicts how a rating would be if there were one. A second
model, of clicks, does, and lists are ordered by both (`listing.py`).

It is fitted with the ratings and not at the first list: fits are where time is expected to go,
every method after them is quick and changes nothing (so that threads may share a model), a saved
model is complete, and the numbers of a seed do not depend on what was asked when. Those who want
predictions alone say ``order="rating"``. A short fit finds nearly as much as one as long as for
clicks, and takes a part of the time of the ratings (`LENGTH`, `benchmarks/recommend_order.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from rprnmf.recommend.fitting import Task, fit_stacked
from rprnmf.recommend.ids import Ids
from rprnmf.recommend.placing import NO_TRIPLETS, settled, taken_in
from rprnmf.recommend.recipes import Recipe
from rprnmf.recommend.stacked import USERS, StackedModel
from rprnmf.recommend.trust import learned_trust
from rprnmf.triplets import Triplets

# Components and iterations. On training parts of MovieLens 1M NDCG@10 of lists was .376 with 64
# and 10, .380 with 96 and 10, .382 with 128 and 10, and about .39 with 128 and 30, which takes
# four times as long. The trust was 1.30 by 128 components, and 1.28 by 32 and 4 iterations.
# The weight of the L2 terms is the usual one of clicks: chosen on held-out pairs by such short fits
# it was the same on 100K and on a seventh of 1M, and .373 came of it on 1M.
LENGTH, SHORT = (96, 10), (32, 4)


@dataclass(frozen=True)
class Interest:
    """A model of clicks, and how far lists trust it.

    Attributes
    ----------
    model : StackedModel
        Of one start.
    trust : float
        What a spread of interest counts on lists.
    """

    model: StackedModel
    trust: float

    def with_ratings(
        self,
        X: sp.csr_array,
        ids: tuple[Ids, Ids],
        triplets: tuple[Triplets, Triplets],
        rows: list[np.ndarray],
        metadata: Any,
    ) -> Interest:
        """Interest after new ratings, see `taken_in`; metadata of both sides."""
        model = replace(self.model, metadata=metadata)
        return replace(self, model=taken_in(model, clicks_of(X), ids, triplets, rows))

    def row_of(self, ratings: sp.csr_array, ids: list[Any], metadata: Any) -> np.ndarray:
        """The row of a user who was not in the fit, from one row of ratings and facts."""
        model = self.model.with_metadata(USERS, metadata)
        return model.solve(USERS, model.task(USERS, clicks_of(ratings), ids))[0][0]


def fitted_interest(
    task: Task,
    X: sp.csr_array,
    ids: tuple[Ids, Ids],
    triplets: tuple[Triplets, Triplets],
    recipe: Recipe,
    random_state: Any,
    n_jobs: Any,
) -> Interest:
    """The interest in ratings.

    Parameters
    ----------
    task : Task
        That of the ratings.
    X : sparse array
        The ratings of all users and items, also those that the task does not have.
    ids, triplets : pairs
        Of all users and items.
    recipe : Recipe
        Of clicks.
    random_state, n_jobs
    """
    rng = check_random_state(random_state)
    none = NO_TRIPLETS, NO_TRIPLETS
    clicks = replace(task, X=clicks_of(task.X), triplets=none, implicit=True)
    whole, short = (
        replace(clicks, recipe=replace(recipe, n_components=min(K, *task.X.shape), max_iter=n))
        for K, n in (LENGTH, SHORT)
    )
    trust = learned_trust(short, rng, n_jobs)
    model, _ = fit_stacked(whole, 1, rng, n_jobs, 0)
    return Interest(settled(model, clicks_of(X), ids, triplets), trust)


def clicks_of(X: sp.csr_array) -> sp.csr_array:
    """That a pair was rated, whatever the rating."""
    return sp.csr_array((np.ones(X.nnz, np.float32), X.indices, X.indptr), shape=X.shape)
