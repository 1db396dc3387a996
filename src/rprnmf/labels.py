"""From the labels of a few rows to those of all.

Rows are alike in a kernel: a little of a wide one, exp(-distance^2 / median), which tells about
points without labelled neighbours, and walks on neighbour graphs, (I - 0.99 S)^-1, which follow
the shape of a class. One graph is that of the points, one that of their angles (`leading_parts`).
A ridge regression of the labels on this kernel predicts the others. Only the columns of the
kernel that belong to labelled points are computed, so that cost grows with the number of
points times that of labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.graphs import leading_parts, near_one, weighted_neighbours
from rprnmf.priors.kernel import median_distance, squares, unit_rows

NEIGHBORS = 5
WALK = 0.99  # of a step on the graph that is followed by another
WIDE, GRAPHS = 0.1, 0.9  # shares of the wide kernel and of all graphs
RIDGE = 0.01  # over the mean of the kernel's diagonal
ACCURATE, MOST_STEPS = 1e-6, 500  # of the conjugate gradients for walks


def spread_labels(points: list[Any], codes: np.ndarray) -> np.ndarray:
    """The classes of all rows, from those of some.

    Parameters
    ----------
    points : list of {ndarray, sparse array} with one row per label
        What rows are compared by; the first also by the wide kernel.
    codes : ndarray of shape (n_rows,)
        Numbers of classes from 0 on; -1: not known.

    Returns
    -------
    codes : ndarray of shape (n_rows,)
        Known ones as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.labels import spread_labels
    >>> X = np.array([[0.0, 1.0], [0.1, 1.0], [5.0, 1.0], [5.1, 1.0], [5.2, 1.0]])
    >>> spread_labels([X], np.array([0, -1, -1, 1, -1]))
    array([0, 0, 1, 1, 1])
    """
    points = [near_one(one) for one in points]
    known = np.flatnonzero(codes >= 0)
    if len(known) == 0:
        raise ValueError("predict_labels needs the label of at least one row, got none.")
    kernel = WIDE * centred(*wide_columns(points[0], known), known)
    graphs = [
        weighted_neighbours(each, NEIGHBORS) for one in points for each in (one, leading_parts(one))
    ]
    for graph in graphs:
        kernel += GRAPHS / len(graphs) * centred(*walk_columns(graph, known), known)
    target = (codes[known, None] == np.arange(codes.max() + 1)).astype(float)
    target -= target.mean(axis=0)
    system = kernel[known] + RIDGE * np.eye(len(known))
    scores = kernel @ np.linalg.solve(system, target)
    return np.where(codes < 0, scores.argmax(axis=1), codes)


def wide_columns(X: Any, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """exp(-distance^2 / median) to the known rows, of rows of length 1; and row means."""
    U = unit_rows(X)
    width = median_distance(U, np.random.default_rng(0))
    some = np.linspace(0, U.shape[0] - 1, min(U.shape[0], 1000)).astype(int)

    def to(rows: np.ndarray) -> np.ndarray:
        others = U[rows]
        product = U @ others.T
        product = np.asarray(product.todense() if sp.issparse(product) else product)
        apart = np.add.outer(squares(U), squares(others)) - 2.0 * product
        return np.exp(-np.maximum(apart, 0.0) / width)

    return to(known), to(some).mean(axis=1)


def walk_columns(S: sp.csr_array, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns of (I - 0.99 S)^-1, S scaled by the degrees of its points; and row means."""
    n = S.shape[0]
    degree = np.asarray(S.sum(axis=1)).ravel()
    root = np.divide(1.0, np.sqrt(degree), out=np.zeros(n), where=degree > 0)
    scaled = sp.diags_array(root) @ S @ sp.diags_array(root)
    target = np.zeros((n, len(known) + 1))
    target[known, np.arange(len(known))] = 1.0
    target[:, -1] = 1.0 / n
    found = conjugate_gradients(sp.csr_array(scaled), target)
    return found[:, :-1], found[:, -1]


def conjugate_gradients(S: sp.csr_array, target: np.ndarray) -> np.ndarray:
    """(I - WALK S)^-1 of each column, all columns in step."""
    found, left = np.zeros_like(target), target.copy()
    way, square = left.copy(), np.einsum("ij,ij->j", left, left)
    enough = ACCURATE**2 * square
    for _ in range(MOST_STEPS):
        ahead = way - WALK * (S @ way)
        bend = np.einsum("ij,ij->j", way, ahead)
        length = np.divide(square, bend, out=np.zeros_like(square), where=bend > 0)
        found += length * way
        left -= length * ahead
        before, square = square, np.einsum("ij,ij->j", left, left)
        if (square <= enough).all():
            break
        way = left + np.divide(square, before, out=np.zeros_like(square), where=before > 0) * way
    return found


def centred(columns: np.ndarray, means: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Columns of the kernel of centred features, 1 on average on the diagonal."""
    kernel = columns - means[:, None] - means[known] + means.mean()
    size = float(np.mean(kernel[known, np.arange(len(known))]))
    return kernel / size if size > 0 else kernel
