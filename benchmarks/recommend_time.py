"""The past predicts the future: MovieLens 1M by period, and new ratings without a new fit.

The last tenth of the ratings is predicted from all before it; the nine tenths before are fitted at
once, or eight tenths are fitted and the ninth is taken in by ``partial_fit``. Writes
`results/recommend_time.csv` and `.md`.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from common import cpu_seconds_of, start_process
from recommend_data import Biases, movielens, periods, rmse
from report import Report

from rprnmf.recommend import Recommender


def main() -> None:
    quick, folder = start_process("recommend_time")
    warnings.simplefilter("ignore")
    data, period = movielens("MovieLens 1M"), periods()
    text = (
        "MovieLens 1M: the latest tenth of the ratings (period 2) predicted from those before; "
        "RMSE of all, and of ratings whose user and item have training ratings. partial_fit: "
        "fitted to the earliest eight tenths, then given the ninth. One thread."
    )
    report = Report(folder, "recommend_time", "Ratings of the future", text)
    past, test = period < 2, period == 2
    users, items, truth = data.part(test)
    known = np.isin(users, data.user[past]) & np.isin(items, data.item[past])
    plain = Recommender(random_state=0, unknown="ignore")
    programs: dict[str, tuple[Any, dict[str, Any]]] = {
        "user means": (Biases(use_items=False), {}),
        "item means": (Biases(use_users=False), {}),
        "biases": (Biases(), {}),
        "no side information": (plain, {}),
        "one model": (plain, data.tables),
        "five starts": (Recommender(n_starts=5, random_state=0, unknown="ignore"), data.tables),
    }
    if quick:
        programs.pop("five starts")

    def add(program: str, model: Any, seconds: float) -> None:
        found = model.predict(users, items)
        row = {"all": rmse(found, truth), "known": rmse(found[known], truth[known])}
        told: dict[str, Any] = {key: f"{value:.4f}" for key, value in row.items()}
        report.add(program=program, **told, **{"CPU seconds": seconds})

    for program, (model, knowledge) in programs.items():
        seconds, _ = cpu_seconds_of(partial(model.fit, *data.part(past), **knowledge))
        add(program, model, seconds)
    plain.fit(*data.part(period == 0), **data.tables)
    add("fit of period 0 alone", plain, np.nan)
    seconds, _ = cpu_seconds_of(lambda: plain.partial_fit(*data.part(period == 1)))
    add("partial_fit of period 1", plain, seconds)


if __name__ == "__main__":
    main()
