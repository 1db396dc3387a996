"""Recommendations from few clicks for each user, beside popularity and implicit's ALS.

Clicks of MovieLens 100K and 1M (ratings of at least 4), of whose training part every user keeps 1
to 20 or 1 to 5; and made clicks, of 3 to 14 for each user, on few items and on a long tail of
many. NDCG@10 and recall@20 of what was held out, and CPU seconds of the fit of `Recommender` with
its defaults. Settings of implicit are the best on a part of the training clicks of another split.
Writes `results/clicks_sparse.csv` and `.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from clicks import als, difference, public, standard_error, tuned
from clicks_data import Clicks, measured, movielens, popularity, split
from common import MissingError, cpu_seconds_of, start_process
from report import Report

SEEDS = (20, 21, 22, 23, 24)  # splits on which nothing was chosen
TUNED_ON = 19
GRID = [{"alpha": a, "regularization": r} for a, r in product((2.0, 10.0), (3.0, 10.0, 30.0, 100))]
TASTES = 8
OURS = "Recommender, defaults"


def thinned(X: sp.csr_array, low: int, high: int, seed: int) -> sp.csr_array:
    """Between low and high clicks of each user, small numbers as often as large ones."""
    rng = np.random.default_rng(seed)
    X = sp.csr_array(X)
    kept = np.exp(rng.uniform(np.log(low), np.log(high + 1), X.shape[0])).astype(int)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    order = np.lexsort((rng.random(X.nnz), rows))
    rank = np.empty(X.nnz, dtype=int)
    rank[order] = np.arange(X.nnz) - X.indptr[rows[order]]
    few = rank < kept[rows]
    return sp.csr_array((X.data[few], (rows[few], X.indices[few])), shape=X.shape)


def few_of(name: str, high: int) -> Callable[[int], Clicks]:
    """Clicks of MovieLens; what is held out is that of `clicks.py`."""

    def make(seed: int) -> Clicks:
        whole = split(movielens(name), seed)
        return Clicks(thinned(whole.train, 1, high, 1000 + seed), whole.test)

    return make


def made(n_users: int, n_items: int, steep: float) -> Callable[[int], Clicks]:
    """Made clicks of users with tastes, on items whose popularity falls with their place."""

    def make(seed: int) -> Clicks:
        rng = np.random.default_rng(seed)
        popular = 1.0 / np.arange(1, n_items + 1) ** steep
        kinds = rng.dirichlet(np.full(TASTES, 0.15), n_items)
        liking = rng.dirichlet(np.full(TASTES, 0.2), n_users)
        places = []
        for user, size in enumerate(rng.integers(3, 15, n_users)):
            chance = popular * (0.05 / TASTES + kinds @ liking[user])
            chosen = rng.choice(n_items, size, replace=False, p=chance / chance.sum())
            places.append(np.column_stack((np.full(size, user), chosen)))
        users, items = np.concatenate(places).T
        ones = np.ones(len(users), np.float32)
        return split(sp.csr_array((ones, (users, items)), shape=(n_users, n_items)), seed)

    return make


DATA: dict[str, Callable[[int], Clicks]] = {
    "MovieLens 100K, 1 to 20": few_of("100k", 20),
    "MovieLens 100K, 1 to 5": few_of("100k", 5),
    "MovieLens 1M, 1 to 20": few_of("1m", 20),
    "MovieLens 1M, 1 to 5": few_of("1m", 5),
    "made, 150 items": made(3000, 150, 0.6),
    "made, 5000 items": made(3000, 5000, 0.9),
}


def implicit_of(make: Callable[[int], Clicks], grid: list[dict]) -> tuple[str, Callable]:
    """implicit's ALS with what is best for it on a part of the training clicks."""
    part = split(make(TUNED_ON).train, 1000 + TUNED_ON)
    best = tuned(part, lambda c, **setting: als(c, factors=32, **setting), grid)
    return f"implicit ALS, 32, {best}", lambda c: als(c, factors=32, **best)


def main() -> None:
    quick, folder = start_process("clicks_sparse")
    seeds = SEEDS[: 1 if quick else None]
    text = (
        f"Means and standard errors over {len(seeds)} splits. Of MovieLens (ratings of at least 4) "
        "a fifth is held out, and each user keeps 1 to 20 or 1 to 5 of the others; of made clicks, "
        "3 to 14 for each user, a fifth is held out. NDCG@10 and recall@20 (over as many hits as "
        "there could be) of lists without training clicks. Settings of implicit are the best on a "
        "part of the training clicks of another split. One thread."
    )
    report = Report(folder, "clicks_sparse", "Recommendations from few clicks", text)
    for name, make in list(DATA.items())[: 1 if quick else None]:
        methods: dict[str, Callable[[Clicks], Any]] = {
            "popularity": lambda c: popularity(c.train),
            OURS: lambda c: public(c, quick),
        }
        try:
            label, peer = implicit_of(make, GRID[: 1 if quick else None])
            methods[label] = peer
        except MissingError as error:
            report.note(str(error))
        compared(report, name, methods, [make(seed) for seed in seeds])


def compared(
    report: Report, name: str, methods: dict[str, Callable[[Clicks], Any]], parts: list[Clicks]
) -> None:
    """The rows of one table of clicks, and whether ours is at or above popularity."""
    found, seconds = {}, {}
    for method, scores in methods.items():
        timed = [cpu_seconds_of(lambda c=c, scores=scores: scores(c)) for c in parts]
        seconds[method] = float(np.median([one for one, _ in timed]))
        both = zip(parts, timed, strict=True)
        found[method] = np.array([measured(c, made) for c, (_, made) in both])
        mean, error = found[method].mean(axis=0), standard_error(found[method])
        cells = {"NDCG@10": 0, "recall@20": 1}
        row = {cell: f"{mean[at]:.4f} ± {error[at]:.4f}" for cell, at in cells.items()}
        ours = {"CPU seconds": seconds[method]} if method == OURS else {}
        clicks = int(np.mean([c.train.nnz for c in parts]))
        report.add(clicks=f"{name} ({clicks})", method=method, **row, **ours)
    gain, error = difference(found[OURS] - found["popularity"])
    lost = (gain < -error).any()  # NaN: one split tells nothing of the spread
    report.note(
        f"{name}: ours less popularity, NDCG@10 {gain[0]:+.4f} ± {error[0]:.4f}, recall@20 "
        f"{gain[1]:+.4f} ± {error[1]:.4f}; not below by more than an error: "
        f"{'no' if lost else 'yes'}."
    )


if __name__ == "__main__":
    main()
