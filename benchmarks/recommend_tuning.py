"""How many components a recommender of ratings has by default, and how long it goes on.

Chosen on the training part of one split of MovieLens 1M and 100K alone: four fifths of the ratings,
of which again a fifth is held out. Writes `results/recommend_tuning.csv` and `.md`.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from common import cpu_seconds_of, start_process
from recommend_data import movielens, rmse
from report import Report

from rprnmf.recommend import Recommender

SPLIT, INNER = 100, 7  # seeds


def main() -> None:
    quick, folder = start_process("recommend_tuning")
    warnings.simplefilter("ignore")
    text = (
        "RMSE of a fifth of the training ratings of one split; the ratings of its test part are "
        "not looked at. One thread."
    )
    report = Report(folder, "recommend_tuning", "Components and iterations by training data", text)
    for name in ("MovieLens 100K",) if quick else ("MovieLens 100K", "MovieLens 1M"):
        data = movielens(name)
        train = np.flatnonzero(np.random.default_rng(SPLIT).random(len(data.rating)) >= 0.2)
        held = np.random.default_rng(INNER).random(len(train)) < 0.2
        fitted, out = train[~held], train[held]
        for K in (10, 20, 40, 60, 80):
            for max_iter in (4, 8, 20) if K == 40 else (8,):
                common = {"max_iter": max_iter, "order": "rating", "random_state": 0}
                model = Recommender(K, n_starts=3, **common)
                parts = data.part(fitted)
                seconds, _ = cpu_seconds_of(partial(model.fit, *parts, **data.tables))
                users, items, truth = data.part(out)
                found = rmse(model.predict(users, items), truth)
                one = Recommender(K, **common).fit(*parts, **data.tables)
                report.add(
                    data=name,
                    components=K,
                    iterations=max_iter,
                    RMSE=f"{rmse(one.predict(users, items), truth):.4f}",
                    **{"three starts": f"{found:.4f}", "CPU seconds": seconds},
                )


if __name__ == "__main__":
    main()
