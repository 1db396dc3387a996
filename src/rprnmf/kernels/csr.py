"""Products with the stored entries of a sparse matrix.

``F`` (rows, K) and ``G`` (columns, K) are the factors of X ~ F G'. Nothing larger than the
outputs is allocated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import inner, kernel
from rprnmf.kernels.prefetch import fetch_ahead


class Stored(NamedTuple):
    """Entries in row order: those of row i are from ``indptr[i]`` up to ``indptr[i + 1]``."""

    indptr: np.ndarray
    indices: np.ndarray  # the column of each entry
    data: np.ndarray


@inner
def dot(f, g):
    total = 0.0
    for k in range(f.shape[0]):
        total += f[k] * g[k]
    return total


@inner
def copy(source, target):
    """target = source; numba compiles an assignment of arrays for seconds, this at once."""
    for k in range(source.shape[0]):
        target[k] = source[k]


@kernel
def column_moments(indices, data, first, second):
    """Add the sums of x and of x^2 over the stored entries of each column."""
    for t in range(data.shape[0]):
        x = np.float64(data[t])
        first[indices[t]] += x
        second[indices[t]] += x * x


@kernel
def times(start, stop, stored, G, out):
    """out = X G."""
    indptr, indices, data = stored
    for i in range(start, stop):
        row = out[i]
        row[:] = 0
        for t in range(indptr[i], indptr[i + 1]):
            fetch_ahead(G, indices, t)
            x = data[t]
            g = G[indices[t]]
            for k in range(row.shape[0]):
                row[k] += x * g[k]


@kernel
def ones_times(start, stop, stored, G, out):
    """out = 1 G, the ones standing at the stored entries."""
    indptr, indices, _ = stored
    for i in range(start, stop):
        row = out[i]
        row[:] = 0
        for t in range(indptr[i], indptr[i + 1]):
            fetch_ahead(G, indices, t)
            g = G[indices[t]]
            for k in range(row.shape[0]):
                row[k] += g[k]


@kernel
def model_times(start, stop, stored, F, G, out):
    """out = [F G'] G, the product taken at the stored entries."""
    indptr, indices, _ = stored
    for i in range(start, stop):
        row = out[i]
        row[:] = 0
        for t in range(indptr[i], indptr[i + 1]):
            fetch_ahead(G, indices, t)
            g = G[indices[t]]
            y = dot(F[i], g)
            for k in range(row.shape[0]):
                row[k] += y * g[k]


@kernel
def ratio_times(start, stop, stored, F, G, floor, out):
    """out = [X / max(F G', floor)] G."""
    indptr, indices, data = stored
    for i in range(start, stop):
        row = out[i]
        row[:] = 0
        for t in range(indptr[i], indptr[i + 1]):
            fetch_ahead(G, indices, t)
            g = G[indices[t]]
            ratio = data[t] / max(dot(F[i], g), floor)
            for k in range(row.shape[0]):
                row[k] += ratio * g[k]


@kernel
def model(start, stop, stored, F, G, out):
    """out[t] = (F G') at the stored entry t."""
    indptr, indices, _ = stored
    for i in range(start, stop):
        for t in range(indptr[i], indptr[i + 1]):
            out[t] = dot(F[i], G[indices[t]])


@kernel
def squared_error(start, stop, stored, F, G):
    """Sums over the stored entries of (x - y)^2 and of y^2."""
    indptr, indices, data = stored
    error = 0.0
    squares = 0.0
    for i in range(start, stop):
        for t in range(indptr[i], indptr[i + 1]):
            fetch_ahead(G, indices, t)
            y = dot(F[i], G[indices[t]])
            error += (data[t] - y) ** 2
            squares += y * y
    return error, squares


@kernel
def divergence(start, stop, stored, F, G, floor):
    """Sums over the stored entries of x log(x/y) - x + y and of y."""
    indptr, indices, data = stored
    total = 0.0
    sums = 0.0
    for i in range(start, stop):
        for t in range(indptr[i], indptr[i + 1]):
            fetch_ahead(G, indices, t)
            x = data[t]
            y = dot(F[i], G[indices[t]])
            total += y - x
            sums += y
            if x > 0:
                total += x * np.log(x / max(y, floor))
    return total, sums


@kernel
def ones_except(rows, holes, G, out):
    """out[i] = sum of the rows of G but those at the holes of row i, for given rows i."""
    indptr, indices, _ = holes
    for i in rows:
        row = out[i]
        row[:] = 0
        t = indptr[i]
        for j in range(G.shape[0]):
            if t < indptr[i + 1] and indices[t] == j:
                t += 1
                continue
            for k in range(row.shape[0]):
                row[k] += G[j, k]


@kernel
def model_except(rows, holes, F, G, first, out):
    """out[i] = [F G'] G over all columns but the holes of row i, for given rows i.

    ``out`` may have fewer columns than G: those from ``first`` on.
    """
    indptr, indices, _ = holes
    for i in rows:
        row = out[i]
        row[:] = 0
        t = indptr[i]
        for j in range(G.shape[0]):
            if t < indptr[i + 1] and indices[t] == j:
                t += 1
                continue
            y = dot(F[i], G[j])
            for k in range(row.shape[0]):
                row[k] += y * G[j, first + k]


@kernel
def loss_except(rows, stored, holes, F, G, floor, divergence):
    """The loss of given rows over all columns but their holes, unstored entries being 0."""
    indptr, indices, data = stored
    total = 0.0
    for i in rows:
        t = indptr[i]
        h = holes.indptr[i]
        for j in range(G.shape[0]):
            x = 0.0
            if t < indptr[i + 1] and indices[t] == j:
                x = data[t]
                t += 1
            if h < holes.indptr[i + 1] and holes.indices[h] == j:
                h += 1
                continue
            y = dot(F[i], G[j])
            if not divergence:
                total += (x - y) ** 2
            else:
                total += y - x
                if x > 0:
                    total += x * np.log(x / max(y, floor))
    return total
