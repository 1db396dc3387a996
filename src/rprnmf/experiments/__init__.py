"""Every table and figure of the paper, in one registry.

Examples
--------
>>> from rprnmf.experiments import EXPERIMENTS
>>> list(EXPERIMENTS)[:3]
['movie-example', 'four-points', 'exp-approximation']
"""

from __future__ import annotations

from rprnmf.experiments import (
    dataset_table,
    exp_approximation,
    four_points,
    movie_example,
    movielens,
    orl,
    parameters,
    pie,
    synthetic_constraints,
    synthetic_size,
)
from rprnmf.experiments.harness.experiment import Experiment
from rprnmf.experiments.harness.runner import reproduce

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        movie_example,
        four_points,
        exp_approximation,
        synthetic_constraints,
        synthetic_size,
        parameters,
        dataset_table,
        orl,
        pie,
        movielens,
    )
}

__all__ = ["EXPERIMENTS", "Experiment", "reproduce"]
