"""Weighted losses written out entry by entry, in plain numpy over dense arrays."""

from __future__ import annotations

import numpy as np


def dense_problem(X, mask, layout, weights, missing_weight):
    """Values and weights of all entries: what is missing is a zero of the missing weight."""
    seen = np.ones_like(mask) if layout in ("dense", "sparse") else mask
    unstored = X == 0 if layout in ("sparse", "sparse-nan") else np.zeros_like(mask)
    C = np.where(unstored, 1.0, weights)  # entries that are not stored have no weight of their own
    return np.where(seen, X, 0.0), np.where(seen, C, missing_weight)


def squared_error(X, C, Y):
    return float(np.sum(C * (X - Y) ** 2))


def divergence(X, C, Y):
    logs = np.where(X > 0, X * np.log(np.where(X > 0, X, 1.0) / Y), 0.0)
    return float(np.sum(C * (logs - X + Y)))


def row_gram(B, c):
    """Q = sum of c_j b_j b_j'."""
    return (B * c[:, None]).T @ B


def sweep_row(f, B, x, c, l1, l2):
    """One sweep of coordinate descent over a row of the squared error."""
    f = f.copy()
    for k in range(len(f)):
        slope = l1 / 2 + l2 * f[k] - np.sum(c * (x - B @ f) * B[:, k])
        curvature = np.sum(c * B[:, k] ** 2) + l2
        f[k] = max(f[k] - slope / curvature, 0.0)
    return f
