"""How good predictions and lists are."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.metrics.recommendation import f1_above
from rprnmf.recommend.ratings import Ratings
from rprnmf.recommend.results import Recommendations


def rating_measures(truth: np.ndarray, found: np.ndarray) -> dict[str, float]:
    """RMSE and MAE."""
    error = found - truth
    return {"RMSE": float(np.sqrt(np.mean(error**2))), "MAE": float(np.mean(np.abs(error)))}


def paper_f1(train: Ratings, test: Ratings, found: np.ndarray) -> float:
    """F1 of "above the mean rating of the user", pooled over users, as in the paper.

    Users without training ratings are judged by the mean of all.
    """
    if train.values is None or test.values is None:
        return float("nan")
    n = len(train.users)
    count = np.bincount(train.user, minlength=n)
    total = np.bincount(train.user, weights=train.values, minlength=n)
    limit = np.where(count > 0, total / np.maximum(count, 1), train.values.mean())[test.user]
    return f1_above(test.values, found, limit)


def list_measures(
    lists: list[Recommendations], wanted: list[set[Any]], n: int, n_items: int
) -> dict[str, float]:
    """Precision, recall and NDCG of lists, and how many of the items they show.

    Parameters
    ----------
    lists : list of Recommendations
        One for each user.
    wanted : list of set
        The items that each user chose or liked, none empty.
    n : int
        The length that lists are judged at.
    n_items : int
        How many the model can list.
    """
    if not wanted:
        none = {"precision": np.nan, "recall": np.nan, "NDCG": np.nan, "coverage": np.nan}
        return {f"{name}@{n}": value for name, value in none.items()}
    discount = 1.0 / np.log2(np.arange(2, n + 2))
    ideal = np.concatenate(([0.0], np.cumsum(discount)))
    rows = []
    shown: set[Any] = set()
    for one, liked in zip(lists, wanted, strict=True):
        top = one.items[:n]
        shown.update(top)
        hit = np.array([item in liked for item in top], dtype=float)
        gain = float(hit @ discount[: len(hit)])
        rows.append((hit.sum() / n, hit.sum() / len(liked), gain / ideal[min(len(liked), n)]))
    means = np.mean(rows, axis=0)
    return {
        f"precision@{n}": float(means[0]),
        f"recall@{n}": float(means[1]),
        f"NDCG@{n}": float(means[2]),
        f"coverage@{n}": len(shown) / max(n_items, 1),
    }
