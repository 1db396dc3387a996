"""How the setting of "triplets + graph" for faces was chosen, and what others give.

Draws that the tables of `docs/results` do not count (repetitions 100 and on): for the largest
number of people everybody is in them, so these are other triplets and other starts of the same
pictures. One number of the setting is changed at a time. Writes `results/face_settings.*`.
"""

from __future__ import annotations

import warnings

import numpy as np
from common import start_process
from joblib import Parallel, delayed
from report import Report

from rprnmf.experiments import algorithms, faces

FIRST = 100  # repetition
PEOPLE = {"orl": 40, "pie": 68}
GRAPH = {"neighbours": "NEIGHBOURS", "heat": "HEAT", "near": "NEAR"}  # where they are set
CHANGES = [
    {},
    *({"graph_strength": value} for value in (0.0, 10.0, 40.0, 160.0)),
    *({"margin": value} for value in (0.35, 1.0, 4.0)),
    *({"column_strength": value} for value in (1.0, 20.0, "auto")),
    *({"neighbours": value} for value in (3, 5, 10)),
    *({"heat": value} for value in (0.01, 0.1)),
    *({"near": value} for value in (0.0, 0.03, 0.3, 1.0)),
]


def measure(dataset: str, change: dict, repetitions: range) -> np.ndarray:
    """ACC and NMI of every draw."""
    usual = {name: getattr(algorithms, name) for name in ("SETTINGS", *GRAPH.values())}
    known = {k: v for k, v in change.items() if k not in GRAPH}
    wide = {**algorithms.SETTINGS[algorithms.BOTH], **known}
    algorithms.SETTINGS = {**algorithms.SETTINGS, algorithms.BOTH: wide}
    for name, variable in GRAPH.items():
        setattr(algorithms, variable, change.get(name, usual[variable]))
    try:
        warnings.simplefilter("ignore")  # in every process: 200 iterations are what is asked for
        found = [
            faces.run(
                {
                    "dataset": dataset,
                    "K": PEOPLE[dataset],
                    "repetition": repetition,
                    "algorithm": algorithms.BOTH,
                    "measure": "euclidean",
                    "triplets": "protocol",
                }
            )
            for repetition in repetitions
        ]
    finally:
        for name, value in usual.items():
            setattr(algorithms, name, value)
    return np.array([(row["ACC"], row["NMI"]) for row in found])


def main() -> None:
    quick, folder = start_process("face_settings")
    counts = {"orl": 1, "pie": 1} if quick else {"orl": 6, "pie": 3}
    usual = {
        **algorithms.SETTINGS[algorithms.BOTH],
        **{name: getattr(algorithms, variable) for name, variable in GRAPH.items()},
    }
    measured = (
        f"ACC and NMI in per cent (standard deviation) of {counts['orl']} draws of ORL (40 people, "
        f"80 triplets) and {counts['pie']} of PIE (68 people, 816 triplets), repetitions {FIRST} "
        "and on, which the tables do not count. The setting: "
        + ", ".join(f"{name} {value:g}" for name, value in usual.items())
        + "; every line changes one number of it."
    )
    report = Report(folder, "face_settings", "Triplets and a graph on faces: settings", measured)
    changes = CHANGES[:2] if quick else CHANGES
    tasks = [(dataset, change) for change in changes for dataset in counts]
    draws = {dataset: range(FIRST, FIRST + count) for dataset, count in counts.items()}
    found = Parallel(n_jobs=2)(delayed(measure)(*task, draws[task[0]]) for task in tasks)
    values = iter(found)  # no clock is looked at: both cores may work
    for change in changes:
        cells = {}
        for dataset, count in counts.items():
            for name, column in zip(("ACC", "NMI"), next(values).T, strict=True):
                spread = column.std(ddof=1) if count > 1 else 0.0
                cells[f"{dataset.upper()} {name}"] = f"{column.mean():.1f} ({spread:.1f})"
        changed = ", ".join(f"{name} {value}" for name, value in change.items())
        report.add(change=changed or "none", **cells)


if __name__ == "__main__":
    main()
