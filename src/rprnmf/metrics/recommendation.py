"""How good the recommendations are that a factorisation gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.metrics.approximation import pair_of


def recommendation_f1(
    X: Any, W: Any, H: Any, thresholds: Any, *, missing: str | None = "zero"
) -> float:
    """F1 of "recommended" over the given entries, pooled over users.

    An entry is relevant where its rating is strictly greater than the user's threshold, and
    recommended where the model's is.

    Parameters
    ----------
    X : {array-like, sparse matrix, dask array} of shape (n_users, n_items)
        The ratings to judge by, e.g. those held out.
    W : {array-like, dask array} of shape (n_users, n_components)
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
    with pair_of(X, W, H, missing) as (view, W, Ht):
        limits = np.broadcast_to(np.asarray(thresholds, dtype=float), (view.shape[0],))
        if view.remote:
            blocks: Any = view
            rows = blocks.with_rows(limits)
            return f1_of(blocks.pool.total(counts_of_view, blocks.views, W, Ht, rows))
        return f1_of(counts_of_view(view, W, Ht, limits))


def counts_of_view(view: Any, W: np.ndarray, Ht: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """`counts_above` of the entries of some rows."""
    entries = view.stored()
    limit = np.repeat(limits, entries.row_counts)
    return counts_above(entries.data, entries.model(W, Ht), limit)


def f1_above(truth: np.ndarray, found: np.ndarray, limit: np.ndarray) -> float:
    """F1 of "above the limit" by prediction against "above the limit" in truth, entry by entry."""
    return f1_of(counts_above(truth, found, limit))


def counts_above(truth: np.ndarray, found: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """How many are above the limit in both, in truth, and by prediction."""
    relevant, recommended = truth > limit, found > limit
    return np.array([np.sum(relevant & recommended), relevant.sum(), recommended.sum()])


def f1_of(counts: np.ndarray) -> float:
    """F1 of such counts."""
    hits, relevant, recommended = (int(count) for count in counts)
    return 2.0 * hits / max(relevant + recommended, 1)
