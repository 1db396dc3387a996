"""Small fitted models to draw."""

from __future__ import annotations

import functools
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rprnmf import GNMF, LCNMF, NMF, RPRNMF
from tests.builders import random_matrix, random_triplets

N, M = 14, 9
X = random_matrix(np.random.default_rng(0), N, M)
ROWS = random_triplets(np.random.default_rng(1), N, 60)
COLUMNS = random_triplets(np.random.default_rng(2), M, 30)
ROW_NAMES = [f"item {k}" for k in range(N)]
COLUMN_NAMES = [f"feature {k}" for k in range(M)]
ESTIMATORS = {"NMF": NMF, "GNMF": GNMF, "LCNMF": LCNMF, "RPRNMF": RPRNMF}


@functools.cache
def fitted(name="RPRNMF", K=3, named=True, **changes):
    """A model with triplets on both sides, or with labels, or with a graph."""
    estimator = ESTIMATORS[name](K, max_iter=30, tol=0, random_state=0, **changes)
    known = {"row_names": ROW_NAMES, "column_names": COLUMN_NAMES} if named else {}
    data = X
    if name == "RPRNMF":
        known |= {"row_triplets": ROWS, "column_triplets": COLUMNS}
    if name == "LCNMF":
        known["y"] = np.arange(N) % 3
    if name == "GNMF":
        estimator.set_params(row_graph="knn")
    if changes.get("missing") == "nan":
        data = np.where(np.random.default_rng(3).random(X.shape) < 0.8, X, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(data, **known)


def legend(ax):
    """The words of the legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]
