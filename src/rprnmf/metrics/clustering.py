"""How well clusters agree with classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix


def clustering_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """ACC: the fraction of points in the right class under the best one-to-one matching.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_points,)

    Returns
    -------
    accuracy : float

    Examples
    --------
    >>> from rprnmf.metrics import clustering_accuracy
    >>> clustering_accuracy([0, 0, 1, 1], [5, 5, 5, 3])
    0.75
    """
    table = contingency_matrix(labels_true, labels_pred)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / np.sum(table))


def normalized_mutual_info(labels_true: Any, labels_pred: Any) -> float:
    """NMI, divided by the larger of the two entropies as in the paper's source.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_points,)

    Returns
    -------
    nmi : float

    Examples
    --------
    >>> from rprnmf.metrics import normalized_mutual_info
    >>> round(normalized_mutual_info([0, 0, 1, 1], [1, 1, 0, 0]), 6)
    1.0
    """
    return float(normalized_mutual_info_score(labels_true, labels_pred, average_method="max"))
