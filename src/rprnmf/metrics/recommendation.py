"""How good the recommendations are that a factorisation gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.metrics.approximation import read_pair


def recommendation_f1(
    X: Any, W: Any, H: Any, thresholds: Any, *, missing: str | None = "zero"
) -> float:
    """F1 of "recommended" over the given entries, pooled over users.

    An entry is relevant where its rating is strictly greater than the user's threshold, and
    recommended where the model's is.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_users, n_items)
        The ratings to judge by, e.g. those held out.
    W : array-like of shape (n_users, n_components)
    H : array-like of shape (n_components, n_items)
    thresholds : float or array-like of shape (n_users,)
        In the paper each user's mean training rating.
    missing : {None, "nan", "zero"}, default="zero"
        As in the estimators.

    Returns
    -------
    f1 : float
        0 if nothing relevant is recommended.

    Examples
    --------
    >>> from rprnmf.metrics import recommendation_f1
    >>> recommendation_f1([[5.0, 1.0, 4.0]], [[1.0]], [[4.0, 4.0, 2.0]], thresholds=3.0)
    0.5
    """
    view, W, Ht = read_pair(X, W, H, missing)
    entries = view.stored()
    thresholds = np.broadcast_to(np.asarray(thresholds, dtype=float), (view.shape[0],))
    limit = np.repeat(thresholds, entries.row_counts)
    return f1_above(entries.data, entries.model(W, Ht), limit)


def f1_above(truth: np.ndarray, found: np.ndarray, limit: np.ndarray) -> float:
    """F1 of "above the limit" by prediction against "above the limit" in truth, entry by entry."""
    relevant, recommended = truth > limit, found > limit
    hits = int(np.sum(relevant & recommended))
    return 2.0 * hits / max(int(relevant.sum()) + int(recommended.sum()), 1)
