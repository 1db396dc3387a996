"""X, triplets, labels and graphs become clean arrays here; all input messages are here.

A message says what is wrong, where, what was expected and what was found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph
from sklearn.utils import check_array

ROLES = ("q", "r", "s")


def check_matrix(X: Any, missing: str | None, whom: str) -> Any:
    """X as a float array or CSR matrix, non-negative, finite but for allowed NaN."""
    X = check_array(
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        estimator=whom,
        input_name="X",
    )
    values = X.data if sp.issparse(X) else X
    _refuse(X, np.isinf(values), "Input X contains infinity", "a finite number", whom)
    if missing != "nan":
        expected = "a number; to mark missing entries with NaN pass missing='nan'"
        _refuse(X, np.isnan(values), "Input X contains NaN", expected, whom)
    _refuse(X, values < 0, f"Negative values in data passed to {whom}", "at least 0", whom)
    return X


def _refuse(X: Any, bad: np.ndarray, what: str, expected: str, whom: str) -> None:
    if not bad.any():
        return
    if sp.issparse(X):
        place = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(X.indptr, place, side="right")) - 1
        column, value = int(X.indices[place]), X.data[place]
    else:
        row, column = (int(index) for index in np.argwhere(bad)[0])
        value = X[row, column]
    raise ValueError(
        f"{what}: X[{row}, {column}] = {value:g}; {whom} expects {expected}"
        f" ({int(bad.sum())} such entries)."
    )


def axis_names(X: Any) -> tuple[Any, Any]:
    """Row and column labels of a data frame; None where there are none."""
    if not hasattr(X, "columns"):
        return None, None
    return getattr(X, "index", None), X.columns


def check_triplet_array(triplets: Any) -> np.ndarray:
    """An (n, 3) array of integer indices (int64) or of names (object)."""
    if hasattr(triplets, "to_numpy"):
        triplets = triplets.to_numpy()
    array = np.asarray(triplets) if not isinstance(triplets, np.ndarray) else triplets
    if array.size == 0 and array.ndim <= 2:
        return np.zeros((0, 3), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(
            "triplets must have the shape (n_triplets, 3), one row (q, r, s) for "
            f"'q is closer to r than to s'; got an array of shape {array.shape}."
        )
    if array.dtype.kind in "iu":
        array = array.astype(np.int64)
    elif array.dtype.kind == "f":
        raise TypeError(
            "triplets must be integer indices or names, got floating point numbers "
            f"(dtype {array.dtype}); convert them with .astype(int) if they are indices."
        )
    elif array.dtype.kind in "OUST":
        array = array.astype(object)
        if all(isinstance(item, int | np.integer) for item in array.ravel()):
            array = array.astype(np.int64)
    else:
        raise TypeError(f"triplets must be integer indices or names, got dtype {array.dtype}.")
    return array


def check_weights(weights: Any, n_triplets: int) -> np.ndarray:
    """One positive finite weight a triplet."""
    if weights is None:
        return np.ones(n_triplets)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (n_triplets,):
        raise ValueError(
            f"weights must have one entry a triplet, shape ({n_triplets},), got {weights.shape}."
        )
    bad = ~(np.isfinite(weights) & (weights > 0))
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"weights[{first}] = {weights[first]}; weights must be positive finite numbers."
        )
    return weights


def check_distinct(triplets: np.ndarray, what: str = "row or column") -> None:
    """q, r and s must be three different things."""
    q, r, s = triplets.T
    bad = np.asarray((q == r) | (q == s) | (r == s), dtype=bool)
    if bad.any():
        t = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"triplets[{t}] = {_triplet(triplets[t])} repeats an index; q, r and s must be "
            f"three different {what}s."
        )


def check_range(triplets: np.ndarray, n: int, side: str) -> None:
    """Indices must lie in 0 .. n - 1."""
    bad = (triplets < 0) | (triplets >= n)
    if bad.any():
        t, role = (int(index) for index in np.argwhere(bad)[0])
        raise ValueError(
            f"{side}_triplets[{t}] = {_triplet(triplets[t])} is out of range: "
            f"{ROLES[role]}={triplets[t, role]}, but X has {n} {side}s, numbered 0 to {n - 1}."
        )


def _triplet(row: np.ndarray) -> str:
    return "(" + ", ".join(f"{role}={item}" for role, item in zip(ROLES, row, strict=True)) + ")"


def check_labels(labels: Any, n: int, side: str) -> np.ndarray | None:
    """Group numbers from labels; each point of label -1 is a group of its own."""
    if labels is None:
        return None
    labels = np.asarray(labels)
    if labels.shape != (n,):
        raise ValueError(
            f"{side} labels must have one entry for each {side} of X, shape ({n},), "
            f"got {labels.shape}; use -1 where the label is not known."
        )
    if labels.dtype.kind == "f":
        bad = ~np.isfinite(labels) | (labels != np.round(labels))
        if bad.any():
            first = int(np.flatnonzero(bad)[0])
            raise ValueError(
                f"{side} labels must be whole numbers or names, got {labels[first]} at position "
                f"{first}; use -1 where the label is not known."
            )
        labels = labels.astype(np.int64)
    if labels.dtype.kind == "O":
        unknown = np.array([isinstance(item, int | np.integer) and item == -1 for item in labels])
        labels = np.array([str(item) for item in labels])
    else:
        unknown = labels == -1 if labels.dtype.kind in "iu" else np.zeros(n, dtype=bool)
    groups = np.empty(n, dtype=np.int64)
    known, numbers = np.unique(labels[~unknown], return_inverse=True)
    groups[~unknown] = numbers
    groups[unknown] = len(known) + np.arange(unknown.sum())
    return groups


def check_graph(graph: Any, X: Any, n_neighbors: int, side: str) -> sp.csr_array | None:
    """Symmetric non-negative weights between the rows (columns) of X, without a diagonal.

    ``"knn"`` links every point to its nearest neighbours (squared Euclidean distance between
    rows or columns of X, missing entries counting as 0), with weight 1, in both directions.
    """
    if graph is None:
        return None
    n = X.shape[0] if side == "row" else X.shape[1]
    if isinstance(graph, str):
        points = X if side == "row" else X.T
        if sp.issparse(points):
            points = sp.csr_matrix(points).copy()
            points.data = np.nan_to_num(points.data)
        else:
            points = np.nan_to_num(points)
        if n < 2:
            return sp.csr_array((n, n))
        neighbours = kneighbors_graph(points, min(n_neighbors, n - 1), mode="connectivity")
        S = sp.csr_array(neighbours.maximum(neighbours.T))
    else:
        S = sp.csr_array(graph) if sp.issparse(graph) else sp.csr_array(np.asarray(graph, float))
        S = S.astype(np.float64)
    if S.shape != (n, n):
        raise ValueError(
            f"{side}_graph must have the shape ({n}, {n}), a weight for each pair of {side}s "
            f"of X; got {S.shape}."
        )
    weights = sp.coo_array(S)
    for bad, expected in (
        (~np.isfinite(weights.data), "finite"),
        (weights.data < 0, "at least 0"),
    ):
        if bad.any():
            first = int(np.flatnonzero(bad)[0])
            i, j = (int(index[first]) for index in weights.coords)
            raise ValueError(
                f"{side}_graph[{i}, {j}] = {weights.data[first]:g}; weights must be {expected}."
            )
    gap = sp.coo_array(S - S.T)
    largest = np.abs(S.data).max(initial=0.0)
    uneven = np.abs(gap.data) > 1e-8 * largest
    if uneven.any():
        first = int(np.flatnonzero(uneven)[0])
        i, j = (int(index[first]) for index in gap.coords)
        raise ValueError(
            f"{side}_graph must be symmetric, but {side}_graph[{i}, {j}] = {S[i, j]:g} and "
            f"{side}_graph[{j}, {i}] = {S[j, i]:g}."
        )
    S = sp.csr_array(sp.triu(S, k=1))
    return sp.csr_array(S + S.T)


def check_start(
    factor: Any, shape: tuple[int, int], name: str, dtype: np.dtype, zeros: bool = False
) -> np.ndarray:
    """A factor given by the user; ``zeros`` allows one that is zero everywhere."""
    if factor is None:
        raise ValueError(f"init='custom' needs both start factors, but {name} is None.")
    array = check_array(factor, dtype=[np.float64, np.float32], input_name=name)
    if array.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, got {array.shape}.")
    if (array < 0).any():
        i, j = (int(index) for index in np.argwhere(array < 0)[0])
        raise ValueError(f"{name}[{i}, {j}] = {array[i, j]:g}; factors must be at least 0.")
    if not zeros and not array.any():
        raise ValueError(f"{name} is all zeros; a multiplicative step cannot leave zero.")
    return array.astype(dtype)
