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
    f, g, steep, own = space.f, space.g, space.steep, space.own
    linear, extra, slow = space.linear, space.extra, space.slow
    dtype = F.dtype.type
    half, zero = dtype(0.5), dtype(0)
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
        l2 = dtype(terms.l2[i])
        for k in range(F.shape[1]):
            value += np.float64(f[k]) * g[k]
            plain = own[k] + l2
            both = plain + terms.members[i] * terms.m2[0, k] + l2 * terms.m2[1, k]
            # a negative multiplier leaves a coordinate at least half of its own curvature
            steep[k] = max(dtype(both), half * plain)
            extra[k] = steep[k] - own[k]
            slow[k] = max(terms.holed[i] * terms.inertia[k] - l2, zero)
            steep[k] += slow[k]
            linear[k] = half * (terms.l1[i] + terms.members[i] * terms.m1[k])
            space.pull[k] = zero
            if pulled:
                space.pull[k] = terms.pull[i, k]
                value -= 2.0 * terms.pull[i, k] * f[k]
        sizes = choose_active(i, size, data, effort.sweeps > PASSING, space)
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
def choose_active(i, size, data, every, space):
    """The components that may move, and the other factor there; how many there are, and entries.

    Zeros whose slope holds them down are left out, unless ``every`` component is wanted. Entries
    are filled up with such that do nothing.
    """
    f, active, columns = space.f, space.active, space.columns
    zero = f.dtype.type(0)
    n_active = 0
    for k in range(f.shape[0]):
        ask = space.g[k] + space.slope[k] - space.pull[k] + space.linear[k]
        if every or f[k] > zero or ask < zero:
            active[n_active] = k
            n_active += 1
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
    return n_active, even


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
