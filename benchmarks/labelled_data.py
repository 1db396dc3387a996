"""Data with classes, for clustering and for a few labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from common import load
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.feature_extraction.text import TfidfTransformer

from rprnmf.metrics import clustering_accuracy

SETS = ("digits", "wine", "breast", "ORL", "PIE", "texts")
UNSEEN = ("iris", "texts 2")  # on which no default was chosen
TABLES = {"wine": load_wine, "breast": load_breast_cancer, "iris": load_iris}


def labelled(name: str) -> tuple[Any, np.ndarray]:
    """X and the classes."""
    if name in TABLES:
        X, y = TABLES[name](return_X_y=True)
        return (X - X.min(axis=0)) / np.ptp(X, axis=0), y
    if name == "digits":
        return load_digits(return_X_y=True)
    if name.startswith("texts"):
        return texts(range(1, 21) if name == "texts" else range(21, 31))
    return load(name)


def texts(classes: range) -> tuple[sp.csr_array, np.ndarray]:
    """Sixty documents, or all, of classes of TDT2, the largest first, weighed by tf-idf."""
    X, y = load("TDT2")
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == c))[:60] for c in classes])
    X = X[rows]
    X = X[:, np.flatnonzero(np.asarray((X > 0).sum(axis=0)).ravel() >= 3)]
    return sp.csr_array(TfidfTransformer().fit_transform(X)), y[rows]


def accuracy(W: np.ndarray, y: np.ndarray, repeats: int = 3) -> float:
    """Of k-means on the rows of W, ten starts each."""
    n_classes = len(np.unique(y))
    found = [
        clustering_accuracy(y, KMeans(n_classes, n_init=10, random_state=seed).fit_predict(W))
        for seed in range(repeats)
    ]
    return float(np.mean(found))


def few(y: np.ndarray, each: int, seed: int) -> np.ndarray:
    """The labels of a few of each class, -1 elsewhere."""
    rng = np.random.default_rng(seed)
    part = np.full(len(y), -1)
    for label in np.unique(y):
        part[rng.permutation(np.flatnonzero(y == label))[:each]] = label
    return part
