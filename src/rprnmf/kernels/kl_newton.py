"""Rows of a factor, solved to the end: proximal Newton steps on the divergence.

The sum of a row is  sum_k c_k f_k + u_k f_k^2 / 2 - sum_t x_t log y_t  with y = B f. Coordinate
descent comes nearer to its minimum by a constant factor per sweep, which takes hundreds of
sweeps where components overlap. Newton's steps double the correct digits: each minimises the
quadratic model with the curvature  Q = sum_t x_t / y_t^2 b_t b_t' + u  over f >= 0, by sweeps
that cost K^2 and not K times the entries of the row.

*Length of a step.* Let the slope of the sum along a step be -a at its begin and b at its end,
and the curvature along it at most a at its begin, as it is for the minimum of the model. Entries
that grow have a curvature that falls, entries that shrink one that rises; from that it follows
that the sum changes by at most b/2 - 3a/8. A step with b <= a/2 lowers it, and no logarithm is
needed to know. Other steps are halved.
"""

from __future__ import annotations

import numpy as np

from rprnmf.kernels import kernel, spliced
from rprnmf.kernels.csr import copy
from rprnmf.kernels.kl_rows import (
    RowKind,
    add_l2,
    choose_active,
    descend,
    gather,
    guard,
    read_row,
)
from rprnmf.kernels.workspace import Effort

SWEEPS_BEFORE = 3  # by coordinates, which from a poor start get further
MODEL_SWEEPS = 60  # over the quadratic model of one step, at most,
MODEL_SHARE = 1e-3  # until one brings less than this share of the first
HALVINGS = 12
# rows of NewtonWorkspace.vectors
SLOPE, MODEL_SLOPE, STEEP, NEW, OLD = range(5)


@kernel
def kl_newton_rows(rows, F, data, terms, effort, space, scratch):
    """Minimise, over some rows, the divergence and the terms of the rows.

    A row comes out the same whatever rows come with it.
    """
    eps = np.finfo(F.dtype).eps
    for i in rows:
        least = F.dtype.type(data.floors[i if data.floors.shape[0] > 1 else 0])
        copy(F[i], space.f)
        size = read_row(i, data, least, space)
        if size == 0 and terms.pull.shape[0] == 0:  # no entry asks for anything
            F[i] = 0
            continue
        quadratic = terms.l2[i] > 0.0
        space.side[:] = 0.0
        space.up[:] = 0.0
        if quadratic:
            add_l2(terms, i, space)
        n_active = choose_active(i, data, terms, space)
        gather(data.B, size, n_active, space)
        copy(space.y[:size], space.before)
        kind = RowKind(i, size, space.columns, n_active, 0, quadratic)
        before = Effort(min(SWEEPS_BEFORE, effort.sweeps), effort.share, False)
        enough, gained = descend(kind, data.B, least, terms, before, space)
        if gained > enough and effort.sweeps > SWEEPS_BEFORE:
            total = F.dtype.type(0)
            for t in range(size):
                total += space.x[t]
            # gains that rounding hides are none
            enough = max(enough, eps * total)
            newton(kind, least, enough, effort.sweeps - SWEEPS_BEFORE, space, scratch)
        guard(None, F, kind, data.B, quadratic, least, space)
        copy(space.f, F[i])


@spliced
def newton(kind, least, enough, n_steps, space, scratch):
    """Newton's steps until one promises no more than ``enough``."""
    f, free = space.f, scratch.free
    slope, new, old = scratch.vectors[SLOPE], scratch.vectors[NEW], scratch.vectors[OLD]
    half = f.dtype.type(0.5)
    zero = f.dtype.type(0)
    slopes(kind, least, space, scratch)
    for _ in range(n_steps):
        n_free = choose_free(kind, space, scratch)
        curvature(kind, n_free, space, scratch)
        promise = minimise_model(n_free, space, scratch)
        if not promise > zero:  # nor NaN
            return
        length = f.dtype.type(1)
        for _ in range(HALVINGS):
            for p in range(n_free):
                f[free[p]] = max(old[p] + length * (new[p] - old[p]), zero)
            slopes(kind, least, space, scratch)
            after = zero
            for p in range(n_free):
                after += slope[free[p]] * (new[p] - old[p])
            if after <= half * promise:
                break
            length *= half
        if not after <= half * promise:
            for p in range(n_free):
                f[free[p]] = old[p]
            slopes(kind, least, space, scratch)
            return
        if promise <= enough:
            return


