"""MovieLens as `Recommender` takes it, and baselines with the same methods."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from common import MissingError

from rprnmf.datasets import fetch_movielens_1m, fetch_movielens_100k
from rprnmf.recommend.ratings import read_ratings
from rprnmf.recommend.splits import folds_of

KINDS = {"0": (0, 0), "1": (1, 1), "2-5": (2, 5)}  # numbers of ratings: from, to
FETCHERS = {"MovieLens 1M": fetch_movielens_1m, "MovieLens 100K": fetch_movielens_100k}


class MovieLens(NamedTuple):
    """Ratings and their times, and tables of people and films."""

    user: np.ndarray
    item: np.ndarray
    rating: np.ndarray
    people: Any
    films: Any
    time: np.ndarray

    @property
    def tables(self) -> dict[str, Any]:
        """For ``fit``."""
        return {"user_metadata": self.people, "item_metadata": self.films}

    def part(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Some of the ratings."""
        return self.user[chosen], self.item[chosen], self.rating[chosen]


def movielens(name: str) -> MovieLens:
    """One of the two sets; ids are those of MovieLens."""
    import pandas as pd

    try:
        bunch = FETCHERS[name](download_if_missing=False)
    except Exception as error:
        raise MissingError(f"{name}: {error}") from error
    people = {"gender": bunch.gender, "age": bunch.age, "occupation": bunch.occupation}
    films = {"title": bunch.titles, "genres": bunch.genres}
    return MovieLens(
        bunch.user_ids[bunch.user],
        bunch.movie_ids[bunch.item],
        bunch.rating,
        pd.DataFrame(people, index=bunch.user_ids),
        pd.DataFrame(films, index=bunch.movie_ids),
        bunch.timestamp,
    )


def periods(data: MovieLens) -> np.ndarray:
    """The period of every rating, in order of time: eight tenths are 0, one is 1, and one 2.

    Of MovieLens 1M that is the array ``period`` of the file, up to ratings of the same second.
    """
    order = np.argsort(np.argsort(data.time, kind="stable"), kind="stable")
    return np.searchsorted((0.8, 0.9), (order + 0.5) / len(order)).astype(np.int64)


def folds(n: int, n_folds: int, seed: int) -> list[np.ndarray]:
    """Which ratings each fold holds out."""
    number = np.random.default_rng(seed).permutation(n) % n_folds
    return [number == k for k in range(n_folds)]


def rmse(found: np.ndarray, truth: np.ndarray) -> float:
    """Root of the mean squared error."""
    return float(np.sqrt(np.mean((found - truth) ** 2)))


def rows_of(data: MovieLens, side: str) -> np.ndarray:
    """The position of the user ("users") or item ("items") of every rating."""
    return np.unique(data.user if side == "users" else data.item, return_inverse=True)[1]


def cut(
    data: MovieLens, side: str, seed: int, among: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Training and test ratings: a fifth of the users or items keep 0, 1 or 2 to 5 ratings.

    ``among``: of these ratings only; the others are in neither.
    """
    chosen = np.ones(len(data.rating), bool) if among is None else among
    ratings = read_ratings(*data.part(chosen))
    test = np.zeros(ratings.n, bool)
    for fold in folds_of(ratings, f"cold {side}", 1, 0.2, seed):
        test |= fold.test
    whole = np.zeros(len(chosen), bool)
    whole[np.flatnonzero(chosen)[test]] = True
    return chosen & ~whole, whole


def by_count(
    model: Any, data: MovieLens, train: np.ndarray, test: np.ndarray, side: str
) -> dict[str, float]:
    """RMSE of test ratings by how many training ratings the user or item has."""
    found = model.predict(data.user[test], data.item[test])
    truth = data.rating[test]
    return {
        kind: rmse(found[part], truth[part]) if part.any() else np.nan
        for kind, part in parts_by_count(data, train, test, side).items()
    }


def parts_by_count(
    data: MovieLens, train: np.ndarray, test: np.ndarray, side: str
) -> dict[str, np.ndarray]:
    """Which test ratings have a user or item with 0, 1 or 2 to 5 training ratings."""
    place = rows_of(data, side)
    left = np.bincount(place[train], minlength=place.max() + 1)[place[test]]
    return {kind: (left >= low) & (left <= high) for kind, (low, high) in KINDS.items()}


class Biases:
    """The mean, and what users and items are above it: damped means, users after items.

    Parameters
    ----------
    use_users, use_items : bool
        Which of the two to use.
    """

    def __init__(self, use_users: bool = True, use_items: bool = True):
        self.use_users, self.use_items = use_users, use_items

    def fit(self, users: np.ndarray, items: np.ndarray, ratings: np.ndarray, **_: Any) -> Biases:
        """Learn from ratings."""
        self.mean = float(np.mean(ratings))
        left = np.asarray(ratings, dtype=float) - self.mean
        self.of_item = damped(items, left, 10.0) if self.use_items else {}
        left = left - np.array([self.of_item.get(item, 0.0) for item in items])
        self.of_user = damped(users, left, 5.0) if self.use_users else {}
        return self

    def predict(self, users: np.ndarray, items: np.ndarray) -> np.ndarray:
        """Ratings of pairs."""
        found = self.mean + np.array([self.of_user.get(user, 0.0) for user in users])
        return np.clip(found + np.array([self.of_item.get(item, 0.0) for item in items]), 1, 5)


def damped(ids: np.ndarray, values: np.ndarray, prior: float) -> dict[Any, float]:
    """Means by id, drawn to zero as by so many more values."""
    names, place = np.unique(ids, return_inverse=True)
    sums = np.bincount(place, weights=values)
    means = sums / (np.bincount(place) + prior)
    return dict(zip(names.tolist(), means.tolist(), strict=True))
