"""`transform` and `inverse_transform` of a Dask array: lazy, block by block."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from rprnmf.estimators.prior import tables_of_new_rows
from rprnmf.remote import is_chunked, is_lazy
from rprnmf.remote.placing import by_rows, require_dask, weights_by_rows


def transform_blocks(model: Any, X: Any, weights: Any, features: Any, triplets: Any) -> Any:
    """Rows of W for the rows of X, as a Dask array of the same blocks.

    Parameters
    ----------
    model : ComposedNMF
    X : dask array
    weights : dask array or None
        Of its entries.
    features : table, list of tables or None
        Of its rows.
    triplets : Triplets or None
        They do not go with blocks.
    """
    require_dask("X is a Dask array, and to transform it")
    if triplets is not None:
        raise ValueError(
            "row_triplets cannot be given where X is a Dask array: they relate rows of different "
            "blocks. Give the rows that they name as an array, or fit with them."
        )
    tables = tables_of_new_rows(model._features[0], features)
    if not np.isnan(X.shape[1]) and X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input"
        )
    X = by_rows(X)
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    arrays = [X] if weights is None else [X, weights_by_rows(weights, X)]
    for table in tables or []:
        arrays.append(table_by_rows(table, X))
    import dask.array as da

    return da.map_blocks(
        rows_of_block,
        *arrays,
        model=light(model),
        weighted=weights is not None,
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
    found.prior_ = rows, None
    found._features = [without_rows(model._features[0]), None]
    found.row_names_ = found.callback = None
    for name in ("row_prior", "column_prior", "row_graph", "column_graph"):
        if hasattr(found, name):  # what the fit was given; the fit has made use of it
            setattr(found, name, None)
    if hasattr(found, "_beliefs"):
        found._beliefs = {}
    return found


def without_rows(features: Any) -> Any:
    """What maps new rows to features, without the features of the fit."""
    if features is None:
        return None
    found = copy.copy(features)
    found.phi = np.zeros((0, features.phi.shape[1]))
    if hasattr(found, "parts"):
        found.parts = [without_rows(part) for part in found.parts]
    return found


def rows_of_block(X: Any, *others: Any, model: Any, weighted: bool) -> np.ndarray:
    """Rows of W for a block."""
    weights, tables = (others[0], others[1:]) if weighted else (None, others)
    given = {"row_features": list(tables)} if tables else {}
    return model.transform(X, entry_weights=weights, **given)


def table_by_rows(table: Any, X: Any) -> Any:
    """Features of new rows as a Dask array cut as X is, whose blocks may be DataFrames."""
    import dask
    import dask.array as da

    rows = X.chunks[0]
    lacking = "row_features must have one row for each of {} rows of X, got {}."
    if is_chunked(table):
        if table.shape[0] != len(X) and not np.isnan(table.shape[0]):
            raise ValueError(lacking.format(len(X), table.shape[0]))
        if not np.isnan(table.shape[0]):
            return table.rechunk({0: rows, 1: -1})
    if is_lazy(table):
        parts = list(np.ravel(table.to_delayed()))
        if len(parts) != len(rows):
            raise ValueError(
                f"row_features has {len(parts)} partitions whose sizes are not known, and X has "
                f"{len(rows)} blocks; repartition it to those of X, or pass an array."
            )
    else:
        table = table if hasattr(table, "shape") else np.asarray(table)
        if table.shape[0] != len(X):
            raise ValueError(lacking.format(len(X), table.shape[0]))
        table = getattr(table, "iloc", table)
        ends = np.cumsum(rows).tolist()
        parts = [
            dask.delayed(table[end - n : end], traverse=False, name=False)
            for end, n in zip(ends, rows, strict=True)
        ]
    like = np.empty((0, 0), dtype=object)
    return da.concatenate(
        [
            da.from_delayed(part, (n, 1), dtype=object, meta=like)
            for part, n in zip(parts, rows, strict=True)
        ]
    )


def inverse_blocks(model: Any, W: Any) -> Any:
    """The model W H for rows of W in blocks, lazily."""
    require_dask("W is a Dask array, and to multiply it")
    H = model.components_
    if W.ndim != 2 or W.shape[1] != len(H):
        raise ValueError(f"X has the shape {W.shape}, but rows of W have {len(H)} entries.")
    W = by_rows(W)
    dtype = np.result_type(W.dtype if W.dtype == np.float32 else np.float64, H.dtype)
    return W.map_blocks(
        model_of_block,
        H,
        chunks=(W.chunks[0], (H.shape[1],)),
        dtype=dtype,
        meta=np.empty((0, 0), dtype=dtype),
    )


def model_of_block(W: Any, H: np.ndarray) -> Any:
    """The model of a block."""
    return check_array(W, accept_sparse="csr", dtype=[np.float64, np.float32]) @ H
