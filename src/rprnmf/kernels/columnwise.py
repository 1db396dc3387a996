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
        first, last = indptr[i], indptr[i + 1]
        x, y, js = data[first:last], model[first:last], indices[first:last]
        a_i = a[i]
        numerator = 0.0
        denominator = 0.0
        lost = 0
        for t in range(js.shape[0]):
            j = js[t]
            new = y[t] + a_i * b[j]
            lost += new < KEEPS * y[t]
            y[t] = new
            numerator += x[t] * g[j]
            denominator += new * g[j]
        if lost > 0:
            stored_anew(y, js, F[i], G, a_i, b)
            denominator = 0.0
            for t in range(js.shape[0]):
                denominator += y[t] * g[js[t]]
        above[i] = numerator
        below[i] = denominator


@kernel
def columns_frobenius(start, stop, indptr, indices, data, model, F, G, a, b, f, tiny, above, below):
    """Column sums of x f and of (F G') f, over these rows."""
    above[:] = 0
    below[:] = 0
    for i in range(start, stop):
        first, last = indptr[i], indptr[i + 1]
        x, y, js = data[first:last], model[first:last], indices[first:last]
        a_i, f_i = a[i], f[i]
        lost = 0
        for t in range(js.shape[0]):
            j = js[t]
            new = y[t] + a_i * b[j]
            lost += new < KEEPS * y[t]
            y[t] = new
            above[j] += x[t] * f_i
            below[j] += new * f_i
        if lost > 0:
            for t in range(js.shape[0]):
                below[js[t]] -= y[t] * f_i
            stored_anew(y, js, F[i], G, a_i, b)
            for t in range(js.shape[0]):
                below[js[t]] += y[t] * f_i


@kernel
def rows_divergence(start, stop, indptr, indices, data, model, F, G, a, b, g, tiny, above, below):
    """Row sums of x g / (F G') and of g."""
    for i in range(start, stop):
        first, last = indptr[i], indptr[i + 1]
        x, y, js = data[first:last], model[first:last], indices[first:last]
        a_i = a[i]
        numerator = 0.0
        denominator = 0.0
        lost = 0
        for t in range(js.shape[0]):
            j = js[t]
            new = y[t] + a_i * b[j]
            lost += new < KEEPS * y[t]
            y[t] = new
            numerator += x[t] * g[j] / max(new, tiny)
            denominator += g[j]
        if lost > 0:
            stored_anew(y, js, F[i], G, a_i, b)
            numerator = 0.0
            for t in range(js.shape[0]):
                numerator += x[t] * g[js[t]] / max(y[t], tiny)
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
        first, last = indptr[i], indptr[i + 1]
        x, y, js = data[first:last], model[first:last], indices[first:last]
        a_i, f_i = a[i], f[i]
        lost = 0
        for t in range(js.shape[0]):
            new = y[t] + a_i * b[js[t]]
            lost += new < KEEPS * y[t]
            y[t] = new
        if lost > 0:
            stored_anew(y, js, F[i], G, a_i, b)
        for t in range(js.shape[0]):
            j = js[t]
            above[j] += x[t] * f_i / max(y[t], tiny)
            below[j] += f_i


@inner
def stored_anew(y, js, f, G, a_i, b):
    """As `anew`, for a row of which not every entry is stored."""
    for t in range(js.shape[0]):
        j = js[t]
        if y[t] < KEEPS * (y[t] - a_i * b[j]):
            y[t] = dot(f, G[j])


@kernel
def dense_rows_divergence(start, stop, X, model, F, G, a, b, g, tiny, above):
    """As `rows_divergence` where every entry is stored: one loop, which vectorises."""
    for i in range(start, stop):
        x, y, a_i = X[i], model[i], a[i]
        numerator = 0.0
        lost = 0
        for j in range(x.shape[0]):
            new = y[j] + a_i * b[j]
            lost += new < KEEPS * y[j]
            y[j] = new
            numerator += x[j] * g[j] / max(new, tiny)
        if lost > 0:
            numerator = 0.0
            anew(y, F[i], G, a_i, b)
            for j in range(x.shape[0]):
                numerator += x[j] * g[j] / max(y[j], tiny)
        above[i] = numerator


@kernel
def dense_columns_divergence(start, stop, X, model, F, G, a, b, f, tiny, above):
    """As `columns_divergence` where every entry is stored."""
    above[:] = 0
    for i in range(start, stop):
        x, y, a_i, f_i = X[i], model[i], a[i], f[i]
        lost = 0
        for j in range(x.shape[0]):
            new = y[j] + a_i * b[j]
            lost += new < KEEPS * y[j]
            y[j] = new
        if lost > 0:
            anew(y, F[i], G, a_i, b)
        for j in range(x.shape[0]):
            above[j] += x[j] * f_i / max(y[j], tiny)


@kernel
def dense_both_divergence(start, stop, X, model, F, G, a, b, k, g, below, tiny, above):
    """Both passes in one, where nothing but the data acts on F: a row of X is read once.

    F[:, k] changes by the rule of the rows, whose denominators are all ``below``; the column
    sums are those after it.
    """
    above[:] = 0
    for i in range(start, stop):
        x, y, a_i = X[i], model[i], a[i]
        numerator = 0.0
        lost = 0
        for j in range(x.shape[0]):
            new = y[j] + a_i * b[j]
            lost += new < KEEPS * y[j]
            y[j] = new
            numerator += x[j] * g[j] / max(new, tiny)
        if lost > 0:
            numerator = 0.0
            anew(y, F[i], G, a_i, b)
            for j in range(x.shape[0]):
                numerator += x[j] * g[j] / max(y[j], tiny)
        old = F[i, k]
        F[i, k] = old * numerator / below
        f_i = F[i, k]
        step = f_i - old
        lost = 0
        for j in range(x.shape[0]):
            new = y[j] + step * g[j]
            lost += new < KEEPS * y[j]
            y[j] = new
        if lost > 0:
            anew(y, F[i], G, step, g)
        for j in range(x.shape[0]):
            above[j] += x[j] * f_i / max(y[j], tiny)


@inner
def anew(y, f, G, a_i, b):
    """Compute those entries of a row of the model anew that a change took too much from."""
    for j in range(y.shape[0]):
        if y[j] < KEEPS * (y[j] - a_i * b[j]):
            y[j] = dot(f, G[j])
