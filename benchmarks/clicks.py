"""Recommendations from clicks beside popularity, EASE, implicit's ALS and plain NMF.

MovieLens 1M, ratings of at least 4 as clicks, a fifth of them held out: NDCG@10 and recall@20, and
the CPU seconds of one iteration with 64 components. Settings were chosen on training data: ours by
`clicks_search.py`, those of EASE and implicit here. Writes `results/clicks.csv` and `.md`.
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
from common import MissingError, median, start_process
from environments import run
from report import Report, within

from rprnmf import NMF

SEEDS = (10, 11, 12)  # splits on which nothing was chosen
STARTS = 5
RIDGES = (300.0, 500.0, 700.0, 1000.0)
ALPHAS, REGULARIZATIONS = (5.0, 10.0, 20.0, 40.0), (30.0, 60.0, 120.0, 240.0, 480.0)
SPEED = {"factors": 64, "regularization": 10.0, "alpha": 5.0, "iterations": 1, "repeats": 5}
LEAST = 0.335, 0.348  # what EASE was known to reach
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


def main() -> None:
    quick, folder = start_process("clicks")
    X, seeds = movielens(), SEEDS[: 1 if quick else None]
    text = (
        "Ratings of at least 4 as clicks, a fifth held out at random, means and standard errors "
        f"over {len(seeds)} splits. NDCG@10 and recall@20 (over as many hits as there could be) of "
        "lists without the person's training clicks. One thread, float32."
    )
    report = Report(folder, "clicks", "Recommendations from clicks", text)
    part = validation(0)
    ridges = [{"ridge": ridge} for ridge in RIDGES]
    ridge = tuned(part, lambda c, ridge: ease(c.train, ridge), ridges[: 1 if quick else None])
    methods: dict[str, Callable[[Clicks], Scores]] = {
        "popularity": lambda c: popularity(c.train),
        "plain NMF, Frobenius, 64": lambda c: plain(c, "frobenius"),
        "plain NMF, Kullback-Leibler, 64": lambda c: plain(c, "kullback-leibler"),
        f"EASE, {ridge}": lambda c: ease(c.train, **ridge),
    }
    try:
        grid = [{"alpha": a, "regularization": r} for a, r in product(ALPHAS, REGULARIZATIONS)]
        best = tuned(part, als, grid[: 1 if quick else None])
        methods[f"implicit ALS, 128, {best}"] = lambda c: als(c, **best)
    except MissingError as error:
        report.note(str(error))
    few = {"max_iter": 3} if quick else {}
    ours = "rprnmf, 128 components"
    methods[ours] = lambda c: of_factors(*fitted(c.train, **(CHOSEN | few)))
    if not quick:
        methods[f"the same, {STARTS} starts side by side"] = stacked
    found: dict[str, np.ndarray] = {}
    for name, make in methods.items():
        parts = [split(X, seed) for seed in seeds]
        found[name] = np.array([measured(c, make(c)) for c in parts])
        mean, error = found[name].mean(axis=0), standard_error(found[name])
        cells = {"NDCG@10": 0, "recall@20": 1}
        row = {cell: f"{mean[at]:.4f} ± {error[at]:.4f}" for cell, at in cells.items()}
        report.add(method=name, **row)
    least = np.maximum(LEAST, found[f"EASE, {ridge}"].mean(axis=0))
    ndcg, recall = (within(float(short), 0.0) for short in least - found[ours].mean(axis=0))
    ahead = found[ours] - found[f"EASE, {ridge}"]  # on the same splits
    gain, error = ahead.mean(axis=0), standard_error(ahead)
    report.note(
        f"At or above EASE: NDCG@10 {ndcg} ({gain[0]:+.4f} ± {error[0]:.4f}), recall@20 {recall} "
        f"({gain[1]:+.4f} ± {error[1]:.4f})."
    )
    speed(report, split(X, seeds[0]))


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
