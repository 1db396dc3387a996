"""How many iterations predict best: a fit that does not see some of the ratings tells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from rprnmf.recommend.fitting import Task, fit_one, prepared
from rprnmf.recommend.top_n import top_n
from rprnmf.triplets import Triplets

EARLY_STOPPING_ITERATIONS = 200  # at most
# Iterations without a gain before it stops. Errors fall steadily; measures of lists go up and down.
PATIENCE = {"explicit": 5, "implicit": 15}
LISTS, LIKED = 2000, 10  # users whose lists are looked at, and the length of these


class Watch:
    """A callback that measures what was held out, and stops the fit when that gets no better.

    Parameters
    ----------
    train, held : sparse array of shape (n_users, n_items)
    implicit : bool
    """

    def __init__(self, train: sp.csr_array, held: sp.csr_array, implicit: bool):
        self.train, self.held, self.implicit = train, held, implicit
        self.patience = PATIENCE["implicit" if implicit else "explicit"]
        self.best, self.at = np.inf, 1
        self.places = sp.coo_array(held).coords
        self.users = judged(held)

    def __call__(self, state: Any) -> bool:
        Ht = np.ascontiguousarray(state.H.T)
        error = self.missed(state.W, Ht) if self.implicit else self.error(state.W, Ht)
        if error < self.best:
            self.best, self.at = error, state.iteration
        return state.iteration >= self.at + self.patience

    def error(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """RMSE of the ratings that were held out."""
        users, items = self.places
        found = np.einsum("ik,ik->i", W[users], Ht[items])
        return float(np.sqrt(np.mean((found - self.held.data) ** 2)))

    def missed(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """How much of the gain (NDCG) of the clicks that were held out lists do without."""
        return 1.0 - float(np.mean(gains(W, Ht, self.train, self.held, self.users)))


def judged(held: sp.csr_array) -> np.ndarray:
    """Users with something held out whose lists are looked at, evenly over all."""
    asked = np.flatnonzero(np.diff(held.indptr))
    chosen = np.linspace(0, max(len(asked) - 1, 0), min(LISTS, len(asked)))
    return asked[np.unique(chosen.astype(np.int64))]


def gains(
    W: np.ndarray, Ht: np.ndarray, train: sp.csr_array, held: sp.csr_array, users: np.ndarray
) -> np.ndarray:
    """The gain (NDCG) of the clicks that were held out, for each of some users that have any."""
    lists, _ = top_n(W[users], Ht, LIKED, sp.csr_array(train[users]))
    discount = 1.0 / np.log2(np.arange(2, LIKED + 2))
    wanted = sp.csr_array(held[users])
    rows = np.repeat(np.arange(len(lists)), lists.shape[1])
    hits = np.asarray(wanted[rows, np.maximum(lists.ravel(), 0)]).ravel() > 0
    found = (hits.reshape(lists.shape) & (lists >= 0)) @ discount[: lists.shape[1]]
    ideal = np.cumsum(discount)[np.minimum(np.diff(wanted.indptr), LIKED) - 1]
    return found / ideal


def best_iteration(task: Task, fraction: float, random_state: Any, n_jobs: Any) -> tuple[Task, str]:
    """The task with the number of iterations that predicts best, and a note that says it.

    Comparisons wait for the fit of all ratings.
    """
    rng = check_random_state(random_state)
    train, held = hidden(task.X, fraction, rng)
    if held.nnz == 0:
        return task, "too few ratings to hold any out: no early stopping."
    none = Triplets(np.zeros((0, 3), dtype=np.int64))
    alone = replace(task, X=train, triplets=(none, none))
    watch = Watch(train, held, task.implicit)
    fit_one(alone, prepared(alone, n_jobs), int(rng.randint(2**31 - 1)), watch, n_jobs=n_jobs)
    measure = "NDCG@10" if task.implicit else "RMSE"
    value = 1.0 - watch.best if task.implicit else watch.best
    note = (
        f"{watch.at} iterations predict best: {measure} {value:.4f} of {held.nnz} ratings that "
        "were held out."
    )
    return replace(task, recipe=replace(task.recipe, max_iter=watch.at)), note


def hidden(X: sp.csr_array, fraction: float, rng: Any) -> tuple[sp.csr_array, sp.csr_array]:
    """Ratings to fit, and others; every user and every item keeps one at least."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    order = rng.permutation(X.nnz)
    out = np.zeros(X.nnz, dtype=bool)
    out[order[: round(fraction * X.nnz)]] = True
    for places in (rows, X.indices):
        _, first = np.unique(places[order[::-1]], return_index=True)
        out[order[::-1][first]] = False
    train, held = (
        sp.csr_array((X.data[part], (rows[part], X.indices[part])), shape=X.shape)
        for part in (~out, out)
    )
    return train, held
