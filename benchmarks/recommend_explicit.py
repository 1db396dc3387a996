"""Ratings with the defaults of `Recommender`: RMSE, MAE and the paper's F1 over five folds.

MovieLens 1M and 100K: one model, the mean of five starts, without side information, and with 300
comparisons a side. Writes `results/recommend_explicit.csv` and `.md`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from common import cpu_seconds_of, start_process
from recommend_data import Biases, MovieLens, folds, movielens
from report import Report, within

from rprnmf.recommend import Recommender
from rprnmf.recommend.measures import paper_f1, rating_measures
from rprnmf.recommend.ratings import read_ratings

LIMITS = {
    "one model": 0.833,
    "five starts": 0.827,
    "no side information": 0.836,
}


def comparisons(data: MovieLens, n: int) -> dict[str, Any]:
    """So many comparisons of people and of films, from their tables."""
    return {**data.tables, "user_triplets": n, "item_triplets": n}


def measured(
    model: Any, data: MovieLens, out: np.ndarray, knowledge: dict[str, Any]
) -> dict[str, float]:
    """One fit."""
    seconds, _ = cpu_seconds_of(lambda: model.fit(*data.part(~out), **knowledge))
    users, items, truth = data.part(out)
    found = model.predict(users, items)
    every = read_ratings(data.user, data.item, data.rating)
    row = rating_measures(truth, found)
    row["F1"] = paper_f1(every.take(~out), every.take(out), found)
    rates = [getattr(model, f"{side}_satisfied_rate_", np.nan) for side in ("user", "item")]
    row["comparisons met"] = float(np.mean(rates))
    row["CPU seconds"] = seconds
    return row


def main() -> None:
    quick, folder = start_process("recommend_explicit")
    warnings.simplefilter("ignore")
    n_folds = 5
    used = 1 if quick else n_folds
    text = (
        f"{used} of {n_folds} folds of all ratings, each held out once; means, and standard errors "
        "of RMSE. Defaults of Recommender(random_state=0). The number of components was chosen on "
        "a part of the training ratings of another split (benchmarks/recommend_tuning.py). People: "
        "gender, age, occupation; films: title, genres. F1: of ratings above the user's "
        "mean, as in the paper (69.25 % there, with RMSE 0.928). One thread."
    )
    report = Report(folder, "recommend_explicit", "Ratings: defaults of Recommender", text)
    for name in ("MovieLens 100K",) if quick else ("MovieLens 100K", "MovieLens 1M"):
        data = movielens(name)
        programs: dict[str, tuple[Any, dict[str, Any]]] = {
            "biases": (Biases(), {}),
            "no side information": (Recommender(random_state=0), {}),
            "one model": (Recommender(random_state=0), data.tables),
            "five starts": (Recommender(n_starts=5, random_state=0), data.tables),
            "300 comparisons a side": (Recommender(random_state=0), comparisons(data, 300)),
        }
        for program, (model, knowledge) in programs.items():
            outs = folds(len(data.rating), n_folds, seed=0)[:used]
            found = [measured(model, data, out, knowledge) for out in outs]
            row: dict[str, Any] = {
                key: float(np.mean([one[key] for one in found])) for key in found[0]
            }
            error = np.std([one["RMSE"] for one in found], ddof=1) if used > 1 else 0.0
            limit = LIMITS.get(program, np.nan) if name == "MovieLens 1M" else np.nan
            row["limit"] = limit
            row["within"] = "-" if np.isnan(limit) else within(row["RMSE"], limit)
            row["standard error"] = float(error / np.sqrt(used))
            for key in ("RMSE", "MAE", "F1"):
                row[key] = f"{row[key]:.4f}"
            report.add(data=name, program=program, **row)


if __name__ == "__main__":
    main()
