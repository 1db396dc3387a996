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
from recommend_peers import Cmfrec, Tables
from report import Report, within

from rprnmf.recommend import Recommender
from rprnmf.recommend.top_n import top_n

FIT_LIMIT, LIST_LIMIT, ONE_LIMIT = 0.5, 1.2, 0.001
ITERATIONS = (3, 5, 8, 12, 20, 30, 50)
CMFREC = {  # the weight is what benchmarks/ratings.py found
    "nonneg": True,
    "biased": False,
    "scale_lam": True,
    "lambda_": 0.045,
    "k": 20,
    "use_float": True,
}


def cpu(call: Any, repeats: int) -> float:
    """The median of CPU seconds."""
    found = []
    for _ in range(repeats):
        started = time.process_time()
        call()
        found.append(time.process_time() - started)
    return median(found)


def peer_seconds(report: Report, tables: Tables, data: Any, out: np.ndarray, goal: float) -> float:
    """cmfrec's fewest iterations to an RMSE, or to its best if that is above."""
    seen: list[tuple[float, float]] = []
    users, items, truth = data.part(out)
    for n in ITERATIONS:
        model = Cmfrec(tables, False, **CMFREC, niter=n).fit(*data.part(~out))
        seen.append((rmse(model.predict(users, items), truth), model.seconds))
        said = f"cmfrec, {n} iterations"
        report.add(what="fit", program=said, seconds=seen[-1][1], RMSE=f"{seen[-1][0]:.4f}")
        if seen[-1][0] <= goal or seen[-1][0] > min(seen)[0]:
            break
    there = [seconds for error, seconds in seen if error <= goal]
    return min(there) if there else min(seen)[1]


def fits(report: Report, data: Any, out: np.ndarray, repeats: int) -> Recommender:
    """Our fit, with and without tables and interest, and cmfrec's; ours with all."""
    users, items, truth = data.part(out)
    model = Recommender(20, random_state=0, unknown="ignore", n_jobs=1)
    model.fit(*data.part(~out))  # compiles
    peer: float | None = None
    for name, knowledge in (("no tables", {}), ("tables", data.tables)):
        for order in ("rating", "interest"):
            model.set_params(order=order)
            seconds = cpu(lambda told=knowledge: model.fit(*data.part(~out), **told), repeats)
            found = rmse(model.predict(users, items), truth)
            if peer is None:
                try:
                    peer = peer_seconds(report, Tables(data), data, out, found)
                except MissingError as error:
                    peer = np.nan
                    report.note(f"{error}.")
            ratio = seconds / peer
            report.add(
                what="fit",
                program=f"Recommender(20), {name}, order={order!r}",
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
    single = median(cpu(lambda u=user: model.recommend(u, 10), 3) for user in model.user_ids_[:500])
    told = {"limit": ONE_LIMIT, "within": within(single, ONE_LIMIT)}
    report.add(what="lists", program="Recommender.recommend, one user", seconds=single, **told)


def main() -> None:
    quick, folder = start_process("recommend_speed")
    warnings.simplefilter("ignore")
    text = (
        "MovieLens 1M, a fifth of the ratings held out. CPU seconds, medians; one thread. Ratio of "
        "fits: to cmfrec's fewest iterations to the RMSE of Recommender(20) without tables, or to "
        "its best RMSE if it does not get there. Ratio of lists: to implicit. One user: the median "
        "over 500."
    )
    report = Report(folder, "recommend_speed", "Seconds of a recommender", text)
    data = movielens("MovieLens 1M")
    out, repeats = folds(len(data.rating), 5, seed=20)[0], 1 if quick else 3
    model = fits(report, data, out, repeats)
    lists(report, model, data, out, repeats)


if __name__ == "__main__":
    main()
