"""People who were not in the fit: ``fold_in`` of their ratings beside a new fit that has them.

Some people of MovieLens are left out; four fifths of what each rated, or liked, is folded in and
the rest predicted. Writes `results/recommend_fold_in_PART.csv` and `.md`; `--parts 100k` runs one.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from clicks_data import LIKED
from common import cpu_seconds_of, start_parts
from recommend_data import MovieLens, movielens, rmse
from report import Report, within

from rprnmf.recommend import Recommender

PARTS = {
    "1m": ("MovieLens 1M", "explicit", 500),
    "100k": ("MovieLens 100K", "explicit", 150),
    "1m-clicks": ("MovieLens 1M", "implicit", 500),
    "100k-clicks": ("MovieLens 100K", "implicit", 150),
}
SEEDS = (20, 21, 22)
LIMIT = 0.01


class Split(NamedTuple):
    """Ratings of other people, of those left out, and those to predict."""

    others: np.ndarray
    given: np.ndarray
    test: np.ndarray
    people: np.ndarray


def split(data: MovieLens, n_people: int, seed: int) -> Split:
    """Some people left out."""
    rng = np.random.default_rng(seed)
    people = rng.choice(np.unique(data.user), n_people, replace=False)
    out, held = np.isin(data.user, people), rng.random(len(data.user)) < 0.2
    return Split(~out, out & ~held, out & held, people)


def recall(liked: set[Any], listed: list[Any]) -> float:
    """Held-out clicks among the first 20, over as many as could be."""
    return len(liked.intersection(listed)) / min(len(liked), 20)


def measured(data: MovieLens, kind: str, part: Split) -> dict[str, float]:
    """Both ways, on one split."""
    model = Recommender(kind=kind, order="rating", random_state=0, unknown="ignore", n_jobs=1)
    scores = kind == "explicit"
    known = data.people.drop(index=part.people)
    values = data.rating if scores else np.ones(len(data.rating))
    told = {"item_metadata": data.films}
    model.fit(
        *(column[part.others] for column in (data.user, data.item, values)),
        user_metadata=known,
        **told,
    )
    found, seconds, places = [], [], []
    for person in part.people:
        given, test = (np.flatnonzero(rows & (data.user == person)) for rows in part[1:3])
        if len(given) == 0 or len(test) == 0:
            continue
        facts = data.people.loc[person].to_dict()
        ratings = data.rating[given] if scores else None
        started = time.process_time()
        new = model.fold_in(data.item[given], ratings, metadata=facts)
        seconds.append(time.process_time() - started)
        if scores:
            found.append(model.predict(new, data.item[test]))
        else:
            found.append(model.recommend(new, 20).items)
        places.append(test)
    both = part.others | part.given
    whole, _ = cpu_seconds_of(
        lambda: model.fit(
            *(column[both] for column in (data.user, data.item, values)),
            user_metadata=data.people,
            **told,
        )
    )
    row = {"CPU seconds, a person": float(np.median(seconds)), "new fit": whole}
    if scores:
        every = np.concatenate(places)
        again = model.predict(data.user[every], data.item[every])
        folded = rmse(np.concatenate(found), data.rating[every])
        refit = rmse(again, data.rating[every])
        return {"folded in": folded, "fitted again": refit, "worse": folded - refit, **row}
    wanted = [set(data.item[test].tolist()) for test in places]
    people = [data.user[test[0]] for test in places]
    lists = [one.items for one in model.recommend(people, 20)]
    folded, refit = (
        float(np.mean([recall(*pair) for pair in zip(wanted, one, strict=True)]))
        for one in (found, lists)
    )
    return {"folded in": folded, "fitted again": refit, "worse": refit - folded, **row}


def likes(data: MovieLens) -> MovieLens:
    """Clicks: ratings of at least 4."""
    users, items, ratings = data.part(data.rating >= LIKED)
    return data._replace(user=users, item=items, rating=ratings)


def main() -> None:
    quick, folder, parts = start_parts("recommend_fold_in", tuple(PARTS))
    text = (
        "People left out of the fit, with four fifths of their ratings folded in and the others "
        "predicted (RMSE); of clicks, ratings of at least 4, recall@20, over as many as could be. "
        "Fitted again: with those four fifths. Both know age, gender and occupation. Means and "
        "standard errors over splits; limit: how much worse. One thread."
    )
    for part in parts:
        if quick and part.startswith("1m") and len(parts) == len(PARTS):
            continue
        name, kind, n_people = PARTS[part]
        file = f"recommend_fold_in_{part.replace('-', '_')}"
        report = Report(folder, file, "New people without a new fit", text)
        data = movielens(name) if kind == "explicit" else likes(movielens(name))
        seeds = SEEDS[: 1 if quick else None]
        rows = [measured(data, kind, split(data, n_people, seed)) for seed in seeds]
        measure = "RMSE" if kind == "explicit" else "recall@20"
        row: dict[str, Any] = {"data": name, "measure": measure, "people": n_people}
        means = {key: float(np.mean([one[key] for one in rows])) for key in rows[0]}
        row |= {key: f"{means[key]:.4f}" for key in ("folded in", "fitted again")}
        gaps = np.array([one["worse"] for one in rows])
        spread = f"{gaps.std(ddof=1) / np.sqrt(len(gaps)):.4f}" if len(gaps) > 1 else "-"
        row["worse"] = f"{gaps.mean():+.4f} ± {spread}"
        row |= {"limit": LIMIT, "within": within(means["worse"], LIMIT)}
        row |= {key: means[key] for key in ("CPU seconds, a person", "new fit")}
        report.add(**row)


if __name__ == "__main__":
    main()
