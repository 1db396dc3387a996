"""The measures of the paper."""

from __future__ import annotations

from rprnmf.metrics.approximation import mean_divergence, mean_squared_loss, rmse
from rprnmf.metrics.clustering import clustering_accuracy, normalized_mutual_info
from rprnmf.metrics.recommendation import recommendation_f1
from rprnmf.metrics.satisfaction import (
    constraint_satisfied_rate,
    satisfied_rate,
    triplet_distances,
    unmet,
)

__all__ = [
    "clustering_accuracy",
    "constraint_satisfied_rate",
    "mean_divergence",
    "mean_squared_loss",
    "normalized_mutual_info",
    "recommendation_f1",
    "rmse",
    "satisfied_rate",
    "triplet_distances",
    "unmet",
]
