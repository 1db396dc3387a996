"""The model F G' at the stored entries, kept up to date by rank-one changes.

The authors' program changes one column of one factor at a time. Each pass here adds
the pending change ``a b'`` to the model and takes the sums that the next half step
needs, so that a sweep over K columns costs O(nnz K) and not O(nnz K^2). ``at`` are the fields of
`StoredModel` or `DenseModel`, ``change`` is (a, b), what the model lacks since one column of one
factor changed; ``above`` and ``below`` are the sums for numerators and denominators.

Where a change takes away more than a tenth of an entry, the entry is computed anew: the
difference of two nearly equal numbers keeps no digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import inner, kernel, spliced
from rprnmf.kernels.csr import Stored, dot

KEEPS = 0.9  # an entry that keeps less of its value in one change is computed anew


class StoredModel(NamedTuple):
    """X and its model at the stored entries."""

    stored: Stored
    model: np.ndarray  # one value per entry
    F: np.ndarray
    G: np.ndarray
    tiny: float  # the least that a model value counts as below a fraction bar


class DenseModel(NamedTuple):
    """The same where every entry is stored."""

    X: np.ndarray
    model: np.ndarray  # of the shape of X
    F: np.ndarray
    G: np.ndarray
    tiny: float


@kernel
def rows_frobenius(start, stop, at, change, g, above, below):
    """Row sums of x g and of (F G') g."""
    (indptr, indices, data), model, F, G, _ = at
    a, b = change
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
def columns_frobenius(start, stop, at, change, f, above, below):
    """Column sums of x f and of (F G') f, over these rows."""
    (indptr, indices, data), model, F, G, _ = at
    a, b = change
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
def rows_divergence(start, stop, at, change, g, above, below):
    """Row sums of x g / (F G') and of g."""
    (indptr, indices, data), model, F, G, tiny = at
    a, b = change
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
def columns_divergence(start, stop, at, change, f, above, below):
    """Column sums of x f / (F G') and of f, over these rows."""
    (indptr, indices, data), model, F, G, tiny = at
    a, b = change
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
def dense_rows_divergence(start, stop, at, change, g, above):
    """As `rows_divergence` where every entry is stored: one loop, which vectorises."""
    X, model, F, G, tiny = at
    a, b = change
    for i in range(start, stop):
        above[i] = row_sum(X[i], model[i], F[i], G, a[i], b, g, tiny)


@kernel
def dense_columns_divergence(start, stop, at, change, f, above):
    """As `columns_divergence` where every entry is stored."""
    X, model, F, G, tiny = at
    a, b = change
    above[:] = 0
    for i in range(start, stop):
        move_row(model[i], F[i], G, a[i], b)
        add_row(X[i], model[i], f[i], tiny, above)


@kernel
def dense_both_divergence(start, stop, at, change, k, g, below, above):
    """Both passes in one, where nothing but the data acts on F: a row of X is read once.

    F[:, k] changes by the rule of the rows, whose denominators are all ``below``; the column
    sums are those after it. Four rows in step, so that what belongs to columns is read once for
    four of them: the loop waits for memory.
    """
    X, model, F, G, tiny = at
    a, b = change
    above[:] = 0
    last = stop - (stop - start) % 4
    for i in range(start, last, 4):
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        y0, y1, y2, y3 = model[i], model[i + 1], model[i + 2], model[i + 3]
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        sum0, sum1, sum2, sum3 = 0.0, 0.0, 0.0, 0.0
        lost = 0
        for j in range(g.shape[0]):
            new0, new1 = y0[j] + a0 * b[j], y1[j] + a1 * b[j]
            new2, new3 = y2[j] + a2 * b[j], y3[j] + a3 * b[j]
            lost += (new0 < KEEPS * y0[j]) | (new1 < KEEPS * y1[j])
            lost += (new2 < KEEPS * y2[j]) | (new3 < KEEPS * y3[j])
            y0[j], y1[j], y2[j], y3[j] = new0, new1, new2, new3
            sum0 += x0[j] * g[j] / max(new0, tiny)
            sum1 += x1[j] * g[j] / max(new1, tiny)
            sum2 += x2[j] * g[j] / max(new2, tiny)
            sum3 += x3[j] * g[j] / max(new3, tiny)
        if lost > 0:
            sum0 = sum_anew(x0, y0, F[i], G, a0, b, g, tiny)
            sum1 = sum_anew(x1, y1, F[i + 1], G, a1, b, g, tiny)
            sum2 = sum_anew(x2, y2, F[i + 2], G, a2, b, g, tiny)
            sum3 = sum_anew(x3, y3, F[i + 3], G, a3, b, g, tiny)
        old0, old1, old2, old3 = F[i, k], F[i + 1, k], F[i + 2, k], F[i + 3, k]
        F[i, k], F[i + 1, k] = old0 * sum0 / below, old1 * sum1 / below
        F[i + 2, k], F[i + 3, k] = old2 * sum2 / below, old3 * sum3 / below
        f0, f1, f2, f3 = F[i, k], F[i + 1, k], F[i + 2, k], F[i + 3, k]
        step0, step1, step2, step3 = f0 - old0, f1 - old1, f2 - old2, f3 - old3
        if min(sum0, sum1, sum2, sum3) < KEEPS * below:
            move_row(y0, F[i], G, step0, g)
            add_row(x0, y0, f0, tiny, above)
            move_row(y1, F[i + 1], G, step1, g)
            add_row(x1, y1, f1, tiny, above)
            move_row(y2, F[i + 2], G, step2, g)
            add_row(x2, y2, f2, tiny, above)
            move_row(y3, F[i + 3], G, step3, g)
            add_row(x3, y3, f3, tiny, above)
            continue
        for j in range(g.shape[0]):  # component k kept 0.9 of itself, so the whole entry did
            new0, new1 = y0[j] + step0 * g[j], y1[j] + step1 * g[j]
            new2, new3 = y2[j] + step2 * g[j], y3[j] + step3 * g[j]
            y0[j], y1[j], y2[j], y3[j] = new0, new1, new2, new3
            above[j] += (x0[j] * f0 / max(new0, tiny) + x1[j] * f1 / max(new1, tiny)) + (
                x2[j] * f2 / max(new2, tiny) + x3[j] * f3 / max(new3, tiny)
            )
    for i in range(last, stop):
        x, y, old = X[i], model[i], F[i, k]
        F[i, k] = old * row_sum(x, y, F[i], G, a[i], b, g, tiny) / below
        move_row(y, F[i], G, F[i, k] - old, g)
        add_row(x, y, F[i, k], tiny, above)


@spliced
def row_sum(x, y, f, G, a_i, b, g, tiny):
    """Add ``a_i b`` to a row y of the model and sum x g / y."""
    total = 0.0
    lost = 0
    for j in range(x.shape[0]):
        new = y[j] + a_i * b[j]
        lost += new < KEEPS * y[j]
        y[j] = new
        total += x[j] * g[j] / max(new, tiny)
    if lost > 0:
        total = sum_anew(x, y, f, G, a_i, b, g, tiny)
    return total


@spliced
def sum_anew(x, y, f, G, a_i, b, g, tiny):
    """Sum x g / y after ``a_i b`` took too much from entries of y."""
    anew(y, f, G, a_i, b)
    total = 0.0
    for j in range(x.shape[0]):
        total += x[j] * g[j] / max(y[j], tiny)
    return total


@spliced
def move_row(y, f, G, a_i, b):
    """Add ``a_i b`` to a row y of the model."""
    lost = 0
    for j in range(y.shape[0]):
        new = y[j] + a_i * b[j]
        lost += new < KEEPS * y[j]
        y[j] = new
    if lost > 0:
        anew(y, f, G, a_i, b)


@spliced
def add_row(x, y, f_i, tiny, above):
    """Add x f_i / y to the sums of the columns."""
    for j in range(x.shape[0]):
        above[j] += x[j] * f_i / max(y[j], tiny)


@inner
def anew(y, f, G, a_i, b):
    """Compute those entries of a row of the model anew that a change took too much from."""
    for j in range(y.shape[0]):
        if y[j] < KEEPS * (y[j] - a_i * b[j]):
            y[j] = dot(f, G[j])
