"""What triplets turn into: weights for GNMF, labels for LCNMF (Algorithms 3 and 4 of the paper)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from rprnmf.kernels.feedback_arc import depths
from rprnmf.triplets.pairs import Pairs, distinct, numbered_pairs, rising
from rprnmf.triplets.triplets import as_triplets

SHOWN = 6  # triplets of a cycle that a message names


def triplets_to_graph(
    triplets: Any, n_points: int, *, low: float = 0.1, high: float = 0.9, on_cycle: str = "error"
) -> sp.csr_array:
    """Similarities in the order that triplets give their pairs (the paper's Algorithm 3).

    The pairs are a directed graph with an edge from q-r to q-s for every triplet. A pair that no
    edge leaves has depth 1, any other one more than the deepest pair it leads to; weights grow
    evenly with depth.

    Parameters
    ----------
    triplets : Triplets or array-like of shape (n_triplets, 3)
        By index.
    n_points : int
        How many points there are.
    low, high : float, default=0.1, 0.9
        Weights of the smallest and of the largest depth.
    on_cycle : {"error", "condense"}, default="error"
        Depths are not defined where triplets contradict each other in a circle: raise, naming
        such triplets, or give all pairs that lie on common cycles one depth.

    Returns
    -------
    graph : csr_array of shape (n_points, n_points)
        Symmetric, with a zero diagonal, for ``row_graph=`` or ``column_graph=``.

    Examples
    --------
    >>> from rprnmf.triplets import triplets_to_graph
    >>> triplets_to_graph([[1, 0, 2], [2, 1, 3]], 4).toarray()
    array([[0. , 0.9, 0. , 0. ],
           [0.9, 0. , 0.5, 0. ],
           [0. , 0.5, 0. , 0.1],
           [0. , 0. , 0.1, 0. ]])
    """
    if on_cycle not in ("error", "condense"):
        raise ValueError(f"on_cycle must be 'error' or 'condense', got {on_cycle!r}.")
    items = as_triplets(triplets).positions(n_points).items
    if len(items) == 0:
        return sp.csr_array((n_points, n_points))
    pairs = numbered_pairs(items)
    component = pairs.strong_components()
    tied = component[pairs.near] == component[pairs.far]
    if on_cycle == "error" and tied.any():
        cycle = one_cycle(pairs, component, int(np.flatnonzero(tied)[0]))
        named = ", ".join(f"triplets[{t}] = {tuple(items[t].tolist())}" for t in cycle[:SHOWN])
        more = f" and {len(cycle) - SHOWN} more" if len(cycle) > SHOWN else ""
        raise ValueError(
            f"the triplets contradict each other in a circle, so that pairs have no depth: {named}"
            f"{more}; leave some out (rprnmf.triplets.resolve), or pass "
            "on_cycle='condense'."
        )
    depth = depth_of(
        component[pairs.near[~tied]], component[pairs.far[~tied]], int(component.max()) + 1
    )[component]
    weight = low + (depth - 1) * ((high - low) / max(int(depth.max()) - 1, 1))
    ends = np.concatenate((pairs.first, pairs.second)), np.concatenate((pairs.second, pairs.first))
    return sp.csr_array((np.tile(weight, 2), ends), shape=(n_points, n_points))


def depth_of(near: np.ndarray, far: np.ndarray, n: int) -> np.ndarray:
    """Depths of the n nodes of a directed graph without cycles, edges from near to far."""
    order = rising(far)
    first = np.concatenate(([0], np.cumsum(np.bincount(far, minlength=n))))
    ready, depth = np.empty((2, n), dtype=np.int64)
    depths(first, near[order], np.bincount(near, minlength=n), ready, depth)
    return depth


def one_cycle(pairs: Pairs, component: np.ndarray, start: int) -> list[int]:
    """The triplets of a shortest cycle through a triplet that lies on one."""
    inside = np.flatnonzero(
        (component[pairs.near] == component[pairs.near[start]])
        & (component[pairs.far] == component[pairs.near[start]])
    )
    nodes, place = distinct(np.concatenate((pairs.near[inside], pairs.far[inside])))
    near, far = place.reshape(2, -1)
    size = len(nodes)
    edges = sp.csr_array((np.ones(len(near), dtype=np.int32), (near, far)), shape=(size, size))
    here = int(np.flatnonzero(inside == start)[0])
    _, before = breadth_first_order(edges, far[here], directed=True)
    number = {(int(a), int(b)): int(t) for a, b, t in zip(near, far, inside, strict=True)}
    path, node = [start], int(near[here])
    back: list[int] = []
    while node != far[here]:
        back.append(number[int(before[node]), node])
        node = int(before[node])
    return path + back[::-1]


def triplets_to_labels(triplets: Any, n_points: int) -> np.ndarray:
    """Classes in which q and r of every triplet are together (the paper's Algorithm 4).

    Parameters
    ----------
    triplets : Triplets or array-like of shape (n_triplets, 3)
        By index.
    n_points : int
        How many points there are.

    Returns
    -------
    labels : ndarray of shape (n_points,)
        For ``LCNMF``; -1 for a point that is q or r of no triplet.

    Examples
    --------
    >>> from rprnmf.triplets import triplets_to_labels
    >>> triplets_to_labels([[1, 0, 2], [4, 3, 2]], 5)
    array([ 0,  0, -1,  1,  1])
    """
    items = as_triplets(triplets).positions(n_points).items
    labels = np.full(n_points, -1)
    if len(items) == 0:
        return labels
    q, r, _ = items.T
    ones = np.ones(len(items), dtype=np.int32)
    joined = sp.csr_array((ones, (q, r)), shape=(n_points, n_points))
    component = connected_components(joined, directed=False)[1]
    named = np.zeros(n_points, dtype=bool)
    named[q] = named[r] = True
    labels[named] = distinct(component[named])[1]
    return labels
