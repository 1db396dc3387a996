"""Table 3: the CMU PIE faces."""

from __future__ import annotations

from functools import partial

from rprnmf.experiments import faces
from rprnmf.experiments.harness.experiment import Experiment, Row, Settings
from rprnmf.experiments.harness.report import Section

CLASSES, REPETITIONS = (10, 20, 30, 40, 50, 60, 68), 10


def jobs(quick: bool) -> list[Settings]:
    """The table, and what more triplets bring."""
    if quick:
        return faces.table_jobs("pie", (10,), 1) + faces.answer_jobs("pie", 10, 1, (0, 1, 10))
    return faces.table_jobs("pie", CLASSES, REPETITIONS) + faces.answer_jobs("pie", 68, REPETITIONS)


def section(rows: list[Row]) -> Section:
    """The table beside the paper's, and the figure."""
    return faces.section(
        "pie",
        "twelve triplets a person, eight within and four between people (these by the means of all "
        "pictures of a person)",
        rows,
    )


EXPERIMENT = Experiment(
    "pie",
    "Table 3: finding people in faces (CMU PIE)",
    jobs,
    faces.run,
    section,
    faces.example,
    faces.cost,
    partial(faces.faces, "pie"),
)
