"""Graphs: which rows, or columns, are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds
from sklearn import config_context
from sklearn.preprocessing import normalize
from sklearn.utils import check_array

PARTS = 40  # singular vectors; 30 to 60 are level on eight sets
SMALL = 1500  # rows or columns up to which all singular vectors are found at once
ROUNDING = 1e-6  # of the largest singular value


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


def leading_parts(points: Any) -> np.ndarray:
    """Points brought to length 1, in their leading singular vectors, the large ones taken down.

    A coordinate is divided by the root of its singular value. Light and shade, or the words that
    every text has, are the largest parts of data and decide which points are near; what tells
    points apart is often in the smaller ones. Neighbours are then of one class about as often as
    by the cosine of X, and on faces far oftener (`benchmarks/results/graph_points.md`).
    """
    units = normalize(points)
    n_parts = min(PARTS, *units.shape)
    if min(units.shape) <= SMALL:
        wide = units.shape[1] > units.shape[0]
        product = units @ units.T if wide else units.T @ units
        values, vectors = np.linalg.eigh(product.toarray() if sp.issparse(product) else product)
        sizes, vectors = np.sqrt(np.maximum(values, 0.0)), vectors[:, -n_parts:]
        sizes = sizes[-n_parts:]
        parts = vectors * sizes if wide else units @ vectors
    else:
        start = np.ones(min(units.shape))  # fixed: the same data give the same graph
        left, sizes, _ = svds(units, k=n_parts, v0=start, return_singular_vectors="u")
        parts = left * sizes
    kept = sizes >= ROUNDING * sizes.max(initial=0.0)
    sizes = np.maximum(sizes, np.finfo(float).tiny)
    return normalize(parts[:, kept] / np.sqrt(sizes[kept]))


def neighbour_graph(kind: str, points: Any, n_neighbors: int) -> sp.csr_array:
    """The graph that a name stands for: see `check_graph`."""
    if kind == "cosine":
        return weighted_neighbours(leading_parts(points), n_neighbors)
    near = nearest(points, n_neighbors, "connectivity")
    return sp.csr_array(near.maximum(near.T))


def check_graph(graph: Any, X: Any, n_neighbors: int, side: str) -> sp.csr_array | None:
    """Symmetric non-negative weights between the rows (columns) of X, without a diagonal.

    ``"knn"`` links every point to its nearest neighbours (squared Euclidean distance between
    rows or columns of X, missing entries counting as 0), with weight 1, in both directions.
    ``"cosine"`` does so by the angles between `leading_parts`, with `weighted_neighbours`.
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
