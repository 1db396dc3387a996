"""Users and items with 0, 1 or 2 to 5 training ratings, cut down to these or so by nature.

The prior from metadata against none, against means and biases, and against comparisons drawn
from the metadata. Writes `results/recommend_cold.csv` and `.md`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from common import start_process
from recommend_data import Biases, MovieLens, folds, movielens, rmse
from report import Report

from rprnmf.recommend import Recommender
from rprnmf.recommend.ratings import read_ratings
from rprnmf.recommend.splits import folds_of

KINDS = {"0": (0, 0), "1": (1, 1), "2-5": (2, 5)}


def programs(data: MovieLens) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Recommenders and what they are told."""
    plain = Recommender(random_state=0, unknown="ignore")
    told = {**data.tables, "item_triplets": 300, "user_triplets": 300}
    return {
        "user means": (Biases(use_items=False), {}),
        "item means": (Biases(use_users=False), {}),
        "biases": (Biases(), {}),
        "no metadata": (plain, {}),
        "metadata": (plain, data.tables),
        "metadata, comparisons from them": (plain, told),
    }


def by_count(
    model: Any, data: MovieLens, train: np.ndarray, test: np.ndarray, side: str
) -> dict[str, float]:
    """RMSE of test ratings by how many training ratings the user or item has."""
    ids = data.user if side == "users" else data.item
    names, place = np.unique(ids, return_inverse=True)
    left = np.bincount(place[train], minlength=len(names))[place]
    found = model.predict(data.user[test], data.item[test])
    truth, left = data.rating[test], left[test]
    return {
        f"{kind} ratings": rmse(found[part], truth[part]) if part.any() else np.nan
        for kind, (low, high) in KINDS.items()
        for part in [(left >= low) & (left <= high)]
    }


def cut(data: MovieLens, side: str, n_splits: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test ratings where a fifth of the users or items keep a few ratings."""
    ratings = read_ratings(data.user, data.item, data.rating)
    found: dict[int, list[np.ndarray]] = {}
    for fold in folds_of(ratings, f"cold {side}", n_splits, 0.2, 0):
        found.setdefault(id(fold.train), [fold.train, np.zeros(ratings.n, bool)])[1] |= fold.test
    return [(train, test) for train, test in found.values()]


def main() -> None:
    quick, folder = start_process("recommend_cold")
    warnings.simplefilter("ignore")
    name, n_splits = ("MovieLens 100K", 1) if quick else ("MovieLens 1M", 3)
    data = movielens(name)
    text = (
        f"{name}, RMSE by the number of training ratings; means and standard errors (±) over "
        f"{n_splits} splits. cut: a fifth of the items (users) are cut down to 0, 1 or 2 to 5 "
        "ratings, all others of theirs are predicted; natural: a fifth of all ratings are held "
        "out, and those of items that then have so few are looked at. One thread."
    )
    report = Report(folder, "recommend_cold", "Cold start", text)
    naturally = [(~out, out) for out in folds(len(data.rating), 5, 0)[:n_splits]]
    splits = {
        ("cut", "items"): cut(data, "items", n_splits),
        ("cut", "users"): cut(data, "users", n_splits),
        ("natural", "items"): naturally,
    }
    for (how, side), parts in splits.items():
        for program, (model, knowledge) in programs(data).items():
            rows = []
            for train, test in parts:
                model.fit(*data.part(train), **knowledge)
                rows.append(by_count(model, data, train, test, side))
            row: dict[str, Any] = {}
            for key in rows[0]:
                values = np.array([one[key] for one in rows])
                spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
                row[key] = f"{values.mean():.4f} ± {spread:.4f}"
            report.add(cold=how, side=side, program=program, **row)


if __name__ == "__main__":
    main()
