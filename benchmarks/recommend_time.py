"""The past predicts the future: the latest tenth of the ratings, and new ratings without a new fit.

MovieLens 1M and 100K. Ratings and lists of the last period from all before it, by the programs of
`recommend_cold.py`; and most of the last period taken in by ``partial_fit`` or by a new fit, and
the rest of it predicted. Writes `results/recommend_time_PART.csv` and `.md`; `--parts 1m` runs one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from common import MissingError, cpu_seconds_of, start_parts
from recommend_data import Biases, MovieLens, movielens, periods, rmse
from recommend_lists import Lists
from recommend_peers import Cmfrec, Comparisons, Tables
from recommend_peers_search import program, settings_or_note
from report import Report, within
from sklearn.base import clone

from rprnmf.recommend import Recommender

NAMES = {"1m": "MovieLens 1M", "100k": "MovieLens 100K"}
SEED = 20
LIMITS = {"RMSE": 0.01, "seconds": 0.1}  # of partial_fit: above a new fit, and over its seconds


def programs(
    report: Report, data: MovieLens, tables: Tables, quick: bool
) -> dict[str, Callable[..., Any]]:
    """What fits to ratings."""
    plain = Recommender(order="rating", random_state=0, unknown="ignore", n_jobs=1)
    five = clone(plain).set_params(n_starts=5)
    found: dict[str, Callable[..., Any]] = {
        "user means": Biases(use_items=False).fit,
        "item means": Biases(use_users=False).fit,
        "biases": Biases().fit,
        "no metadata": plain.fit,
        "metadata": partial(plain.fit, **data.tables),
        "metadata, five starts": partial(five.fit, **data.tables),
        "metadata and 300 comparisons a side": partial(
            plain.fit, **data.tables, user_triplets=300, item_triplets=300
        ),
        "3 comparisons a row, no metadata": Comparisons(tables, data).fit,
    }
    if quick:
        found.pop("metadata, five starts")
    for name, setting in settings_or_note(report, "time").items():
        found[name] = program(name, tables, setting).fit
    return found


def future(report: Report, data: MovieLens, period: np.ndarray, quick: bool) -> None:
    """The last period from those before."""
    past, test = period < 2, period == 2
    tables = Tables(data)
    users, items, truth = data.part(test)
    known = np.isin(users, data.user[past]) & np.isin(items, data.item[past])
    asked = np.ones(int(test.sum()), bool)
    for name, fit in programs(report, data, tables, quick).items():
        try:
            seconds, model = cpu_seconds_of(lambda fit=fit: fit(*data.part(past)))
        except MissingError as error:
            report.note(f"{error}.")
            continue
        if isinstance(model, Cmfrec):
            seconds = model.seconds
        found = model.predict(users, items)
        lists = Lists(model, data, tables, past, test)
        ndcg, recall = lists.measured(asked)
        plain = lists.measured(asked, 0.0)
        report.add(
            program=name,
            **{
                "RMSE": f"{rmse(found, truth):.4f}",
                "RMSE, known": f"{rmse(found[known], truth[known]):.4f}",
                "NDCG@10": f"{ndcg:.4f}",
                "recall@20": f"{recall:.4f}",
                "plain": f"{plain[1]:.4f}",
                "CPU seconds": seconds,
            },
        )


def new_ratings(report: Report, data: MovieLens, period: np.ndarray) -> None:
    """Four fifths of the last period by ``partial_fit`` and by a new fit; the others predicted."""
    held = np.random.default_rng(SEED).random(len(period)) < 0.2
    past, fresh, test = period < 2, (period == 2) & ~held, (period == 2) & held
    users, items, truth = data.part(test)
    model = Recommender(order="rating", random_state=0, unknown="ignore", n_jobs=1)
    model.fit(*data.part(past), **data.tables)
    before = rmse(model.predict(users, items), truth)
    seconds, _ = cpu_seconds_of(lambda: model.partial_fit(*data.part(fresh)))
    after = rmse(model.predict(users, items), truth)
    whole, _ = cpu_seconds_of(lambda: model.fit(*data.part(past | fresh), **data.tables))
    again = rmse(model.predict(users, items), truth)
    more, share = after - again, seconds / whole
    report.note(
        f"New ratings: a random fifth of the last period has an RMSE of {before:.4f} by the past "
        f"alone, {after:.4f} after partial_fit of the other four fifths ({seconds:.2f} CPU "
        f"seconds) and {again:.4f} after a new fit with them ({whole:.1f}): {more:+.4f}, at most "
        f"{LIMITS['RMSE']}: {within(more, LIMITS['RMSE'])}; {share:.3f} of the seconds, at most "
        f"{LIMITS['seconds']}: {within(share, LIMITS['seconds'])}."
    )


def main() -> None:
    quick, folder, parts = start_parts("recommend_time", tuple(NAMES))
    for part in parts:
        if quick and part == "1m" and len(parts) == len(NAMES):
            continue
        data = movielens(NAMES[part])
        period = periods(data)
        text = (
            f"{NAMES[part]}: the latest tenth of the ratings predicted from those before. RMSE of "
            "all, and of ratings whose user and film have training ratings (known). NDCG@10 and "
            "recall@20 of ratings of at least 4, over as many as could be, in lists of all films "
            'that the person has not rated, ordered as those of Recommender(order="rating"), by '
            "the prediction less two standard errors (plain: recall@20 by the prediction). The "
            "settings of cmfrec and of the graph were chosen on the periods before by "
            "benchmarks/recommend_peers_search.py. One thread."
        )
        report = Report(folder, f"recommend_time_{part}", f"The future: {NAMES[part]}", text)
        new_ratings(report, data, period)
        future(report, data, period, quick)


if __name__ == "__main__":
    main()
