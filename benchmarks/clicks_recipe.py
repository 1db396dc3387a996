"""The model of clicks: a weighted factorisation in which missing clicks are weak zeros.

    sum over clicks of (1 - y)^2 + missing_weight * sum over the rest of (n_i / mean n)^busy y^2

with n_i the clicks of person i: what a busy person did not click says more than what another did
not. Row i of X is multiplied by (n_i / mean n)^(busy / 2) and its weights are divided by the square
of that, which is the same loss with one weight for all that is missing. The order of a person's
films does not depend on the scale of the row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf import NMF

#: chosen by `clicks_search.py` on training data
CHOSEN: dict[str, Any] = {
    "n_components": 128,
    "missing_weight": 0.15,
    "alpha_W": 0.09,
    "alpha_power": 0.7,
    "max_iter": 30,
    "busy": 1.0,
    "popular": 0.0,
}


def relative(counts: Any) -> np.ndarray:
    """Counts over their mean, at least 1 click each."""
    counts = np.maximum(np.asarray(counts).ravel(), 1.0)
    return counts / counts.mean()


def scaled(train: sp.csr_array, busy: float, popular: float) -> tuple[sp.csr_array, sp.csr_array]:
    """The values and their weights."""
    rows = np.repeat(relative(train.sum(axis=1)) ** busy, np.diff(train.indptr))
    columns = relative(train.sum(axis=0))[train.indices] ** popular
    more = (rows * columns).astype(train.dtype)
    parts = train.indices, train.indptr
    values, weights = (
        sp.csr_array((data, *parts), shape=train.shape) for data in (np.sqrt(more), 1 / more)
    )
    return values, weights


def fitted(
    train: sp.csr_array, busy: float = 0.0, popular: float = 0.0, **parameters: Any
) -> tuple[np.ndarray, np.ndarray]:
    """W and H for clicks, ones, of people by films."""
    usual = {"missing": "zero", "tol": 0, "n_jobs": 1, "random_state": 0}
    callback = parameters.pop("callback", None)
    unscale = relative(train.sum(axis=0)) ** (-0.5 * popular)
    if callback is not None:
        parameters["callback"] = lambda state: callback(state.iteration, state.W, state.H * unscale)
    X, weights = scaled(train, busy, popular)
    model = NMF(**(usual | parameters)).fit(X, entry_weights=weights)
    return model.embedding_, model.components_ * unscale
