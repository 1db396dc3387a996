"""How many comparisons hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from rprnmf.penalties import DISTANCES
from rprnmf.remote import gathered, lies_in_blocks
from rprnmf.triplets import Triplets, as_triplets

EPS = float(np.finfo(np.float64).eps)


def satisfied_rate(
    F: Any,
    triplets: Any,
    distance: str = "euclidean",
    *,
    floor: float | None = None,
    names: Any = None,
) -> float:
    """The fraction of triplets (q, r, s) with distance(F_q, F_r) < distance(F_q, F_s).

    Parameters
    ----------
    F : array-like of shape (n_points, n_components)
        One point per row: ``embedding_`` for row triplets, ``components_.T`` for column ones.
    triplets : Triplets or array-like of shape (n_triplets, 3)
    distance : {"euclidean", "divergence"}, default="euclidean"
    floor : float, default=None
        As in `triplet_distances`.
    names : sequence, default=None
        The names of the points, for triplets by name: ``model.row_names_`` or
        ``model.column_names_``.

    Returns
    -------
    rate : float
        Between 0 and 1, each triplet counting once whatever its weight; NaN without triplets.

    Examples
    --------
    >>> from rprnmf.metrics import satisfied_rate
    >>> satisfied_rate([[0.0], [1.0], [3.0]], [[0, 1, 2], [1, 2, 0]])
    0.5
    """
    items, near, far = triplet_distances(F, triplets, distance, floor=floor, names=names)
    return float(np.mean(near < far)) if len(items) else float("nan")


def unmet(
    F: Any,
    triplets: Any,
    distance: str = "euclidean",
    *,
    floor: float | None = None,
    names: Any = None,
) -> np.ndarray:
    """The triplets that do not hold.

    Parameters
    ----------
    F : array-like of shape (n_points, n_components)
    triplets : Triplets or array-like of shape (n_triplets, 3)
    distance : {"euclidean", "divergence"}, default="euclidean"
    floor : float, default=None
        As in `triplet_distances`.
    names : sequence, default=None
        The names of the points, for triplets by name: ``model.row_names_`` or
        ``model.column_names_``.

    Returns
    -------
    triplets : ndarray of shape (n_unmet, 3)
        Positions, or names if the triplets are given by name.

    Examples
    --------
    >>> from rprnmf.metrics import unmet
    >>> unmet([[0.0], [1.0], [3.0]], [[0, 1, 2], [1, 2, 0]]).tolist()
    [[1, 2, 0]]
    """
    known = as_triplets(triplets)
    items, near, far = triplet_distances(F, known, distance, floor=floor, names=names)
    left = Triplets(items[~(near < far)])
    return (left.with_names(names) if known.named else left).items.copy()


def triplet_distances(
    F: Any,
    triplets: Any,
    distance: str = "euclidean",
    *,
    floor: float | None = None,
    names: Any = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The triplets as positions, and their distances q-r and q-s.

    Parameters
    ----------
    F : array-like of shape (n_points, n_components)
    triplets : Triplets or array-like of shape (n_triplets, 3)
    distance : {"euclidean", "divergence"}, default="euclidean"
        "euclidean" is squared, "divergence" is symmetric.
    floor : float, default=None
        Entries below it count as it in the logarithms of "divergence". None is 2.2e-16 of the
        mean entry, so that the unit of F does not matter; the authors of the paper have 2.2e-16.
    names : sequence, default=None
        The names of the points, for triplets by name: ``model.row_names_`` or
        ``model.column_names_``.

    Returns
    -------
    items : ndarray of shape (n_triplets, 3)
    near, far : ndarray of shape (n_triplets,)

    Examples
    --------
    >>> from rprnmf.metrics import triplet_distances
    >>> triplet_distances([[0.0], [1.0], [3.0]], [[0, 1, 2]])[1:]
    (array([1.]), array([9.]))
    """
    if distance not in DISTANCES:
        raise ValueError(f"distance must be one of {sorted(DISTANCES)}, got {distance!r}.")
    if not lies_in_blocks(F):
        F = np.ascontiguousarray(check_array(F, dtype=[np.float64, np.float32], input_name="F"))
    known = as_triplets(triplets)
    if known.named and names is None and known.n_triplets:
        raise ValueError(
            "the triplets are given by name: pass names=, one for each row of F, as "
            "model.row_names_ and model.column_names_ hold them."
        )
    items = known.positions(len(F), names).items
    if floor is None:
        floor = EPS  # it counts in logarithms only
        if distance == "divergence" and len(items):
            floor = float(EPS * F.mean(dtype=np.float64)) or EPS
    places = items
    if lies_in_blocks(F):  # only the rows that are named come here
        named = np.unique(items)
        F, places = gathered(F, named), np.searchsorted(named, items)
    q, r, s = np.array(places.T, order="C")  # a copy: kernels are compiled for writable arrays
    if not floor > 0:
        raise ValueError(f"floor must be greater than 0, got {floor!r}.")
    measure = DISTANCES[distance].with_floor(floor)
    return items, measure.values(F, q, r), measure.values(F, q, s)


def constraint_satisfied_rate(
    W: Any,
    H: Any,
    row_triplets: Any = None,
    column_triplets: Any = None,
    distance: str = "euclidean",
    *,
    floor: float | None = None,
    row_names: Any = None,
    column_names: Any = None,
) -> float:
    """The paper's CSR: the mean of the satisfied rates of both sides.

    Parameters
    ----------
    W : array-like of shape (n_samples, n_components)
    H : array-like of shape (n_components, n_features)
    row_triplets, column_triplets : Triplets, array-like of shape (n_triplets, 3) or None
    distance : {"euclidean", "divergence"}, default="euclidean"
    floor : float, default=None
        As in `triplet_distances`.
    row_names, column_names : sequence, default=None
        The names of the rows and of the columns, for triplets by name.

    Returns
    -------
    rate : float
        With one side empty the other's rate, with both empty NaN.

    Examples
    --------
    >>> from rprnmf.metrics import constraint_satisfied_rate
    >>> constraint_satisfied_rate([[0.0], [1.0], [3.0]], [[1.0]], row_triplets=[[0, 1, 2]])
    1.0
    """
    rates = [
        satisfied_rate(F, triplets, distance, floor=floor, names=names)
        for F, triplets, names in (
            (W, row_triplets, row_names),
            (np.asarray(H).T, column_triplets, column_names),
        )
        if as_triplets(triplets).n_triplets
    ]
    return float(np.mean(rates)) if rates else float("nan")
