"""Triplets as a score for scikit-learn's searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rprnmf.checks import axis_names
from rprnmf.metrics import triplet_distances
from rprnmf.model_selection.answers import SIDES, rate_of
from rprnmf.triplets import as_triplets


def triplet_scorer(
    triplets: Any, *, side: str = "row", distance: str = "euclidean"
) -> Callable[..., float]:
    """A scorer for scikit-learn's searches: the fraction of given triplets' weight that is met.

    Hold some triplets out (`Triplets.split`), pass the others to ``fit`` and these to the scorer.
    With folds over rows the triplets must be named and have ``absent="drop"``; to search with all
    rows in every fit pass ``cv=[(rows, rows)]``. Rows without names are taken for those of the
    fit if they are as many.

    Parameters
    ----------
    triplets : Triplets or array-like of shape (n_triplets, 3)
    side : {"row", "column"}, default="row"
    distance : {"euclidean", "divergence"}, default="euclidean"

    Returns
    -------
    score : callable
        ``score(estimator, X, y=None)``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from rprnmf import RPRNMF
    >>> from rprnmf.model_selection import triplet_scorer
    >>> from rprnmf.triplets import triplets_from_features
    >>> X = np.random.default_rng(0).random((30, 8))
    >>> train, test = triplets_from_features(X, 80, random_state=0).split(random_state=0)
    >>> rows = np.arange(len(X))
    >>> search = GridSearchCV(
    ...     RPRNMF(3, max_iter=20, tol=0, random_state=0),
    ...     {"row_strength": [0.01, 1.0]},
    ...     scoring=triplet_scorer(test),
    ...     cv=[(rows, rows)],
    ... ).fit(X, row_triplets=train)
    >>> sorted(search.best_params_)
    ['row_strength']
    """
    if side not in SIDES:
        raise ValueError(f"side must be 'row' or 'column', got {side!r}.")
    known = as_triplets(triplets)

    def score(estimator: Any, X: Any, y: Any = None) -> float:
        factor, fitted = estimator.components_.T, estimator.column_names_
        names = axis_names(X)[SIDES.index(side)]
        seen = True
        if side == "row":
            fitted = estimator.row_names_
            seen = len(estimator.embedding_) == np.shape(X)[0]
            if names is not None:
                seen = fitted is not None and list(names) == list(fitted)
            factor = estimator.embedding_ if seen else estimator.transform(X)
        if names is None and seen:
            names = fitted
        asked = known.positions(len(factor), names, side)
        _, near, far = triplet_distances(factor, asked, distance)
        return rate_of(near < far, asked.weights)

    return score
