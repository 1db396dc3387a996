"""Users and items with 0, 1 or 2 to 5 training ratings, cut down to these or so by nature.

The prior from metadata against none, means and biases, comparisons drawn from the metadata, a
graph of genres, and cmfrec with the same side information. Writes
`results/recommend_cold_PART.csv` and `.md`, one for each of eight parts; `--parts 1m-cut-items`
runs one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from common import MissingError, start_parts
from recommend_data import (
    Biases,
    MovieLens,
    by_count,
    cut,
    folds,
    movielens,
    parts_by_count,
    periods,
)
from recommend_lists import Lists
from recommend_peers import Comparisons, Tables
from recommend_peers_search import program, settings_or_note
from report import Report, within
from sklearn.base import clone

from rprnmf.recommend import Recommender

NAMES = {"1m": "MovieLens 1M", "100k": "MovieLens 100K"}
SPLITS = ("cut-items", "cut-users", "natural-items", "natural-users")
PARTS = tuple("-".join(part) for part in product(NAMES, SPLITS))
SEEDS, FOLDS = (20, 21, 22), 5  # nothing was chosen on these splits
LIMITS = {
    "1m-cut-items": {"0": 1.035, "1": 0.99, "2-5": 0.96},
    "1m-cut-users": {"0": 0.975, "1": 0.975, "2-5": 0.952},
}
OURS = "metadata"
HOW = {
    "cut-items": "a fifth of the films are cut down to 0, 1 or 2 to 5 ratings, their others are "
    "predicted",
    "cut-users": "a fifth of the people are cut down to 0, 1 or 2 to 5 ratings, their others are "
    "predicted",
    "natural-items": "a fifth of all ratings are held out, and those of films that have so few "
    "others are looked at",
    "natural-users": "the ninth tenth of the ratings in order of time is predicted from those "
    "before, and so is the tenth; those of people that have so few before are looked at",
}


def splits(data: MovieLens, how: str, quick: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training and test ratings."""
    kind, side = how.split("-")
    if kind == "cut":
        yield from (cut(data, side, seed) for seed in SEEDS[: 1 if quick else None])
    elif side == "items":
        outs = folds(len(data.rating), FOLDS, SEEDS[0])[: 1 if quick else None]
        yield from ((~out, out) for out in outs)
    else:
        period = periods(data)
        yield from ((period < k, period == k) for k in ((2,) if quick else (1, 2)))


def programs(
    report: Report, data: MovieLens, tables: Tables, side: str
) -> dict[str, Callable[..., Any]]:
    """What fits to ratings; ours first."""
    plain = Recommender(random_state=0, unknown="ignore", n_jobs=1)
    by_rating = clone(plain).set_params(order="rating")
    told = {**data.tables, "item_triplets": 300, "user_triplets": 300}
    found: dict[str, Callable[..., Any]] = {
        OURS: partial(plain.fit, **data.tables),
        'metadata, order="rating"': partial(by_rating.fit, **data.tables),
        "user means": Biases(use_items=False).fit,
        "item means": Biases(use_users=False).fit,
        "biases": Biases().fit,
        "no metadata": plain.fit,
        "metadata and 300 comparisons a side": partial(plain.fit, **told),
        "3 comparisons a row, no metadata": Comparisons(tables, data).fit,
    }
    for name, setting in settings_or_note(report, side).items():
        if name == "genre graph" or name.endswith("features"):
            found[name] = program(name, tables, setting).fit
    return found


def mean(values: Any) -> str:
    """Mean and standard error over splits; NaN are splits that have none."""
    values = np.asarray(values, dtype=float)
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return "-"
    error = f"{values.std(ddof=1) / np.sqrt(len(values)):.4f}" if len(values) > 1 else "-"
    return f"{values.mean():.4f} ± {error}"


def run_part(part: str, quick: bool, folder: Any) -> None:
    """One table."""
    key, how = part.split("-", 1)
    side = how.split("-")[1]
    data = movielens(NAMES[key])
    tables = Tables(data)
    parts = list(splits(data, how, quick))
    text = (
        f"{NAMES[key]}: {HOW[how]}. Means and standard errors over {len(parts)} splits, on which "
        "no setting was chosen; n: test ratings of all. recall@20: how many of the held-out "
        "ratings of at least 4 are among the first 20, over as many as could be, mean over "
        "people; lists of "
        + (
            "all films that the person has not rated. "
            if side == "users"
            else "only those films that have so many ratings ('-': there are not 20). "
        )
        + "Lists of Recommender are those of its defaults, by interest and the predicted rating; "
        'all others, as those of order="rating", are ordered by the prediction less two standard '
        "errors (plain: nothing is taken off the prediction). more, less: paired differences to "
        f"'{OURS}', Recommender with its defaults. The settings of cmfrec and of the graph were "
        "chosen by benchmarks/recommend_peers_search.py. One thread."
    )
    title = f"Cold start: {NAMES[key]}, {how.replace('-', ' ')}"
    report = Report(folder, f"recommend_cold_{part.replace('-', '_')}", title, text)
    counted = [parts_by_count(data, train, test, side) for train, test in parts]
    ours: dict[str, np.ndarray] = {}
    behind: list[str] = []
    for name, fit in programs(report, data, tables, side).items():
        found = []
        try:
            for train, test in parts:
                model = fit(*data.part(train))
                errors = by_count(model, data, train, test, side)
                recalls = Lists(model, data, tables, train, test).by_count(side)
                found.append({kind: (errors[kind], *recalls[kind]) for kind in errors})
        except MissingError as error:
            report.note(f"{error}.")
            continue
        for kind in found[0]:
            values = np.array([one[kind] for one in found])
            if np.isnan(values[:, 0]).all():
                continue
            ours.setdefault(kind, values)
            gap = values - ours[kind]
            row: dict[str, Any] = {"ratings": kind, "program": name}
            row["n"] = sum(int(sizes[kind].sum()) for sizes in counted)
            row |= {"RMSE": mean(values[:, 0]), "more": mean(gap[:, 0])}
            row |= {"recall@20": mean(values[:, 1]), "less": mean(-gap[:, 1])}
            row |= {"plain": mean(values[:, 2])}
            limit = LIMITS.get(part, {}).get(kind, np.nan) if name == OURS else np.nan
            row |= {"limit": limit, "within": within(float(np.nanmean(values[:, 0])), limit)}
            report.add(**row)
            if not name.startswith(OURS) and np.nanmean(gap[:, 0]) <= 0:
                behind.append(f"{name} ({kind} ratings: {mean(gap[:, 0])})")
    if behind:
        report.note(f"At or below the RMSE of '{OURS}': {'; '.join(behind)}.")
    else:
        report.note(f"No program is at or below the RMSE of '{OURS}'.")


def main() -> None:
    quick, folder, parts = start_parts("recommend_cold", PARTS)
    for part in parts:
        if quick and part.startswith("1m") and len(parts) == len(PARTS):
            continue
        run_part(part, quick, folder)


if __name__ == "__main__":
    main()
