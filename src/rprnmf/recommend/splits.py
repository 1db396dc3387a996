"""Which ratings are held out: by chance, by time, or all but a few of some users or items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from rprnmf.checks import is_missing
from rprnmf.recommend.ratings import Ratings

SPLITS = ("random", "time", "cold items", "cold users")
COLD_SHARE = 0.2  # of the users or items of a cold split
#: numbers of ratings that are left to them: from, to
COLD = ((0, 0), (1, 1), (2, 5))


class Fold(NamedTuple):
    """Ratings to learn from, and those to predict.

    Attributes
    ----------
    name : str
        "fold 1", "last 20 %", "0 ratings", "2-5 ratings".
    train, test : ndarray of bool
    """

    name: str
    train: np.ndarray
    test: np.ndarray


def folds_of(
    ratings: Ratings, split: str, n_splits: int, test_share: float, random_state: Any
) -> Iterator[Fold]:
    """The folds of a split.

    Parameters
    ----------
    ratings : Ratings
    split : {"random", "time", "cold items", "cold users"}
    n_splits : int
        Of "random": every rating is held out once. Of "time": so many periods, each predicted from
        all before it. Of cold splits: so many parts of the users or items.
    test_share : float
        Of "time": how much of the ratings the periods are, from the latest back.
    random_state : int, RandomState instance or None
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(map(repr, SPLITS))}, got {split!r}.")
    rng = check_random_state(random_state)
    if split == "random":
        return random_folds(ratings.n, n_splits, rng)
    if split == "time":
        return time_folds(ratings, n_splits, test_share)
    return cold_folds(ratings, split, n_splits, rng)


def random_folds(n: int, n_splits: int, rng: Any) -> Iterator[Fold]:
    """Every rating is held out once."""
    if n < n_splits:
        raise ValueError(f"n_splits={n_splits} folds need as many ratings, got {n}.")
    number = rng.permutation(n) % n_splits
    for k in range(n_splits):
        yield Fold(f"fold {k + 1}", number != k, number == k)


def time_folds(ratings: Ratings, n_splits: int, test_share: float) -> Iterator[Fold]:
    """The latest ratings, in periods of equal numbers."""
    if ratings.time is None:
        raise ValueError(
            "split='time' needs the time of every rating: a DataFrame with a column timestamp."
        )
    lost = [k for k, when in enumerate(ratings.time) if is_missing(when)]
    if lost:
        raise ValueError(
            f"split='time' needs the time of every rating; that of {lost[0]} is missing."
        )
    order = np.argsort(np.argsort(ratings.time, kind="stable"), kind="stable")
    first = round((1.0 - test_share) * ratings.n)
    edges = np.linspace(first, ratings.n, n_splits + 1).round().astype(int)
    for k in range(n_splits):
        test = (order >= edges[k]) & (order < edges[k + 1])
        if test.any() and (order < edges[k]).any():
            yield Fold(f"period {k + 1}", order < edges[k], test)


def cold_folds(ratings: Ratings, split: str, n_splits: int, rng: Any) -> Iterator[Fold]:
    """Some users or items keep 0, 1 or 2 to 5 of their ratings; the others are predicted."""
    code = ratings.item if split == "cold items" else ratings.user
    n = int(code.max()) + 1
    for k in range(n_splits):
        chosen = rng.rand(n) < COLD_SHARE
        kinds = rng.randint(len(COLD), size=n)  # every one is cold in one way
        kept = np.array([rng.randint(low, high + 1) for low, high in np.array(COLD)[kinds]])
        rank = _rank_within(code, rng)
        test = chosen[code] & (rank >= kept[code])
        train = ~test  # one array for all kinds: one fit serves them
        for kind, (low, high) in enumerate(COLD):
            name = f"{low} ratings" if low == high else f"{low}-{high} ratings"
            part = test & (kinds[code] == kind)
            if part.any() and not test.all():
                yield Fold(f"{name.replace('1 ratings', '1 rating')}, part {k + 1}", train, part)


def _rank_within(code: np.ndarray, rng: Any) -> np.ndarray:
    """A random order of the ratings of each user or item, from 0."""
    shuffled = rng.permutation(len(code))
    order = shuffled[np.argsort(code[shuffled], kind="stable")]
    counts = np.bincount(code)
    first = np.concatenate(([0], np.cumsum(counts)[:-1]))
    rank = np.empty(len(code), dtype=np.int64)
    rank[order] = np.arange(len(code)) - np.repeat(first, counts)
    return rank
