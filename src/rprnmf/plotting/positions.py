"""From the rows of a factor to points in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import squareform
from sklearn.decomposition import PCA
from sklearn.manifold import smacof

from rprnmf.penalties import DISTANCES

METHODS = ("pca", "mds")
ITERATIONS = 100  # of scaling, which begins at the principal components


def plane(F: np.ndarray, method: Any, distance: str) -> tuple[np.ndarray, list[str]]:
    """A point for every row, and what the two axes are.

    Parameters
    ----------
    F : ndarray of shape (n_items, n_components)
    method : {"pca", "mds"} or estimator
        An estimator needs ``fit_transform`` and gives two columns, as scikit-learn's `TSNE`.
    distance : {"euclidean", "divergence"}
        What "mds" keeps.
    """
    F = F.astype(np.float64)
    F = F / (np.abs(F).max(initial=0.0) or 1.0)  # a map has no unit
    if hasattr(method, "fit_transform"):
        points = np.asarray(method.fit_transform(F), dtype=np.float64)
        if points.shape != (len(F), 2):
            raise ValueError(
                f"method must give two columns and one row for each of {len(F)} items; "
                f"{type(method).__name__} gives the shape {points.shape}."
            )
        return points, ["", ""]
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(
            f"method must be 'pca', 'mds' or an estimator with fit_transform, got {method!r}."
        )
    points, shares = principal(F)
    if method == "mds":
        return scaled(F, points, distance), ["", ""]
    return points, [
        f"PC {k} ({100 * share:.0f} %)" if share > 0 else ""
        for k, share in enumerate(shares, start=1)
    ]


def principal(F: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """The first two principal components, zeros where there are fewer, and their shares."""
    points = np.zeros((len(F), 2))
    if np.ptp(F, axis=0).max(initial=0.0) == 0.0:  # one item, or all at one place
        return points, [0.0, 0.0]
    pca = PCA(min(2, *F.shape), random_state=0)
    found = pca.fit_transform(F)
    points[:, : found.shape[1]] = found
    shares = [*pca.explained_variance_ratio_.tolist(), 0.0][:2]
    return points, shares


def scaled(F: np.ndarray, start: np.ndarray, distance: str) -> np.ndarray:
    """Multidimensional scaling, which keeps all distances as well as it can."""
    if not start.any():
        return start
    q, r = np.triu_indices(len(F), 1)
    floor = float(np.finfo(np.float64).eps * F.mean())
    squared = DISTANCES[distance].with_floor(floor).values(np.ascontiguousarray(F), q, r)
    apart = squareform(np.sqrt(squared))
    settings = {"n_init": 1, "max_iter": ITERATIONS, "n_components": 2, "random_state": 0}
    return smacof(apart, init=start, **settings)[0]
