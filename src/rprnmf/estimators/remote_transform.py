"""`transform` of a Dask array: lazy, block by block."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from rprnmf.remote.placing import by_rows, require_dask, weights_by_rows


def transform_blocks(model: Any, X: Any, weights: Any, given: dict[str, Any]) -> Any:
    """Rows of W for the rows of X, as a Dask array of the same blocks.

    Parameters
    ----------
    model : ComposedNMF
    X : dask array
    weights : dask array or None
        Of its entries.
    given : dict
        What else ``transform`` was given, none of which goes with blocks.
    """
    require_dask("X is a Dask array, and to transform it")
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} cannot be given where X is a Dask array.")
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input"
        )
    X = by_rows(X)
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    arrays = [X] if weights is None else [X, weights_by_rows(weights, X)]
    import dask.array as da

    return da.map_blocks(
        rows_of_block,
        *arrays,
        model=light(model),
        chunks=(X.chunks[0], (len(model.components_),)),
        dtype=dtype,
        meta=np.empty((0, 0), dtype=dtype),
    )


def light(model: Any) -> Any:
    """The model without what it has of the rows of the fit: it travels to every worker."""
    found = copy.copy(model)
    found.embedding_ = np.zeros((0, len(model.components_)))
    rows = model.prior_[0]
    if rows is not None:
        rows = replace(rows, means=found.embedding_, weights=np.zeros(0))
    found.prior_ = rows, model.prior_[1]
    found.callback = None
    return found


def rows_of_block(X: Any, weights: Any = None, *, model: Any) -> np.ndarray:
    """Rows of W for a block."""
    return model.transform(X, entry_weights=weights)
