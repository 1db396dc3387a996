"""The model F G' at the stored entries, kept up to date by rank-one changes.

The authors' program changes one column of one factor at a time. Each pass here adds
the pending change ``a b'`` to the model and takes the sums that the next half step
needs, so that a sweep over K columns costs O(nnz K) and not O(nnz K^2).

Where a change takes away more than a tenth of an entry, the entry is computed anew: the
difference of two nearly equal numbers keeps no digits.
"""

from __future__ import annotations

from rprnmf.kernels import inner, kernel
from rprnmf.kernels.csr import dot

KEEPS = 0.9


@kernel
def rows_frobenius(start, stop, indptr, indices, data, model, F, G, a, b, g, tiny, above, below):
    """Row sums of x g and of (F G') g."""
    for i in range(start, stop):
        numerator = 0.0
        denominator = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            y = model[t] + a[i] * b[j]
            if y < KEEPS * model[t]:
                y = dot(F[i], G[j])
            model[t] = y
            numerator += data[t] * g[j]
            denominator += y * g[j]
        above[i] = numerator
        below[i] = denominator


@kernel
def columns_frobenius(start, stop, indptr, indices, data, model, F, G, a, b, f, tiny, above, below):
    """Column sums of x f and of (F G') f, over these rows."""
    above[:] = 0
    below[:] = 0
    for i in range(start, stop):
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            y = model[t] + a[i] * b[j]
            if y < KEEPS * model[t]:
                y = dot(F[i], G[j])
            model[t] = y
            above[j] += data[t] * f[i]
            below[j] += y * f[i]


@kernel
def rows_divergence(start, stop, indptr, indices, data, model, F, G, a, b, g, tiny, above, below):
    """Row sums of x g / (F G') and of g."""
    for i in range(start, stop):
        numerator = 0.0
        denominator = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            y = model[t] + a[i] * b[j]
            if y < KEEPS * model[t]:
                y = dot(F[i], G[j])
            model[t] = y
            numerator += data[t] * g[j] / max(y, tiny)
            denominator += g[j]
        above[i] = numerator
        below[i] = denominator


@kernel
def columns_divergence(
    start, stop, indptr, indices, data, model, F, G, a, b, f, tiny, above, below
):
    """Column sums of x f / (F G') and of f, over these rows."""
    above[:] = 0
    below[:] = 0
    for i in range(start, stop):
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            y = model[t] + a[i] * b[j]
            if y < KEEPS * model[t]:
                y = dot(F[i], G[j])
            model[t] = y
            above[j] += data[t] * f[i] / max(y, tiny)
            below[j] += f[i]


@kernel
def dense_rows_divergence(start, stop, X, model, F, G, a, b, g, tiny, room, above):
    """As `rows_divergence` where every entry is stored: contiguous, so that it vectorises."""
    m = X.shape[1]
    for i in range(start, stop):
        dense_change(X, model, F, G, a[i], b, i, room)
        x, y = X[i], model[i]
        numerator = 0.0
        for j in range(m):
            numerator += x[j] * g[j] / max(y[j], tiny)
        above[i] = numerator


@kernel
def dense_columns_divergence(start, stop, X, model, F, G, a, b, f, tiny, room, above):
    """As `columns_divergence` where every entry is stored."""
    m = X.shape[1]
    above[:] = 0
    for i in range(start, stop):
        dense_change(X, model, F, G, a[i], b, i, room)
        x, y, f_i = X[i], model[i], f[i]
        for j in range(m):
            above[j] += x[j] * f_i / max(y[j], tiny)


@inner
def dense_change(X, model, F, G, a_i, b, i, room):
    """Add a change to row i of the model."""
    y = model[i]
    lost = 0
    for j in range(y.shape[0]):
        room[j] = y[j] + a_i * b[j]
        lost += room[j] < KEEPS * y[j]
    if lost > 0:
        for j in range(y.shape[0]):
            if room[j] < KEEPS * y[j]:
                room[j] = dot(F[i], G[j])
    for j in range(y.shape[0]):
        y[j] = room[j]
