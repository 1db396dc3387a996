"""The draws of `learning.py` by ordinal embeddings of cblearn, which see the answers alone.

Needs the environment "cblearn" (`environments.py`) and the data of `learning.py`. Writes
`results/learning_peers.csv` and `.md`; `learning.py` reads the table and shows for each method
the dimension that predicts most unseen answers.
"""

from __future__ import annotations

import csv

import environments
import numpy as np
from common import HERE, MissingError, start_process
from learning_data import COUNTS, SEEDS, SETS
from report import Report

METHODS, DIMENSIONS = ("STE", "SOE", "CKL"), (2, 5, 15)
TABLE = HERE / "results" / "learning_peers.csv"


def share_met(Z: np.ndarray, triplets: np.ndarray) -> float:
    """The share of triplets that hold between the rows of an embedding."""
    q, r, s = Z[triplets.T]
    return float(np.mean(np.sum((q - r) ** 2, axis=1) < np.sum((q - s) ** 2, axis=1)))


def cells(name: str, count: int, seeds: range) -> dict[tuple[str, int], dict[str, float]]:
    """Means over draws, for each method and dimension."""
    runs: dict[tuple[str, int], list[tuple[float, ...]]] = {}
    for seed in seeds:
        X, known, unseen = SETS[name](count, np.random.default_rng(seed))
        given = {"triplets": known, "n_objects": len(X), "dimensions": DIMENSIONS, "seed": 0}
        found = environments.run("cblearn", **given)
        for method in METHODS:
            for dimension in DIMENSIONS:
                Z, seconds = (found[f"{method}_{dimension}{end}"] for end in ("", "_seconds"))
                run = share_met(Z, unseen), share_met(Z, known), float(seconds)
                runs.setdefault((method, dimension), []).append(run)
    names = "unseen", "known", "seconds"
    return {
        cell: dict(zip(names, np.mean(values, axis=0).tolist(), strict=True))
        for cell, values in runs.items()
    }


def best_of_peers(name: str, count: int) -> dict[str, str | None]:
    """Unseen answers that each method predicts with its best dimension; None: not measured."""
    found: dict[str, str | None] = dict.fromkeys(METHODS)
    rows = []
    if TABLE.exists():
        with TABLE.open() as file:
            rows = list(csv.DictReader(file))
    for row in rows:
        method, unseen = row["method"], row["unseen"]
        if (row["data"], row["answers"]) == (name, str(count)):
            found[method] = max(found[method] or unseen, unseen, key=float)
    return found


def main() -> None:
    quick, folder = start_process("learning_peers")
    seeds = SEEDS[:2] if quick else SEEDS
    measured = (
        f"cblearn 0.4.0, scipy backend, default settings, one thread: share of unseen and of known "
        f"answers that an embedding of so many dimensions meets, means over {len(seeds)} draws, "
        "those of `learning.py`; seconds of a fit."
    )
    report = Report(folder, "learning_peers", "Ordinal embeddings from answers alone", measured)
    try:
        for name in SETS:
            for count in COUNTS[::3] if quick else COUNTS:
                for (method, dimension), found in cells(name, count, seeds).items():
                    digits = {key: f"{value:.4g}" for key, value in found.items()}
                    report.add(
                        data=name, answers=count, method=method, dimension=dimension, **digits
                    )
    except MissingError as error:
        report.note(f"{error}.")


if __name__ == "__main__":
    main()
