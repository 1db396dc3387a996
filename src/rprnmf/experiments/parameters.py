"""Figure 6: stronger and stronger triplets."""

from __future__ import annotations

import numpy as np

from rprnmf.experiments import fits, synthetic
from rprnmf.experiments.beside_paper import stopped_early
from rprnmf.experiments.harness.drawing import Axis
from rprnmf.experiments.harness.experiment import Experiment, Row, Settings, column, grouped, where
from rprnmf.experiments.harness.metric import MEASURES, METRICS, number
from rprnmf.experiments.harness.report import Section
from rprnmf.experiments.synthetic_report import figure, points_table

STRENGTHS = [*(round(0.4 * step, 1) for step in range(1, 11)), *(20.0 * s for s in range(1, 6))]


def jobs(quick: bool) -> list[Settings]:
    """Ten triplets per side, of fifteen strengths."""
    cases = [
        (100, 20, 10, 10, strength) for strength in ((0.4, 4.0, 100.0) if quick else STRENGTHS)
    ]
    return synthetic.jobs(cases, 2 if quick else synthetic.REPETITIONS, ("RPR-NMF",))


def section(rows: list[Row]) -> Section:
    """The figure and the averages."""
    text = (
        "RPR-NMF by the authors' rules on 100 x 100 matrices with 20 components and ten triplets "
        "a side, both strengths from 0.4 to 4 and from 20 to 100. The paper prints no numbers for "
        "this figure; it finds that the strength hardly changes the CSR, and raises the error of "
        "the Euclidean version only. What is found here is in the sentences below."
    )
    x = Axis("strength", "strength of both sides", log=True)
    findings = [
        *trend(rows, "euclidean", "MSL"),
        *trend(rows, "divergence", "MD"),
        *stopped_early(rows),
    ]
    return Section(text, [points_table("", rows, x)], [figure(rows, x)], findings)


def trend(rows: list[Row], measure: str, error: str) -> list[str]:
    """How error and CSR change with the strength, and where they are least and most."""
    part = where(rows, measure=measure)
    if not part:
        return []
    texts = []
    for metric in (METRICS[error], METRICS["CSR"]):
        means = {
            strength: float(np.mean(column(runs, metric.name)))
            for (strength,), runs in sorted(grouped(part, "strength").items())
        }
        low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
        first, last = (number(means[end(means)], 3) for end in (min, max))
        texts.append(
            f"the {metric.name} goes from {first}{metric.unit} at strength {min(means):g} to "
            f"{last}{metric.unit} at {max(means):g} (least {number(means[low], 3)} at {low:g}, "
            f"most {number(means[high], 3)} at {high:g})"
        )
    return [f"{MEASURES[measure]}: {', '.join(texts)}."]


EXPERIMENT = Experiment(
    "parameters",
    "Figure 6: the strength of the penalty (synthetic data)",
    jobs,
    synthetic.run,
    section,
    fits.example,
    synthetic.cost,
)
