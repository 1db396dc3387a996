"""Table 2: the ORL faces."""

from __future__ import annotations

from rprnmf.experiments.faces import Plan, experiment

EXPERIMENT = experiment(
    "orl",
    "Table 2: finding people in faces (AT&T ORL)",
    "two triplets a person",
    full=Plan((5, 10, 20, 30, 40), 10, 40, 10),
    quick=Plan((5, 10), 2, 10, 1),
)
