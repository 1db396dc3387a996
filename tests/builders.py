"""Small random problems."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf.losses import LOSSES
from rprnmf.observed import make_view

#: losses that every solver takes
ROW_LOSSES = tuple(name for name, loss in LOSSES.items() if loss.row_problem is not None)
LAYOUTS = ("dense", "sparse", "nan", "sparse-zero", "sparse-nan")


def needs_data(*names):
    """Skip where real data are not there: they are not ours to ship."""
    folder = Path(os.environ.get("RPRNMF_DATA") or "nowhere")
    absent = [name for name in names if not (folder / name).exists()]
    reason = f"{', '.join(absent)} not there; RPRNMF_DATA names the folder that has it"
    return pytest.mark.skipif(bool(absent), reason=reason)


def random_triplets(rng, n, n_triplets):
    """Distinct indices in each row; repeated rows are possible."""
    rows = [rng.choice(n, 3, replace=False) for _ in range(n_triplets)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def random_matrix(rng, n, m, zeros=0.2, size=1.0):
    X = rng.gamma(2.0, 1.0, size=(n, m))
    X[rng.random((n, m)) < zeros] = 0.0
    return size * X


def random_mask(rng, n, m, share=0.7):
    """At least one observed entry in each row and column."""
    mask = rng.random((n, m)) < share
    mask[np.arange(n), rng.integers(m, size=n)] = True
    mask[rng.integers(n, size=m), np.arange(m)] = True
    return mask


def lay_out(X, mask, layout):
    """The same data in one of the forms that a user may pass: X and `missing`."""
    holes = np.where(mask, X, np.nan)
    if layout == "dense":
        return X, None
    if layout == "sparse":
        return sp.csr_array(X), None
    if layout == "nan":
        return holes, "nan"
    if layout == "sparse-zero":  # stored zeros are observations
        i, j = np.nonzero(mask)
        return sp.csr_array((X[i, j], (i, j)), shape=X.shape), "zero"
    i, j = np.nonzero(~mask | (X != 0))  # stored NaN are holes, the rest is zero
    return sp.csr_array((holes[i, j], (i, j)), shape=X.shape), "nan"


def observed_mask(mask, layout):
    return np.ones_like(mask) if layout in ("dense", "sparse") else mask


def random_view(rng, layout, n=9, m=7, dtype=np.float64, zeros=0.2):
    X, mask = random_matrix(rng, n, m, zeros), random_mask(rng, n, m)
    data, missing = lay_out(X.astype(dtype), mask, layout)
    return make_view(data, missing), X, observed_mask(mask, layout)


def random_graph(rng, n, share=0.3):
    S = np.triu(rng.random((n, n)) * (rng.random((n, n)) < share), 1)
    return S + S.T
