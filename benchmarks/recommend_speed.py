"""Seconds of a recommender beside others: a fit of 20 components, and lists for all users.

The fit is beside cmfrec's non-negative one at the setting and length that predict best; the lists
beside those of implicit from the same factors. MovieLens 1M, one split. Writes
`results/recommend_speed.csv` and `.md`.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from common import MissingError, median, start_process
from environments import run
from recommend_data import folds, movielens, rmse
from report import Report, within

from rprnmf.recommend import Recommender
from rprnmf.recommend.top_n import top_n

FIT_LIMIT, LIST_LIMIT = 0.5, 1.2
REGULARISATION, ITERATIONS = 0.045, (5, 10, 20)  # of cmfrec: what benchmarks/ratings.py found


def cpu(call: Any, repeats: int) -> float:
    """The median of CPU seconds."""
    found = []
    for _ in range(repeats):
        started = time.process_time()
        call()
        found.append(time.process_time() - started)
    return median(found)


def fits(report: Report, data: Any, out: np.ndarray, repeats: int) -> Recommender:
    """Our fit, with and without tables, and cmfrec's; ours with tables."""
    users, items, truth = data.part(out)
    row, column = (np.unique(ids, return_inverse=True)[1] for ids in (data.user, data.item))
    inputs = {
        "shape": np.array([row.max() + 1, column.max() + 1]),
        "rows": row[~out],
        "columns": column[~out],
        "values": data.rating[~out],
        "test_rows": row[out],
        "test_columns": column[out],
        "test_values": truth,
    }
    peer = np.nan
    try:
        for n in ITERATIONS:
            setting = {"K": 20, "regularisation": REGULARISATION, "single": True}
            found = run("cmfrec", **inputs, task="timed", n=n, **setting)
            peer = float(found["seconds"])
            name = f"cmfrec, {n} iterations"
            report.add(what="fit", program=name, seconds=peer, RMSE=f"{float(found['values']):.4f}")
    except MissingError as error:
        report.note(f"{error}.")
    model = Recommender(20, random_state=0)
    for name, knowledge in (("no tables", {}), ("tables", data.tables)):
        seconds = cpu(lambda told=knowledge: model.fit(*data.part(~out), **told), repeats)
        found = rmse(model.predict(users, items), truth)
        ratio = seconds / peer
        report.add(
            what="fit",
            program=f"Recommender(20), {name}",
            seconds=seconds,
            RMSE=f"{found:.4f}",
            ratio=ratio,
            limit=FIT_LIMIT,
            within=within(ratio, FIT_LIMIT),
        )
    return model


def lists(report: Report, model: Recommender, data: Any, out: np.ndarray, repeats: int) -> None:
    """Ten items for every user."""
    W, Ht, X = model.user_factors_, model.item_factors_, model._X
    seconds = cpu(lambda: top_n(W, Ht, 10, X), repeats + 1)
    peer = np.nan
    try:
        found = run("implicit", worker="implicit_top", X=X, W=W, Ht=Ht, repeats=repeats)
        peer = float(found["seconds"])
        same = float(np.mean(found["items"] == top_n(W, Ht, 10, X)[0]))
        report.add(what="lists", program="implicit", seconds=peer)
        report.note(f"The lists of implicit are the same in {100 * same:.1f} % of the places.")
    except MissingError as error:
        report.note(f"{error}.")
    ratio = seconds / peer
    told = {"ratio": ratio, "limit": LIST_LIMIT, "within": within(ratio, LIST_LIMIT)}
    report.add(what="lists", program="top_n", seconds=seconds, **told)
    whole = cpu(lambda: model.recommend(model.user_ids_, 10), repeats)
    report.add(what="lists", program="Recommender.recommend, all users", seconds=whole)
    one = cpu(lambda: [model.recommend(user, 10) for user in model.user_ids_[:200]], repeats) / 200
    report.add(what="lists", program="Recommender.recommend, one user", seconds=one)


def main() -> None:
    quick, folder = start_process("recommend_speed")
    warnings.simplefilter("ignore")
    text = (
        "MovieLens 1M, a fifth of the ratings held out. CPU seconds, of cmfrec wall seconds; one "
        "thread. Ratio: to the longest run of cmfrec, to implicit."
    )
    report = Report(folder, "recommend_speed", "Seconds of a recommender", text)
    data = movielens("MovieLens 1M")
    out, repeats = folds(len(data.rating), 5, seed=0)[0], 1 if quick else 3
    model = fits(report, data, out, repeats)
    lists(report, model, data, out, repeats)


if __name__ == "__main__":
    main()
