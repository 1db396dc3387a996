"""Graphs: which rows, or columns, are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.preprocessing import normalize
from sklearn.utils import check_array


def nearest(points: Any, n_neighbors: int, mode: str) -> sp.csr_array:
    """Every point's nearest others, 1 each or their distances (``mode="distance"``)."""
    n = points.shape[0]
    if n < 2:
        return sp.csr_array((n, n))
    with config_context(working_memory=64):  # distances are dense, some rows at a time
        from sklearn.neighbors import kneighbors_graph  # loads much, for graphs alone

        found = kneighbors_graph(points, min(n_neighbors, n - 1), mode=mode)
    return sp.csr_array(found)


def weighted_neighbours(points: Any, n_neighbors: int) -> sp.csr_array:
    """Neighbours in both directions, those that are near for their surroundings weighing more.

    The weight is exp(-d^2 / (a b)) with the distances a and b of the two points to the farthest of
    their neighbours: at most 1, and about as large in crowded places as in empty ones.
    """
    near = sp.coo_array(nearest(points, n_neighbors, "distance"))
    i, j = near.coords
    reach = np.zeros(near.shape[0])
    np.maximum.at(reach, i, near.data)
    around = reach[i] * reach[j]
    scaled = np.divide(near.data**2, around, out=np.zeros(len(near.data)), where=around > 0)
    S = sp.csr_array((np.exp(-scaled), (i, j)), shape=near.shape)
    return sp.csr_array(S.maximum(S.T))


def near_one(points: Any) -> Any:
    """Without NaN, and divided by a power of two: no square overflows, and no digit changes."""
    if sp.issparse(points):
        points = sp.csr_matrix(points).copy()
        points.data = near_one(points.data)
        return points
    points = np.nan_to_num(points)
    exponent = np.frexp(np.abs(points).max(initial=0.0))[1]
    return np.ldexp(points, -exponent)


def neighbour_graph(kind: str, points: Any, n_neighbors: int) -> sp.csr_array:
    """The graph that a name stands for: see `check_graph`."""
    if kind == "cosine":
        return weighted_neighbours(normalize(points), n_neighbors)
    near = nearest(points, n_neighbors, "connectivity")
    return sp.csr_array(near.maximum(near.T))


def check_graph(graph: Any, X: Any, n_neighbors: int, side: str) -> sp.csr_array | None:
    """Symmetric non-negative weights between the rows (columns) of X, without a diagonal.

    ``"knn"`` links every point to its nearest neighbours (squared Euclidean distance between
    rows or columns of X, missing entries counting as 0), with weight 1, in both directions.
    ``"cosine"`` does so between points brought to length 1, with `weighted_neighbours`.
    """
    if graph is None:
        return None
    n = X.shape[0] if side == "row" else X.shape[1]
    if isinstance(graph, str):
        S = neighbour_graph(graph, near_one(X if side == "row" else X.T), n_neighbors)
    else:
        S = check_array(
            graph,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite=False,
            input_name=f"{side}_graph",
        )
        S = sp.csr_array(S)
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
