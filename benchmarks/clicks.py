"""Recommendations from clicks beside popularity, EASE, implicit's ALS and plain NMF.

MovieLens 1M and 100K, ratings of at least 4 as clicks, a fifth of them held out: NDCG@10 and
recall@20, and the CPU seconds of one iteration with 64 components. Settings were chosen on training
data: ours by `clicks_search.py` on 1M, those of EASE and implicit here, on each data set. Writes
`results/clicks.csv` and `.md` (1M) and `results/clicks_100k.csv` and `.md`; `--parts 1m` runs one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from clicks_data import Clicks, ease, measured, movielens, of_factors, popularity, split
from clicks_recipe import CHOSEN, fitted
from clicks_search import validation
from common import MissingError, median, start_parts
from environments import run
from report import Report, within

from rprnmf import NMF
from rprnmf.recommend import Recommender

SEEDS = (10, 11, 12)  # splits on which nothing was chosen
STARTS = 5
NAMES = {"1m": "MovieLens 1M", "100k": "MovieLens 100K"}
RIDGES = {"1m": (300.0, 500.0, 700.0, 1000.0), "100k": (50.0, 100.0, 200.0, 300.0, 500.0)}
ALPHAS = {"1m": (5.0, 10.0, 20.0, 40.0), "100k": (2.0, 5.0, 10.0, 20.0)}
REGULARIZATIONS = {
    "1m": (30.0, 60.0, 120.0, 240.0, 480.0),
    "100k": (5.0, 10.0, 30.0, 60.0, 120.0),
}
SPEED = {"factors": 64, "regularization": 10.0, "alpha": 5.0, "iterations": 1, "repeats": 5}
LEAST = {"1m": (0.335, 0.348), "100k": (0.0, 0.0)}  # what EASE was known to reach
Scores = Callable[[slice], np.ndarray]


def als(clicks: Clicks, **settings: Any) -> Scores:
    """implicit's ALS with 128 factors."""
    usual = {"factors": 128, "iterations": 15, "seed": 0, "repeats": 0}
    found = run("implicit", X=clicks.train, **(usual | settings))
    return of_factors(found["W"], found["H"])


def tuned(clicks: Clicks, make: Callable[..., Scores], grid: list[dict]) -> dict[str, Any]:
    """The setting with the best NDCG@10 on a part of the training clicks."""
    return max(grid, key=lambda setting: measured(clicks, make(clicks, **setting))[0])


def plain(clicks: Clicks, beta_loss: str) -> Scores:
    """NMF that takes all missing clicks for zeros, 64 components."""
    model = NMF(64, beta_loss=beta_loss, alpha_W=0.01 if beta_loss != "frobenius" else 0.0)
    model.set_params(init="random", random_state=0, n_jobs=1, max_iter=100, tol=0)
    return of_factors(model.fit_transform(clicks.train), model.components_)


def stacked(clicks: Clicks) -> Scores:
    """Several starts side by side, as one factorisation: the sum of their scores."""
    parts = [fitted(clicks.train, **CHOSEN, random_state=start) for start in range(STARTS)]
    return of_factors(np.hstack([W for W, _ in parts]), np.vstack([H for _, H in parts]))


def seconds_of_an_iteration(clicks: Clicks) -> float:
    """CPU seconds of one of ours, with 64 components."""
    clock: list[float] = []
    settings = CHOSEN | {"n_components": 64, "max_iter": 25}
    fitted(clicks.train, **settings, callback=lambda *_: clock.append(time.process_time()))
    return float(np.median(np.diff(clock)))


def public(clicks: Clicks, quick: bool) -> Scores:
    """`Recommender` with its defaults, by its factors."""
    few: Any = 3 if quick else "auto"
    model = Recommender(kind="implicit", max_iter=few, random_state=0, n_jobs=1)
    model.fit(clicks.train)
    K = model.user_factors_.shape[1]
    W, Ht = (np.zeros((n, K), np.float32) for n in clicks.train.shape)
    W[model.user_ids_], Ht[model.item_ids_] = model.user_factors_, model.item_factors_
    return of_factors(W, Ht.T)


def tuned_peers(report: Report, name: str, quick: bool) -> dict[str, Callable[[Clicks], Scores]]:
    """EASE and implicit with what is best for them on a part of the training clicks."""
    part = validation(0, name)
    ridges = [{"ridge": ridge} for ridge in RIDGES[name]]
    ridge = tuned(part, lambda c, ridge: ease(c.train, ridge), ridges[: 1 if quick else None])
    found: dict[str, Callable[[Clicks], Scores]] = {
        f"EASE, {ridge}": lambda c: ease(c.train, **ridge)
    }
    try:
        pairs = product(ALPHAS[name], REGULARIZATIONS[name])
        grid = [{"alpha": a, "regularization": r} for a, r in pairs]
        best = tuned(part, als, grid[: 1 if quick else None])
        found[f"implicit ALS, 128, {best}"] = lambda c: als(c, **best)
    except MissingError as error:
        report.note(str(error))
    return found


