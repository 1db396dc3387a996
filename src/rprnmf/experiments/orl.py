"""Table 2: the ORL faces."""

from __future__ import annotations

from functools import partial

from rprnmf.experiments import faces
from rprnmf.experiments.harness.experiment import Experiment, Row, Settings
from rprnmf.experiments.harness.report import Section

CLASSES, REPETITIONS = (5, 10, 20, 30, 40), 10


def jobs(quick: bool) -> list[Settings]:
    """The table, and what more triplets bring."""
    if quick:
        return faces.table_jobs("orl", (5, 10), 2) + faces.answer_jobs("orl", 10, 1)
    return faces.table_jobs("orl", CLASSES, REPETITIONS) + faces.answer_jobs("orl", 40, REPETITIONS)


def section(rows: list[Row]) -> Section:
    """The table beside the paper's, and the figure."""
    return faces.section("orl", "two triplets a person", rows)


EXPERIMENT = Experiment(
    "orl",
    "Table 2: finding people in faces (AT&T ORL)",
    jobs,
    faces.run,
    section,
    faces.example,
    faces.cost,
    partial(faces.faces, "orl"),
)
