"""Features of the rows of X themselves: a kernel that tells which rows are alike.

Rows are brought to length 1, so that long documents and bright pictures are not alike for their
size, and compared by exp(-distance^2 / median distance^2). Features are a root of the centred
kernel: exact for some thousands of rows, above that by landmarks (Nystrom), whose number does
not grow with the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

EXACT = 1000  # rows up to which the root is exact: its cost grows with their cube
LANDMARKS = 100  # beyond; on four sets 60 were level with the exact root
KEPT = 1e-6  # eigenvalues below this fraction of the largest are rounding
PAIRS = 200_000  # distances whose median is taken


class KernelFeatures:
    """Maps rows of X to features whose products are the kernel.

    Parameters
    ----------
    X : {ndarray, sparse array} of shape (n_rows, n_columns)
    seed : int
        Of the choice of landmarks.
    """

    def __init__(self, X: Any, seed: int = 0):
        U = unit_rows(X)
        rng = np.random.default_rng(seed)
        self.landmarks = U if U.shape[0] <= EXACT else centers(U, seed)
        self.width = median_distance(U, rng)
        own = self.kernel(self.landmarks)
        values, vectors = np.linalg.eigh(0.5 * (own + own.T))
        kept = values > KEPT * values[-1]
        self.root = vectors[:, kept] / np.sqrt(values[kept])
        features = self.kernel(U) @ self.root
        self.center = features.mean(axis=0)
        spread = np.mean(np.sum((features - self.center) ** 2, axis=1))
        self.unit = np.sqrt(spread) if spread > 0 else 1.0

    def kernel(self, U: Any) -> np.ndarray:
        """exp(-distance^2 / width) to the landmarks."""
        products = U @ self.landmarks.T
        products = np.asarray(products.todense() if sp.issparse(products) else products)
        square = np.subtract.outer(squares(U), -squares(self.landmarks)) - 2.0 * products
        return np.exp(-np.maximum(square, 0.0) / self.width)

    def __call__(self, X: Any) -> np.ndarray:
        """One row of features per row of X."""
        return (self.kernel(unit_rows(X)) @ self.root - self.center) / self.unit


def squares(U: Any) -> np.ndarray:
    """Squared lengths of the rows."""
    if sp.issparse(U):
        return np.asarray(U.multiply(U).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", U, U)


def unit_rows(X: Any) -> Any:
    """Rows of length 1; rows of zeros stay zeros."""
    X = sp.csr_array(X, dtype=np.float64) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    length = np.sqrt(squares(X))
    inverse = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    return sp.diags_array(inverse) @ X if sp.issparse(X) else inverse[:, None] * X


def centers(U: Any, seed: int) -> np.ndarray:
    """Landmarks: centres of clusters of the rows."""
    from sklearn.cluster import MiniBatchKMeans  # loads much, for large tables alone

    found = MiniBatchKMeans(LANDMARKS, random_state=seed, n_init=1, batch_size=4096).fit(U)
    return found.cluster_centers_


def median_distance(U: Any, rng: np.random.Generator) -> float:
    """The median of the squared distances between rows."""
    n = U.shape[0]
    i, j = rng.integers(0, n, (2, PAIRS)) if n * n > PAIRS else np.triu_indices(n, 1)
    i, j = i[i != j], j[i != j]
    apart = []
    for start in range(0, len(i), 10_000):
        part = U[i[start : start + 10_000]] - U[j[start : start + 10_000]]
        apart.append(squares(part))
    found = np.concatenate(apart) if apart else np.ones(1)
    middle = float(np.median(found))
    return middle if middle > 0 else float(found.mean()) or 1.0
