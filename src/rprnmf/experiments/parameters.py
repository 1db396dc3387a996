"""Figure 6: stronger and stronger triplets."""

from __future__ import annotations

from rprnmf.experiments import synthetic
from rprnmf.experiments.base import Experiment, Row, Settings
from rprnmf.experiments.page import Section
from rprnmf.experiments.synthetic_report import report

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
        "the Euclidean version only."
    )
    labels = "strength of both sides", "strength"
    found = report(
        "parameters", EXPERIMENT.title, text, rows, labels, lambda *names: None, log_x=True
    )
    found.findings = [*trend(rows, "euclidean", "MSL"), *trend(rows, "divergence", "MD")]
    return found


def trend(rows: list[Row], measure: str, metric: str) -> list[str]:
    """What becomes of error and CSR from the weakest to the strongest."""
    part = [row for row in rows if row["measure"] == measure]
    if not part:
        return []
    ends = [min(row["strength"] for row in part), max(row["strength"] for row in part)]
    means = {
        name: [
            sum(r[name] for r in part if r["strength"] == end)
            / sum(r["strength"] == end for r in part)
            for end in ends
        ]
        for name in (metric, "CSR")
    }
    return [
        f"{measure.capitalize()}: from strength {ends[0]:g} to {ends[1]:g} the {metric} goes from "
        f"{means[metric][0]:.3g} to {means[metric][1]:.3g}, the CSR from {means['CSR'][0]:.1f} to "
        f"{means['CSR'][1]:.1f} %."
    ]


EXPERIMENT = Experiment(
    "parameters",
    "Figure 6: the strength of the penalty (synthetic data)",
    jobs,
    synthetic.run,
    section,
    synthetic.cost,
)