def run_part(name: str, quick: bool, folder: Any) -> None:
    """One table."""
    X, seeds = movielens(name), SEEDS[: 1 if quick else None]
    text = (
        f"{NAMES[name]}, ratings of at least 4 as clicks, a fifth held out at random, means and "
        f"standard errors over {len(seeds)} splits. NDCG@10 and recall@20 (over as many hits as "
        "there could be) of lists without the person's training clicks. Settings of EASE and "
        "implicit are the best on a part of the training clicks of another split, ours were "
        "chosen on MovieLens 1M alone. One thread, float32."
    )
    file = "clicks" if name == "1m" else f"clicks_{name}"
    report = Report(folder, file, f"Recommendations from clicks: {NAMES[name]}", text)
    few = {"max_iter": 3} if quick else {}
    ours, defaults = "the recipe of clicks_recipe.py, 128 components", "Recommender, defaults"
    methods: dict[str, Callable[[Clicks], Scores]] = {
        "popularity": lambda c: popularity(c.train),
        "plain NMF, Frobenius, 64": lambda c: plain(c, "frobenius"),
        "plain NMF, Kullback-Leibler, 64": lambda c: plain(c, "kullback-leibler"),
        **tuned_peers(report, name, quick),
        defaults: lambda c: public(c, quick),
        ours: lambda c: of_factors(*fitted(c.train, **(CHOSEN | few))),
    }
    if not quick:
        methods[f"the recipe, {STARTS} starts side by side"] = stacked
    found: dict[str, np.ndarray] = {}
    for method, make in methods.items():
        parts = [split(X, seed) for seed in seeds]
        found[method] = np.array([measured(c, make(c)) for c in parts])
        mean, error = found[method].mean(axis=0), standard_error(found[method])
        cells = {"NDCG@10": 0, "recall@20": 1}
        row = {cell: f"{mean[at]:.4f} ± {error[at]:.4f}" for cell, at in cells.items()}
        report.add(method=method, **row)
    compare(report, found, defaults, LEAST[name])
    gain, error = difference(found[defaults] - found[ours])
    report.note(
        f"Recommender less the recipe: NDCG@10 {gain[0]:+.4f} ± {error[0]:.4f}, recall@20 "
        f"{gain[1]:+.4f} ± {error[1]:.4f}."
    )
    if name == "1m":
        speed(report, split(X, seeds[0]))


def compare(
    report: Report, found: dict[str, np.ndarray], ours: str, least: tuple[float, float]
) -> None:
    """Whether the defaults are at or above EASE, and above implicit, on the same splits."""
    for peer, told in (("EASE", least), ("implicit", (0.0, 0.0))):
        name = next((method for method in found if method.startswith(peer)), None)
        if name is None:
            continue
        goal = np.maximum(told, found[name].mean(axis=0))
        ndcg, recall = (within(float(x), 0.0) for x in goal - found[ours].mean(axis=0))
        gain, error = difference(found[ours] - found[name])
        report.note(
            f"{ours}, at or above {peer}: NDCG@10 {ndcg} ({gain[0]:+.4f} ± {error[0]:.4f}), "
            f"recall@20 {recall} ({gain[1]:+.4f} ± {error[1]:.4f})."
        )


def difference(ahead: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error over splits."""
    return ahead.mean(axis=0), standard_error(ahead)


def main() -> None:
    quick, folder, parts = start_parts("clicks", tuple(NAMES))
    for name in parts:
        if quick and name == "1m" and len(parts) == len(NAMES):
            continue
        run_part(name, quick, folder)


def standard_error(values: np.ndarray) -> np.ndarray:
    """Of the mean over splits, one row each."""
    n = len(values)
    return values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(values.shape[1], np.nan)


def speed(report: Report, clicks: Clicks) -> None:
    """One iteration beside one of implicit's, in turn."""
    seconds_of_an_iteration(clicks)  # compiles
    ours, theirs = [], []
    try:
        for _ in range(3):
            ours.append(seconds_of_an_iteration(clicks))
            theirs.append(float(run("implicit", X=clicks.train, seed=0, **SPEED)["seconds"]))
    except MissingError as error:
        report.note(str(error))
        return
    ratio = median(one / other for one, other in zip(ours, theirs, strict=True))
    report.note(
        f"One iteration with 64 components: {median(ours):.3f} CPU seconds, implicit's ALS "
        f"{median(theirs):.3f}; ratio {ratio:.2f}, at most 1: {within(ratio, 1.0)}."
    )


if __name__ == "__main__":
    main()
