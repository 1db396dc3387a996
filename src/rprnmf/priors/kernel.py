"""Features of the rows of X themselves: a kernel that tells which rows are alike.

Rows are brought to length 1, so that long documents and bright pictures are not alike for their
size, and compared by exp(-distance^2 / median distance^2). Features are a root of the centred
kernel: exact for some thousands of rows, above that by landmarks (Nystrom), whose number does
not grow with the rows. Landmarks and the median are those of a sample of very many rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

EXACT = 1000  # rows up to which the root is exact: its cost grows with their cube
LANDMARKS = 100  # beyond; on four sets 60 were level with the exact root
SAMPLE = 3 * 4096  # rows that landmarks are chosen from: as many as k-means++ looks at
KEPT = 1e-6  # eigenvalues below this fraction of the largest are rounding
PAIRS = 200_000  # distances whose median is taken


class Centred:
    """Features with mean 0 and a mean squared length of 1."""

    center: np.ndarray
    unit: float

    def centre(self, features: Any) -> Any:
        """Remember the mean and the spread of features; these centred."""
        self.center = features.mean(axis=0)
        spread = ((features - self.center) ** 2).sum(axis=1).mean()
        self.unit = np.sqrt(spread) if spread > 0 else 1.0
        return (features - self.center) / self.unit


class KernelFeatures(Centred):
    """Maps rows of X to features whose products are the kernel.

    Parameters
    ----------
    X : {ndarray, sparse array} of shape (n_rows, n_columns)
    seed : int
        Of the choice of landmarks.
    """

    def __init__(self, X: Any, seed: int = 0):
        n = X.shape[0]
        self.choose(unit_rows(X if n <= SAMPLE else X[chosen_rows(n, seed)]), n, seed)
        self.centre(self.raw(X))

    @classmethod
    def of_sample(cls, X: Any, n: int, seed: int = 0) -> KernelFeatures:
        """From the rows that `chosen_rows` names among n; not yet centred."""
        found = cls.__new__(cls)
        found.choose(unit_rows(X), n, seed)
        return found

    def choose(self, U: Any, n: int, seed: int) -> None:
        """Landmarks, width and root."""
        self.landmarks = U if n <= EXACT else centers(U, seed)
        self.width = median_distance(U, np.random.default_rng(seed))
        self.root = root_of(self.kernel(self.landmarks))

    def raw(self, X: Any) -> np.ndarray:
        """The features before they are centred."""
        return self.kernel(unit_rows(X)) @ self.root

    @property
    def width_of_features(self) -> int:
        """How many there are."""
        return int(self.root.shape[1])

    def kernel(self, U: Any) -> np.ndarray:
        """exp(-distance^2 / width) to the landmarks."""
        products = U @ self.landmarks.T
        products = np.asarray(products.todense() if sp.issparse(products) else products)
        square = np.subtract.outer(squares(U), -squares(self.landmarks)) - 2.0 * products
        return np.exp(-np.maximum(square, 0.0) / self.width)

    def __call__(self, X: Any) -> np.ndarray:
        """One row of features per row of X."""
        return (self.raw(X) - self.center) / self.unit


def features_of_products(products: np.ndarray) -> np.ndarray:
    """The same of a few rows of which only the products with each other are known."""
    length = np.sqrt(np.diag(products))
    inverse = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    products = inverse[:, None] * products * inverse
    size = np.diag(products)
    square = np.maximum(np.add.outer(size, size) - 2.0 * products, 0.0)
    width = typical(square[random_pairs(len(size), np.random.default_rng(0))])
    own = np.exp(-square / width)
    return Centred().centre(own @ root_of(own))


def chosen_rows(n: int, seed: int = 0) -> np.ndarray:
    """The rows that landmarks are chosen from, and distances are taken between."""
    if n <= SAMPLE:
        return np.arange(n)
    return np.unique(np.random.default_rng(seed).integers(0, n, SAMPLE))


def root_of(own: np.ndarray) -> np.ndarray:
    """The inverse root of a kernel, without what is rounding."""
    values, vectors = np.linalg.eigh(0.5 * (own + own.T))
    kept = values > KEPT * values[-1]
    return vectors[:, kept] / np.sqrt(values[kept])


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
    i, j = random_pairs(U.shape[0], rng)
    apart = []
    for start in range(0, len(i), 10_000):
        part = U[i[start : start + 10_000]] - U[j[start : start + 10_000]]
        apart.append(squares(part))
    return typical(np.concatenate(apart) if apart else np.zeros(0))


def random_pairs(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of rows; all, where these are few."""
    i, j = rng.integers(0, n, (2, PAIRS)) if n * n > PAIRS else np.triu_indices(n, 1)
    return i[i != j], j[i != j]


def typical(apart: np.ndarray) -> float:
    """The median of distances, or what comes nearest to it."""
    found = apart if len(apart) else np.ones(1)
    middle = float(np.median(found))
    return middle if middle > 0 else float(found.mean()) or 1.0
