"""Figure 6: stronger and stronger triplets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rprnmf.experiments import synthetic
from rprnmf.experiments.base import Experiment, Row, Settings
from rprnmf.experiments.compared import stopped_early
from rprnmf.experiments.page import Section, number
from rprnmf.experiments.synthetic_report import report
from rprnmf.experiments.tables import NAMES

SIZE, K, REPETITIONS = 100, 20, 10
STRENGTHS = [*(round(0.4 * step, 1) for step in range(1, 11)), *(20.0 * s for s in range(1, 6))]


def jobs(quick: bool) -> list[Settings]:
    """Ten triplets a side, of fifteen strengths."""
    return [
        {
            "size": SIZE,
            "K": K,
            "row_triplets": SIZE // 10,
            "column_triplets": SIZE // 10,
            "strength": strength,
            "repetition": repetition,
            "sweeps": synthetic.SWEEPS,
            **algorithm,
        }
        for repetition in range(2 if quick else REPETITIONS)
        for strength in ((0.4, 4.0, 100.0) if quick else STRENGTHS)
        for algorithm in synthetic.compared(("RPR-NMF",))
    ]


def section(rows: list[Row]) -> Section:
    """The figure and the averages."""
    text = (
        "RPR-NMF by the authors' rules on 100 x 100 matrices with 20 components and ten triplets "
        "a side, both strengths from 0.4 to 4 and from 20 to 100. The paper prints no numbers for "
        "this figure; it finds that the strength hardly changes the CSR, and raises the error of "
        "the Euclidean version only. What is found here is in the sentences below."
    )
    labels = "strength of both sides", "strength"
    found = report(
        "parameters", EXPERIMENT.title, text, rows, labels, lambda *names: None, log_x=True
    )
    found.tables = [replace(found.tables[1], name="parameters")]  # averages would say nothing
    found.findings = [
        *trend(rows, "euclidean", "MSL"),
        *trend(rows, "divergence", "MD"),
        *stopped_early(rows),
    ]
    return found


def trend(rows: list[Row], measure: str, metric: str) -> list[str]:
    """Between what error and CSR lie, and at which strengths."""
    part = [row for row in rows if row["measure"] == measure]
    if not part:
        return []
    texts = []
    for name, digits, unit in ((metric, 3, ""), ("CSR", 3, " %")):
        means = {
            strength: float(np.mean([r[name] for r in part if r["strength"] == strength]))
            for strength in sorted({row["strength"] for row in part})
        }
        low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
        ends = list(means.values())
        texts.append(
            f"the {name} goes from {number(ends[0], digits)}{unit} at strength {min(means):g} to "
            f"{number(ends[-1], digits)}{unit} at {max(means):g} (least "
            f"{number(means[low], digits)} at {low:g}, most {number(means[high], digits)} at "
            f"{high:g})"
        )
    return [f"{NAMES[measure]}: {', '.join(texts)}."]


EXPERIMENT = Experiment(
    "parameters",
    "Figure 6: the strength of the penalty (synthetic data)",
    jobs,
    synthetic.run,
    section,
    synthetic.cost,
)
