"""Table 3: the CMU PIE faces."""

from __future__ import annotations

from rprnmf.experiments.faces import Plan, experiment

EXPERIMENT = experiment(
    "pie",
    "Table 3: finding people in faces (CMU PIE)",
    "twelve triplets a person, eight within and four between people (these by the means of all "
    "pictures of a person)",
    full=Plan((10, 20, 30, 40, 50, 60, 68), 10, 68, 10),
    quick=Plan((10,), 1, 10, 1, counts=(0, 1, 10)),
)
