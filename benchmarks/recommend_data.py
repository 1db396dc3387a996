"""MovieLens as `Recommender` takes it, and baselines with the same methods."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from common import MissingError, data_file

from rprnmf.datasets import fetch_movielens_1m, fetch_movielens_100k

FETCHERS = {"MovieLens 1M": fetch_movielens_1m, "MovieLens 100K": fetch_movielens_100k}


class MovieLens(NamedTuple):
    """Ratings, and tables of people and films."""

    user: np.ndarray
    item: np.ndarray
    rating: np.ndarray
    people: Any
    films: Any

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
    )


def periods() -> np.ndarray:
    """The period of every rating of MovieLens 1M: 0, 1 and 2, in order of time."""
    return data_file("movielens_1m.npz")["period"]


def folds(n: int, n_folds: int, seed: int) -> list[np.ndarray]:
    """Which ratings each fold holds out."""
    number = np.random.default_rng(seed).permutation(n) % n_folds
    return [number == k for k in range(n_folds)]


def rmse(found: np.ndarray, truth: np.ndarray) -> float:
    """Root of the mean squared error."""
    return float(np.sqrt(np.mean((found - truth) ** 2)))


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
