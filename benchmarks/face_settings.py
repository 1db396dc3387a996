"""The settings for faces beside others; they were found by such trials, not all of which are here.

Draws that the tables of `docs/results` do not count (repetitions 100 and on), with everybody in
them: other triplets and other starts of the same pictures. "Triplets + graph" is its setting with
one number changed at a time; "triplets" is the default setting of the library with other
penalties, margins and strengths. Writes `results/face_settings.*`.
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
CHANGES = {
    algorithms.OWN: [
        {},
        *({"margin": value} for value in (1.0, 2.0)),
        *({"column_strength": value} for value in (0.1, 1.0)),
        {"margin": 1.0, "column_strength": 3.0},
        {"penalty": "hinge"},
        {"penalty": "hinge", "margin": 1.0},
        {"penalty": "logistic"},
        {"penalty": "logistic", "column_strength": 1.0},
        {"penalty": "exponential"},
        *({"penalty": "exponential", "column_strength": value} for value in (0.1, 1.0)),
    ],
    algorithms.BOTH: [
        {},
        *({"graph_strength": value} for value in (0.0, 10.0, 40.0, 160.0)),
        *({"margin": value} for value in (0.35, 1.0, 4.0)),
        *({"column_strength": value} for value in (1.0, 20.0, "auto")),
        *({"neighbours": value} for value in (3, 5, 10)),
        *({"heat": value} for value in (0.01, 0.1)),
        *({"near": value} for value in (0.0, 0.03, 0.3, 1.0)),
    ],
}


def measure(dataset: str, algorithm: str, change: dict, repetitions: range) -> np.ndarray:
    """ACC, NMI and the mean squared loss of every draw."""
    usual = {name: getattr(algorithms, name) for name in ("SETTINGS", *GRAPH.values())}
    known = {k: v for k, v in change.items() if k not in GRAPH}
    changed = {**algorithms.SETTINGS[algorithm], **known}
    algorithms.SETTINGS = {**algorithms.SETTINGS, algorithm: changed}
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
                    "algorithm": algorithm,
                    "measure": "euclidean",
                    "triplets": "protocol",
                }
            )
            for repetition in repetitions
        ]
    finally:
        for name, value in usual.items():
            setattr(algorithms, name, value)
    return np.array([(row["ACC"], row["NMI"], row["MSL"]) for row in found])


def main() -> None:
    quick, folder = start_process("face_settings")
    counts = {"orl": 1, "pie": 1} if quick else {"orl": 6, "pie": 3}
    usual = {
        **algorithms.SETTINGS[algorithms.BOTH],
        **{name: getattr(algorithms, variable) for name, variable in GRAPH.items()},
    }
    measured = (
        f"ACC and NMI in per cent (standard deviation) and mean MSL of {counts['orl']} draws of "
        f"ORL (40 people, 80 triplets) and {counts['pie']} of PIE (68 people, 816 triplets), "
        f"repetitions {FIRST} and on, which the tables do not count. {algorithms.OWN}: the "
        "library's default, with changes. "
        f"{algorithms.BOTH}: "
        + ", ".join(f"{name} {value:g}" for name, value in usual.items())
        + "; every line changes one number of it."
    )
    report = Report(folder, "face_settings", "Triplets on faces: settings", measured)
    lines = [
        (algorithm, change)
        for algorithm, changes in CHANGES.items()
        for change in (changes[:2] if quick else changes)
    ]
    tasks = [(dataset, *line) for line in lines for dataset in counts]
    draws = {dataset: range(FIRST, FIRST + count) for dataset, count in counts.items()}
    found = Parallel(n_jobs=2)(delayed(measure)(*task, draws[task[0]]) for task in tasks)
    values = iter(found)  # no clock is looked at: both cores may work
    for algorithm, change in lines:
        cells = {}
        for dataset, count in counts.items():
            *shares, errors = next(values).T
            for name, column in zip(("ACC", "NMI"), shares, strict=True):
                spread = column.std(ddof=1) if count > 1 else 0.0
                cells[f"{dataset.upper()} {name}"] = f"{column.mean():.1f} ({spread:.1f})"
            cells[f"{dataset.upper()} MSL"] = f"{errors.mean():.3g}"
        changed = ", ".join(f"{name} {value}" for name, value in change.items())
        report.add(algorithm=algorithm, change=changed or "none", **cells)


if __name__ == "__main__":
    main()