@spliced
def slopes(kind, least, space, scratch):
    """The model, and the slope of the row's sum in every component that may move."""
    f, y, inverse, columns = space.f, space.y, space.inverse, kind.columns
    ratio, slope = scratch.ratio, scratch.vectors[SLOPE]
    one = f.dtype.type(1)
    size = kind.size
    for t in range(size):
        y[t] = 0
    for a in range(kind.n_active):
        k = space.active[a]
        if f[k] > 0:
            b = columns[k]
            for t in range(size):
                y[t] += f[k] * b[t]
    for t in range(size):
        y[t] = max(y[t], least)
        inverse[t] = one / y[t]
        ratio[t] = space.x[t] * inverse[t]
    for a in range(kind.n_active):
        k = space.active[a]
        b = columns[k]
        phi = f.dtype.type(0)
        for t in range(size):
            phi += ratio[t] * b[t]
        slope[k] = space.linear[k] + f.dtype.type(space.up[k]) * f[k] - phi


@spliced
def choose_free(kind, space, scratch):
    """The components that a step may change: not zeros that their slope holds down."""
    slope, old = scratch.vectors[SLOPE], scratch.vectors[OLD]
    n_free = 0
    for a in range(kind.n_active):
        k = space.active[a]
        if space.f[k] > 0 or slope[k] < 0:
            scratch.free[n_free] = k
            old[n_free] = space.f[k]
            n_free += 1
    return n_free


@spliced
def curvature(kind, n_free, space, scratch):
    """Q of the free components; four sums at a time keep the machine busy."""
    Q, columns, free, weighted = scratch.Q, kind.columns, scratch.free, scratch.weighted
    dtype = space.f.dtype.type
    for p in range(n_free):
        own = columns[free[p]]
        for t in range(kind.size):
            weighted[t] = own[t] * space.inverse[t] * scratch.ratio[t]
        q = 0
        while q + 4 <= p:
            a, b = columns[free[q]], columns[free[q + 1]]
            c, d = columns[free[q + 2]], columns[free[q + 3]]
            s1, s2, s3, s4 = dtype(0), dtype(0), dtype(0), dtype(0)
            for t in range(kind.size):
                s1 += weighted[t] * a[t]
                s2 += weighted[t] * b[t]
                s3 += weighted[t] * c[t]
                s4 += weighted[t] * d[t]
            Q[p, q], Q[p, q + 1], Q[p, q + 2], Q[p, q + 3] = s1, s2, s3, s4
            q += 4
        while q <= p:
            a = columns[free[q]]
            s1 = dtype(0)
            for t in range(kind.size):
                s1 += weighted[t] * a[t]
            Q[p, q] = s1
            q += 1
        for q in range(p):
            Q[q, p] = Q[p, q]
        Q[p, p] += dtype(space.up[free[p]])


@spliced
def minimise_model(n_free, space, scratch):
    """Sweeps over the quadratic model from ``OLD`` to ``NEW``; minus the slope along the step."""
    Q, free = scratch.Q, scratch.free
    slope, g, inverse = scratch.vectors[SLOPE], scratch.vectors[MODEL_SLOPE], scratch.vectors[STEEP]
    new, old = scratch.vectors[NEW], scratch.vectors[OLD]
    zero = space.f.dtype.type(0)
    one = space.f.dtype.type(1)
    for p in range(n_free):
        new[p] = old[p]
        g[p] = slope[free[p]]
        inverse[p] = one / Q[p, p] if Q[p, p] > zero else zero
        if Q[p, p] <= zero and g[p] > zero:
            new[p] = zero
    first = zero
    for sweep in range(MODEL_SWEEPS):
        gained = zero
        coming = g[0]
        for p in range(n_free):
            current = coming
            after = p + 1 if p + 1 < n_free else 0
            coming = g[after]
            d = max(new[p] - current * inverse[p], zero) - new[p]
            if d != zero:
                row = Q[p]
                coming += d * row[after]
                gained += d * d * row[p]
                new[p] += d
                for q in range(n_free):
                    g[q] += d * row[q]
        if sweep == 0:
            first = space.f.dtype.type(MODEL_SHARE) * gained
        if gained <= first:
            break
    promise = zero
    for p in range(n_free):
        promise -= slope[free[p]] * (new[p] - old[p])
    return promise
