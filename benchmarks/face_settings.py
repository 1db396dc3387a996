"""How the setting of "triplets + graph" for faces was chosen, and what others give.

Draws that the tables of `docs/results` do not count (repetitions 100 and on): for the largest
number of people everybody is in them, so these are other triplets and other starts of the same
pictures. One number of the setting is changed at a time. Writes `results/face_settings.*`.
"""

from __future__ import annotations

import numpy as np
from common import start_process
from report import Report

from rprnmf.experiments import algorithms, faces

FIRST = 100  # repetition
PEOPLE = {"orl": 40, "pie": 68}
CHANGES = [
    {},
    *({"graph_strength": value} for value in (0.0, 10.0, 40.0, 160.0)),
    *({"margin": value} for value in (0.35, 1.0, 4.0)),
    *({"column_strength": value} for value in (1.0, 20.0, "auto")),
    *({"neighbours": value} for value in (3, 5, 10)),
    *({"heat": value} for value in (0.01, 0.1)),
]


def measure(dataset: str, change: dict, repetitions: range) -> np.ndarray:
    """ACC and NMI of every draw."""
    usual = algorithms.WIDE[algorithms.BOTH], algorithms.NEIGHBOURS, algorithms.HEAT
    known = {k: v for k, v in change.items() if k not in ("neighbours", "heat")}
    algorithms.WIDE[algorithms.BOTH] = {**usual[0], **known}
    algorithms.NEIGHBOURS = change.get("neighbours", usual[1])
    algorithms.HEAT = change.get("heat", usual[2])
    try:
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
        algorithms.WIDE[algorithms.BOTH], algorithms.NEIGHBOURS, algorithms.HEAT = usual
    return np.array([(row["ACC"], row["NMI"]) for row in found])


def main() -> None:
    quick, folder = start_process("face_settings")
    counts = {"orl": 1, "pie": 1} if quick else {"orl": 6, "pie": 3}
    usual = {
        **algorithms.WIDE[algorithms.BOTH],
        "neighbours": algorithms.NEIGHBOURS,
        "heat": algorithms.HEAT,
    }
    measured = (
        f"ACC and NMI in per cent (standard deviation) of {counts['orl']} draws of ORL (40 people, "
        f"80 triplets) and {counts['pie']} of PIE (68 people, 816 triplets), repetitions {FIRST} "
        "and on, which the tables do not count. The setting: "
        + ", ".join(f"{name} {value:g}" for name, value in usual.items())
        + "; every line changes one number of it."
    )
    report = Report(folder, "face_settings", "Triplets and a graph on faces: settings", measured)
    for change in CHANGES[:2] if quick else CHANGES:
        cells = {}
        for dataset, count in counts.items():
            values = measure(dataset, change, range(FIRST, FIRST + count))
            for name, column in zip(("ACC", "NMI"), values.T, strict=True):
                spread = column.std(ddof=1) if count > 1 else 0.0
                cells[f"{dataset.upper()} {name}"] = f"{column.mean():.1f} ({spread:.1f})"
        changed = ", ".join(f"{name} {value}" for name, value in change.items())
        report.add(change=changed or "none", **cells)


if __name__ == "__main__":
    main()
