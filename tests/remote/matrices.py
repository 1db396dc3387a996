"""Matrices and comparisons for the tests, in one piece and in blocks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

N, M = 83, 31
#: how the rows are cut
CUTS = {
    "1": (83,),
    "2": (41, 42),
    "5": (16, 17, 16, 17, 17),
    "17": tuple(np.diff(np.linspace(0, N, 18).astype(int)).tolist()),
    "uneven": (3, 40, 1, 39),
}
SIDES: dict[str, dict[str, Any]] = {
    "none": {},
    "rows": {"row_triplets": [[0, 1, 2], [3, 40, 5], [60, 7, 82], [1, 9, 50]]},
    "columns": {"column_triplets": [[0, 1, 2], [3, 4, 5], [6, 7, 0]]},
}
SIDES["both"] = {**SIDES["rows"], **SIDES["columns"]}


def matrix(kind: str) -> tuple[Any, str | None]:
    """A matrix and its ``missing``: "dense", "sparse", "nan" or "zero"."""
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, 1.0, (N, 4)) @ rng.gamma(1.0, 1.0, (4, M)) * rng.uniform(0.8, 1.2, (N, M))
    if kind == "dense":
        return X, None
    if kind == "nan":
        return np.where(rng.random(X.shape) < 0.5, X, np.nan), "nan"
    return sp.csr_array(X * (rng.random(X.shape) < 0.4)), "zero" if kind == "zero" else None


def in_blocks(X: Any, sizes: tuple[int, ...]) -> Any:
    """The matrix as a Dask array."""
    import dask
    import dask.array as da

    if not sp.issparse(X):
        return da.from_array(X, chunks=(sizes, X.shape[1]))
    edges = np.cumsum([0, *sizes])
    meta = sp.csr_array((0, 0))
    return da.concatenate(
        [
            da.from_delayed(dask.delayed(X[a:b]), (b - a, X.shape[1]), X.dtype, meta=meta)
            for a, b in pairwise(edges)
        ]
    )


def check_same(one: Any, two: Any, apart: float = 1e-9) -> None:
    """The factors of two fits agree to 1e-9 of the largest entry, the objectives to 1e-6."""
    W = np.asarray(two.embedding_)
    assert np.abs(W - one.embedding_).max() <= apart * one.embedding_.max()
    assert np.abs(two.components_ - one.components_).max() <= apart * one.components_.max()
    objective = one.history_["objective"][-1]
    assert abs(two.history_["objective"][-1] - objective) <= 1e-6 * objective
    assert two.n_iter_ == one.n_iter_
