"""Coordinate descent in the rows of a factor F, with the other factor B fixed.

A *unit* is what moves as one: a row, or the rows that a label ties together. ``unit`` and
``member`` list the rows of every unit. All kernels lower

    loss(F) + sum_ik (l1[i] + m1[k]) F_ik + (l2[i] + m2[k]) F_ik^2 + coupling

coordinate by coordinate; a step that would raise it is halved until it does not.
"""

from __future__ import annotations

import numpy as np

from rprnmf.kernels import kernel
from rprnmf.kernels.csr import dot
from rprnmf.kernels.triplet_terms import change, move, slope_and_curvature

HALVINGS = 40
LEAST = 1e-6  # share of a model value that one step must leave


@kernel
def descend_quadratic(f, g, Q, h, sweeps, share):
    """Lower f'Qf - 2p'f by sweeps over f; g = Qf - p (with linear terms) is kept up to date.

    ``h`` is the curvature of every coordinate, at least Q_kk. Ends when a sweep brings less
    than ``share`` of what the first brought.
    """
    K = f.shape[0]
    first = 0.0
    for sweep in range(sweeps):
        gained = 0.0
        for k in range(K):
            if h[k] <= 0.0:
                continue
            new = max(f[k] - g[k] / h[k], 0.0)
            d = new - f[k]
            if d != 0.0:
                gained += d * d * h[k]
                extra = h[k] - Q[k, k]
                f[k] = new
                for j in range(K):
                    g[j] += d * Q[k, j]
                g[k] += d * extra
        if sweep == 0:
            first = gained
        if gained <= share * first:
            break


@kernel
def representable(F, i, k, d):
    """The step that F[i, k] really makes when d is added in its own precision."""
    old = F[i, k]
    F[i, k] = max(np.float64(old) + d, 0.0)
    d = np.float64(F[i, k]) - np.float64(old)
    F[i, k] = old
    return d


@kernel
def descend_coupled(F, i, f, g, Q, h, coupling, sweeps, share):
    """The same for a row that triplets or a graph couple to others; F[i] moves at once."""
    K = f.shape[0]
    first = 0.0
    for sweep in range(sweeps):
        gained = 0.0
        for k in range(K):
            slope, curvature = slope_and_curvature(coupling, F, i, k)
            bend = 2.0 * h[k] + curvature
            if bend <= 0.0:
                continue
            d = max(-(2.0 * g[k] + slope) / bend, -f[k])
            rise = 1.0
            for _ in range(HALVINGS):
                d = representable(F, i, k, d)
                rise = d * (2.0 * g[k] + h[k] * d) + change(coupling, F, i, k, d)
                if rise <= 0.0:
                    break
                d *= 0.5
            if d != 0.0 and rise <= 0.0:
                gained -= rise
                extra = h[k] - Q[k, k]
                move(coupling, F, i, k, d)
                f[k] += d
                F[i, k] = f[k]
                for j in range(K):
                    g[j] += d * Q[k, j]
                g[k] += d * extra
        if sweep == 0:
            first = gained
        if gained <= share * first:
            break


@kernel
def start_quadratic(f, p, Q, l1, l2, m1, m2, g, h):
    """Half the gradient and half the curvature at f.

    A negative multiplier leaves a coordinate at least half of its own curvature.
    """
    for k in range(f.shape[0]):
        own = Q[k, k] + l2
        h[k] = max(own + m2[k], 0.5 * own)
        g[k] = dot(Q[k], f) - p[k] + 0.5 * (l1 + m1[k]) + (h[k] - Q[k, k]) * f[k]


@kernel
def full_rows(
    units, unit, member, F, P, G, B, holes, hole, l1, l2, m1, m2, coupling, coupled, sweeps, share
):
    """Frobenius, complete data but for a few holes: P = X B and G = B'B.

    ``hole[holes[i]:holes[i + 1]]`` are the columns that row i does not observe.
    """
    K = F.shape[1]
    f = np.empty(K)
    p = np.empty(K)
    g = np.empty(K)
    h = np.empty(K)
    Q = np.empty((K, K))
    for u in units:
        n = unit[u + 1] - unit[u]
        p[:] = 0.0
        a = 0.0
        b = 0.0
        for place in range(unit[u], unit[u + 1]):
            i = member[place]
            a += l1[i]
            b += l2[i]
            for k in range(K):
                p[k] += P[i, k]
        Q[:] = 0.0
        for place in range(unit[u], unit[u + 1]):
            i = member[place]
            t = holes[i]
            if t == holes[i + 1]:
                Q += G
                continue
            for column in range(B.shape[0]):
                if t < holes[i + 1] and hole[t] == column:
                    t += 1
                    continue
                v = B[column]
                for k in range(K):
                    for j in range(K):
                        Q[k, j] += v[k] * v[j]
        i = member[unit[u]]
        for k in range(K):
            f[k] = F[i, k]
        if not coupled and Q.max() == 0.0 and p.max() == 0.0 and B.any():
            f[:] = 0.0  # nothing is observed here, nothing is asked
        start_quadratic(f, p, Q, a, b, n * m1, n * m2, g, h)
        if coupled:
            descend_coupled(F, i, f, g, Q, h, coupling, sweeps, share)
        else:
            descend_quadratic(f, g, Q, h, sweeps, share)
        for place in range(unit[u], unit[u + 1]):
            F[member[place]] = f


