"""Rows of a factor by coordinate descent on a weighted squared error, without Gram matrices.

The Gram matrix of a row costs K^2 for each of its entries (`masked_rows.py`). Here a row keeps its
residual at its entries instead, which costs K per entry and sweep: half as much from 10 components
on. What all columns weigh alike, entries that are not stored included, comes from one Gram matrix
for all rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import kernel, part
from rprnmf.kernels.csr import copy
from rprnmf.kernels.prefetch import fetch_ahead
from rprnmf.kernels.workspace import PACK

PASSING = 10  # a step of more sweeps than this solves a row to the end


class EntryWeights(NamedTuple):
    """What entries weigh."""

    excess: np.ndarray  # of every stored entry, over the weight that all columns have
    common: np.ndarray  # B'B times that weight
    along: np.ndarray  # F times this


@kernel
def weighted_rows(rows, F, data, weights, terms, effort, space):
    """Lower some rows; returns their sum of f'Qf - 2p'f, as `masked_rows.masked_rows` does.

    ``data.entries`` has weight times value.
    """
    f, g, own = space.f, space.g, space.own
    dtype = F.dtype.type
    pulled = terms.pull.shape[0] > 0
    total = 0.0
    for i in rows:
        if data.entries.indptr[i] == data.entries.indptr[i + 1] and not pulled:
            F[i] = 0  # no entry asks for anything
            continue
        copy(F[i], f)
        copy(weights.along[i], g)
        for k in range(F.shape[1]):
            own[k] = terms.members[i] * weights.common[k, k]
            g[k] *= dtype(terms.members[i])
        size, value = read(i, data, weights.excess, space)
        for k in range(F.shape[1]):
            value += np.float64(f[k]) * g[k]
        value += weigh_terms(i, terms, space)
        n_active = choose_active(effort.sweeps > PASSING, space)
        sizes = n_active, gather(i, size, n_active, data, space)
        value += descend(F[i], sizes, terms.members[i], weights.common, effort, space)
        total += value
        copy(f, F[i])
    return total


@part
def read(i, data, excess, space):
    """The entries of row i: residuals, and their parts of slope, curvature and f'Qf - 2p'f."""
    f, own, slope = space.f, space.own, space.slope
    indptr, indices, values = data.entries
    begin = indptr[i]
    size = indptr[i + 1] - begin
    value = 0.0
    slope[:] = 0
    for t in range(size):
        fetch_ahead(data.B, indices, begin + t)
        b = data.B[indices[begin + t]]
        weight = excess[begin + t]
        y = f.dtype.type(0)
        for k in range(f.shape[0]):
            y += f[k] * b[k]
        residual = weight * y - values[begin + t]
        space.weight[t] = weight
        space.residual[t] = residual
        value += (residual - values[begin + t]) * y
        for k in range(f.shape[0]):
            slope[k] += residual * b[k]
            own[k] += weight * b[k] * b[k]
    return size, value


@part
def weigh_terms(i, terms, space):
    """The terms of row i, whose curvature by its entries is there; their part of f'Qf - 2p'f."""
    f, steep, own = space.f, space.steep, space.own
    dtype = f.dtype.type
    half, zero = dtype(0.5), dtype(0)
    l2 = dtype(terms.l2[i])
    pulled = terms.pull.shape[0] > 0
    value = 0.0
    for k in range(f.shape[0]):
        plain = own[k] + l2
        both = plain + terms.members[i] * terms.m2[0, k] + l2 * terms.m2[1, k]
        # a negative multiplier leaves a coordinate at least half of its own curvature
        steep[k] = max(dtype(both), half * plain)
        space.extra[k] = steep[k] - own[k]
        space.slow[k] = max(terms.holed[i] * terms.inertia[k] - l2, zero)
        steep[k] += space.slow[k]
        space.linear[k] = half * (terms.l1[i] + terms.members[i] * terms.m1[k])
        space.pull[k] = zero
        if pulled:
            space.pull[k] = terms.pull[i, k]
            value -= 2.0 * terms.pull[i, k] * f[k]
    return value


@part
def choose_active(every, space):
    """The components that may move; how many there are.

    Zeros whose slope holds them down are left out, unless ``every`` component is wanted.
    """
    f, active = space.f, space.active
    zero = f.dtype.type(0)
    n_active = 0
    for k in range(f.shape[0]):
        ask = space.g[k] + space.slope[k] - space.pull[k] + space.linear[k]
        if every or f[k] > zero or ask < zero:
            active[n_active] = k
            n_active += 1
    return n_active


@part
def gather(i, size, n_active, data, space):
    """The other factor at the entries of row i, for components that may move; how many there are.

    Entries are filled up with such that do nothing.
    """
    active, columns = space.active, space.columns
    zero = space.f.dtype.type(0)
    begin = data.entries.indptr[i]
    for t in range(size):
        b = data.B[data.entries.indices[begin + t]]
        for a in range(n_active):
            columns[a, t] = b[active[a]]
    even = PACK * ((size + PACK - 1) // PACK)
    for t in range(size, even):
        space.residual[t] = zero
        space.weight[t] = zero
        for a in range(n_active):
            columns[a, t] = zero
    return even


@part
def descend(old, sizes, members, common, effort, space):
    """Sweeps over one row; returns the change of its f'Qf - 2p'f.

    ``sizes`` are the numbers of components that may move and of entries.
    """
    f, g, steep, own = space.f, space.g, space.steep, space.own
    residual, weight, active = space.residual, space.weight, space.active
    dtype = f.dtype.type
    zero = dtype(0)
    changed = 0.0
    first = zero
    n_active, size = sizes
    for sweep in range(effort.sweeps):
        gained = zero
        for a in range(n_active):
            k = active[a]
            b = space.columns[a]
            slope = zero
            for t in range(size):
                slope += residual[t] * b[t]
            slope += g[k] - space.pull[k]
            all_of_it = slope + space.linear[k] + space.extra[k] * f[k]
            all_of_it += space.slow[k] * (f[k] - old[k])
            new = zero if all_of_it > zero else f[k]
            if steep[k] > zero:
                new = max(f[k] - all_of_it / steep[k], zero)
            d = new - f[k]
            if d != zero:
                f[k] = new
                gained += d * d * steep[k]
                changed += np.float64(d) * (2.0 * slope + d * own[k])
                for t in range(size):
                    residual[t] += d * (weight[t] * b[t])
                row = common[k]
                step = d * dtype(members)
                for j in range(f.shape[0]):
                    g[j] += step * row[j]
        if sweep == 0:
            first = effort.share * gained
        if gained <= first:
            break
    return changed
