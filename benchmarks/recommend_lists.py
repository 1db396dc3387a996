"""How well lists find what people liked.

The predictions of programs are ordered by one rule; a Recommender that has an order of its own,
``order="interest"``, is asked for its lists.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from clicks_data import LIKED, Clicks, measured
from recommend_data import Biases, MovieLens, parts_by_count, rmse
from recommend_peers import Factors, Tables

from rprnmf.recommend import Recommender

CAUTION = 2.0  # what Recommender.recommend has by default


def factors_of(model: Any, tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Factors of all users and items, whose products are the predictions before clipping."""
    if isinstance(model, Factors):
        return model.W, model.Ht
    if isinstance(model, Biases):
        user, item = (
            np.array([known.get(name, 0.0) for name in names.tolist()])
            for known, names in ((model.of_user, tables.users), (model.of_item, tables.items))
        )
        ones = np.ones
        W = np.column_stack((user + model.mean, ones(len(user))))
        return W, np.column_stack((ones(len(item)), item))
    both = []
    for side, names in enumerate((tables.users, tables.items)):
        place = {name: k for k, name in enumerate((model.user_ids_, model.item_ids_)[side])}
        at = np.array([place.get(name, -1) for name in names.tolist()])
        factor = np.array(model._scored[side][at], dtype=float)
        factor[at < 0] = model._strangers[side]
        both.append(factor)
    return both[0], both[1]


class Lists:
    """The lists of a fitted program for the test ratings of one split.

    Parameters
    ----------
    model : Recommender, Factors or Biases
    data : MovieLens
    tables : Tables
    train, test : ndarray of bool
    """

    def __init__(
        self, model: Any, data: MovieLens, tables: Tables, train: np.ndarray, test: np.ndarray
    ):
        self.data, self.tables, self.train, self.test = data, tables, train, test
        self.own = model if isinstance(model, Recommender) and model.trust_ is not None else None
        self.W, self.Ht = factors_of(model, tables)
        users, items, truth = data.part(train)
        self.seen = self._matrix(train)
        error = rmse(model.predict(users, items), truth)
        count = np.bincount(self.seen.indices, minlength=len(self.Ht))
        self.doubt = error / np.sqrt(count + 1.0)

    def _matrix(self, chosen: np.ndarray) -> sp.csr_array:
        places = self.tables.places(self.data.user[chosen], self.data.item[chosen])
        ones = np.ones(int(chosen.sum()), np.float32)
        return sp.csr_array((ones, places), shape=self.tables.shape)

    def measured(
        self, asked: np.ndarray, caution: float = CAUTION, among: np.ndarray | None = None
    ) -> tuple[float, float]:
        """NDCG@10 and recall@20 of test ratings that were likes.

        Parameters
        ----------
        asked : ndarray of bool
            Some of the test ratings.
        caution : float
            So many standard errors are taken off the prediction before it counts.
        among : ndarray of bool, default=None
            Lists of these items only.
        """
        liked = self.test.copy()
        liked[self.test] = asked & (self.data.rating[self.test] >= LIKED)
        chosen = np.ones(len(self.Ht), bool) if among is None else among
        held = self._matrix(liked)
        people = np.flatnonzero(np.diff(held.indptr))
        if chosen.sum() <= 20 or len(people) == 0:
            return np.nan, np.nan
        W, Ht = self.W[people], self.Ht[chosen]
        tie = np.random.default_rng(0).random(len(Ht)) * 1e-6  # equal items: in random order
        less = caution * self.doubt[chosen] + tie
        clicks = Clicks(*(sp.csr_array(part[people][:, chosen]) for part in (self.seen, held)))
        if self.own is not None:
            order = self._of_recommend(people, chosen, caution)
            return measured(clicks, lambda rows: order[rows])
        return measured(clicks, lambda rows: W[rows] @ Ht.T - less)

    def _of_recommend(self, people: np.ndarray, chosen: np.ndarray, caution: float) -> np.ndarray:
        """Scores in the order of ``recommend``: 20 for the first item, 0 for what is not listed."""
        assert self.own is not None
        users, items = self.tables.users[people].tolist(), self.tables.items[chosen].tolist()
        lists = self.own.recommend(users, 20, among=items, caution=caution)
        place = {item: k for k, item in enumerate(items)}
        scores = np.zeros((len(users), len(items)), np.float32)
        for row, one in zip(scores, lists, strict=True):
            row[[place[item] for item in one.items]] = np.arange(20, 20 - len(one.items), -1)
        return scores

    def by_count(self, side: str) -> dict[str, tuple[float, float]]:
        """Recall@20 by training ratings of the users or items, with and without caution.

        Lists of items with so many ratings are of these items only.
        """
        found = {}
        count = np.diff((self.seen if side == "users" else sp.csr_array(self.seen.T)).indptr)
        for kind, asked in parts_by_count(self.data, self.train, self.test, side).items():
            low, high = (int(part) for part in (kind.split("-") * 2)[:2])
            among = (count >= low) & (count <= high) if side == "items" else None
            recalls = [self.measured(asked, caution, among)[1] for caution in (CAUTION, 0.0)]
            found[kind] = recalls[0], recalls[1]
        return found
