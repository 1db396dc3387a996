"""Figure 5: larger and larger matrices."""

from __future__ import annotations

from rprnmf.experiments import fits, synthetic
from rprnmf.experiments.harness.drawing import Axis
from rprnmf.experiments.harness.experiment import Experiment, Row, Settings
from rprnmf.experiments.harness.report import Section
from rprnmf.experiments.synthetic_report import report

SIZES = range(20, 201, 20)


def jobs(quick: bool) -> list[Settings]:
    """N x N with N / 5 components and as many triplets."""
    cases = [(n, n // 5, 0, n // 5, 1.0) for n in ((20, 60, 100) if quick else SIZES)]
    return synthetic.jobs(cases, 2 if quick else synthetic.REPETITIONS)


def section(rows: list[Row]) -> Section:
    """The figure and the averages."""
    text = (
        "As in Figure 4, for matrices of N x N with N / 5 components and N / 5 triplets "
        "in 5-chains, of which the last may be cut. The paper prints no numbers for this one."
    )
    return report(text, rows, Axis("size", "N"), log_time=True)


EXPERIMENT = Experiment(
    "synthetic-size",
    "Figure 5: the size of the matrix (synthetic data)",
    jobs,
    synthetic.run,
    section,
    fits.example,
    synthetic.cost,
)