@kernel
def masked_rows(
    units,
    unit,
    member,
    F,
    B,
    indptr,
    indices,
    data,
    l1,
    l2,
    m1,
    m2,
    coupling,
    coupled,
    sweeps,
    share,
):
    """Frobenius, incomplete data: every unit has a Gram matrix of its own."""
    K = F.shape[1]
    f = np.empty(K)
    p = np.empty(K)
    g = np.empty(K)
    h = np.empty(K)
    Q = np.empty((K, K))
    for u in units:
        n = unit[u + 1] - unit[u]
        p[:] = 0.0
        Q[:] = 0.0
        a = 0.0
        b = 0.0
        for place in range(unit[u], unit[u + 1]):
            i = member[place]
            a += l1[i]
            b += l2[i]
            for t in range(indptr[i], indptr[i + 1]):
                x = data[t]
                v = B[indices[t]]
                for k in range(K):
                    p[k] += x * v[k]
                    y = v[k]
                    for j in range(k + 1):
                        Q[k, j] += y * v[j]
        for k in range(K):
            for j in range(k):
                Q[j, k] = Q[k, j]
        i = member[unit[u]]
        for k in range(K):
            f[k] = F[i, k]
        if not coupled and Q.max() == 0.0 and p.max() == 0.0 and B.any():
            f[:] = 0.0  # nothing is observed here, nothing is asked
        start_quadratic(f, p, Q, a, b, n * m1, n * m2, g, h)
        if coupled:
            descend_coupled(F, i, f, g, Q, h, coupling, sweeps, share)
        else:
            descend_quadratic(f, g, Q, h, sweeps, share)
        for place in range(unit[u], unit[u + 1]):
            F[member[place]] = f


@kernel
def divergence_rows(
    units,
    unit,
    member,
    F,
    B,
    indptr,
    indices,
    data,
    sums,
    l1,
    l2,
    m1,
    m2,
    coupling,
    coupled,
    sweeps,
    share,
    floor,
):
    """Kullback-Leibler: sums[i] holds the sums of B over the observed columns of row i.

    Without quadratic terms a coordinate takes Newton's step on 1/phi, phi = sum x b / y,
    which from below never passes the minimum; zeros whose slope holds them down are skipped.
    """
    K = F.shape[1]
    f = np.empty(K)
    c = np.empty(K)
    most = 0
    for u in units:
        size = 0
        for place in range(unit[u], unit[u + 1]):
            i = member[place]
            size += indptr[i + 1] - indptr[i]
        most = max(most, size)
    x = np.empty(most)
    y = np.empty(most)
    column = np.empty(most, dtype=np.int64)
    for u in units:
        n = unit[u + 1] - unit[u]
        size = 0
        lin = 0.0
        quad = 0.0
        i = member[unit[u]]
        c[:] = 0.0
        for k in range(K):
            f[k] = F[i, k]
        for place in range(unit[u], unit[u + 1]):
            row = member[place]
            lin += l1[row]
            quad += l2[row]
            for k in range(K):
                c[k] += sums[row, k]
            for t in range(indptr[row], indptr[row + 1]):
                if data[t] > 0:
                    x[size] = data[t]
                    column[size] = indices[t]
                    y[size] = max(dot(f, B[indices[t]]), floor)
                    size += 1
        if not coupled and c.max() == 0.0 and B.any():
            f[:] = 0.0  # nothing is observed here, nothing is asked
        first = 0.0
        for sweep in range(sweeps):
            gained = 0.0
            for k in range(K):
                phi = 0.0
                curve = 0.0
                for t in range(size):
                    ratio = B[column[t], k] / y[t]
                    phi += x[t] * ratio
                    curve += x[t] * ratio * ratio
                # a negative multiplier leaves a coordinate at least half of its own slope
                linear = max(c[k] + lin + n * m1[k], 0.5 * (c[k] + lin))
                two = 2.0 * (quad + n * m2[k])
                slope = linear + two * f[k] - phi
                bend = curve + two
                if coupled:
                    more, curvature = slope_and_curvature(coupling, F, i, k)
                    slope += more
                    bend += curvature
                if f[k] == 0.0 and slope >= 0.0:
                    continue
                if bend <= 0.0:
                    d = -f[k] if slope > 0.0 else 0.0
                elif not coupled and two == 0.0 and linear > 0.0:
                    d = -slope * (phi / linear) / bend
                else:
                    d = -slope / bend
                d = representable(F, i, k, max(d, -f[k]))
                # upwards Newton's step on 1/phi cannot pass the minimum
                rise = 0.5 * slope * d
                if coupled or two != 0.0 or d < 0.0:
                    for _ in range(HALVINGS):
                        d = representable(F, i, k, d)
                        rise = d * (linear + two * (f[k] + 0.5 * d))
                        for t in range(size):
                            new = y[t] + d * B[column[t], k]
                            if new < LEAST * y[t]:  # no digits left, and an entry without model
                                rise = np.inf
                                break
                            rise -= x[t] * np.log(new / y[t])
                        if coupled:
                            rise += change(coupling, F, i, k, d)
                        if rise <= 0.0:
                            break
                        d *= 0.5
                if d != 0.0 and rise <= 0.0:
                    gained -= rise
                    for t in range(size):
                        y[t] = max(y[t] + d * B[column[t], k], floor)
                    if coupled:
                        move(coupling, F, i, k, d)
                    f[k] += d
                    F[i, k] = f[k]
            if sweep == 0:
                first = gained
            if gained <= share * first:
                break
        for place in range(unit[u], unit[u + 1]):
            F[member[place]] = f
