"""How the settings of the model of clicks were chosen: on training data alone.

An eighth of the training clicks of MovieLens 1M is held out. One thing at a time is changed from
the settings of `clicks_recipe.py`. Writes `results/clicks_search.csv` and `.md`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from clicks_data import Clicks, ease, measured, movielens, of_factors, split
from clicks_recipe import CHOSEN, fitted
from common import cpu_seconds_of, start_process
from report import Report

SPLITS = (0, 1)  # of which the training parts are used; `clicks.py` reports others
SHARE = 0.125
PRIOR = {"alpha_W": 0.0, "busy": 0.0}
CHANGES: dict[str, list[dict[str, Any]]] = {
    "as chosen": [{}, {"random_state": 1}, {"random_state": 2}],
    "components": [{"n_components": 64}, {"n_components": 96}],
    "iterations": [{"max_iter": 15}, {"max_iter": 60}],
    "weight of what is missing": [{"missing_weight": w} for w in (0.07, 0.1, 0.22, 0.3)],
    "L2": [{"alpha_W": a} for a in (0.045, 0.065, 0.08, 0.1, 0.13)],
    "L2 by another power of counts": [
        {"alpha_W": a, "alpha_power": p} for a, p in ((1.35, 0.3), (0.34, 0.5), (0.012, 1.0))
    ],
    "L2 of people and films": [
        {"alpha_W": 0.18, "alpha_H": 0.045},
        {"alpha_W": 0.045, "alpha_H": 0.18},
    ],
    "L1": [{"l1_ratio": 0.1}],
    "what busy people did not click": [{"busy": b} for b in (-0.5, 0.0, 0.3, 0.6, 1.3)],
    "popular films not clicked": [{"popular": p} for p in (-0.2, 0.2)],
    "no L2": [{**PRIOR, "row_prior": None, "column_prior": None}, PRIOR],
    "prior instead of L2": [
        {**PRIOR, "row_prior": "mean", "column_prior": "mean"},
        {**PRIOR, "row_prior": "data", "column_prior": "data"},
    ],
    "Kullback-Leibler": [
        {
            "beta_loss": "kullback-leibler",
            "missing_weight": w,
            "alpha_W": a,
            "alpha_power": 1.0,
            "busy": 0.0,
        }
        for w, a in ((1.0, 0.01), (0.15, 0.01))
    ],
}


def validation(seed: int, name: str = "1m") -> Clicks:
    """The training part of a split, split again."""
    return split(split(movielens(name), seed).train, 1000 + seed, SHARE)


def scores(parts: list[Clicks], **settings: Any) -> dict[str, Any]:
    """Means over the parts."""
    found = [cpu_seconds_of(lambda c=c: fitted(c.train, **settings)) for c in parts]
    both = [measured(c, of_factors(*WH)) for c, (_, WH) in zip(parts, found, strict=True)]
    ndcg, recall = np.mean(both, axis=0)
    seconds = float(np.mean([one for one, _ in found]))
    return {"NDCG@10": f"{ndcg:.4f}", "recall@20": f"{recall:.4f}", "CPU seconds": seconds}


def main() -> None:
    quick, folder = start_process("clicks_search")
    parts = [validation(seed) for seed in SPLITS[: 1 if quick else 2]]
    text = (
        "MovieLens 1M, ratings of at least 4 as clicks; an eighth of the training clicks held out, "
        f"means over {len(parts)} such parts; people's own training clicks are left out of their "
        f"lists. Changed from {CHOSEN}. float32, one thread."
    )
    report = Report(folder, "clicks_search", "Settings for clicks", text)
    ndcg, recall = np.mean([measured(c, ease(c.train, 700)) for c in parts], axis=0)
    figures = {"NDCG@10": f"{ndcg:.4f}", "recall@20": f"{recall:.4f}"}
    report.add(what="EASE, ridge 700, for comparison", change="-", **figures)
    for what, changes in list(CHANGES.items())[: 2 if quick else None]:
        for change in changes:
            settings = CHOSEN | ({"max_iter": 3} if quick else {}) | change
            said = ", ".join(f"{name}={value}" for name, value in change.items()) or "-"
            report.add(what=what, change=said, **scores(parts, **settings))


if __name__ == "__main__":
    main()
