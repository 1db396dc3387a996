"""Figure 4: more and more triplets."""

from __future__ import annotations

from rprnmf.experiments import fits, synthetic
from rprnmf.experiments.harness.drawing import Axis
from rprnmf.experiments.harness.experiment import Experiment, Row, Settings, published
from rprnmf.experiments.harness.report import Section
from rprnmf.experiments.synthetic_report import report


def jobs(quick: bool) -> list[Settings]:
    """One to ten 5-chains."""
    chains = (1, 5, 10) if quick else range(1, 11)
    cases = [(100, 20, 0, 5 * n, 1.0) for n in chains]
    return synthetic.jobs(cases, 2 if quick else synthetic.REPETITIONS)


def averages() -> dict[tuple[str, str, str], float]:
    """The averages that the paper prints, by algorithm, measure and metric."""
    return {
        (row["algorithm"], measure, row["metric"]): float(row["value"])
        for row in published("synthetic-constraints")
        for measure in synthetic.MEASURES
        if row["measure"] in (measure, "both")
    }


def section(rows: list[Row]) -> Section:
    """The figure and the averages."""
    text = (
        "X is the product of a 100 x 20 and a 20 x 100 matrix, uniform on [0, 1), brought to "
        "[0, 1]; triplets for the columns of H in 5-chains, strength 1, 500 sweeps from uniform "
        "factors. The paper's generator of chains is not published: here seven different points "
        "with six rising distances, so that its absolute CSR need not come out; its averages are "
        "printed without the measure for NMF, GNMF and LCNMF. What ends in (cd) is the library's "
        "own solver with default settings but for the distance, 200 iterations at most. "
        "Triplets are to hold, and CSR is counted, in the distance of the measure: Euclidean, or "
        "the symmetric divergence, in whose logarithms entries count as 2.2e-16 at least (as in "
        "the authors' program), for the library's own as 2.2e-16 times the mean entry."
    )
    return report(text, rows, Axis("column_triplets", "number of triplets"), averages())


EXPERIMENT = Experiment(
    "synthetic-constraints",
    "Figure 4: the number of triplets (synthetic data)",
    jobs,
    synthetic.run,
    section,
    fits.example,
    synthetic.cost,
)
