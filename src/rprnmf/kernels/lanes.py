"""Coordinate descent on four rows in step: their chains of dependent operations overlap.

A coordinate waits for the one before it; four independent rows keep the machine busy meanwhile,
and one load of Q serves all four. A row lies in a *lane*, an array whose rows are

    NEW       the row f
    GRADIENT  g, half the gradient of the data's part
    BEFORE    g before the step (coupled rows)
    SIDE, UP  slope and diagonal curvature of what couples it (coupled rows)
    FIRST, SECOND   two rows a and b of its curvature up + aa' + bb' (coupled rows)
    STEEP, INVERSE  half the curvature of every coordinate, and 1 / it
"""

from __future__ import annotations

from rprnmf.kernels import inner, part, spliced
from rprnmf.kernels.csr import copy
from rprnmf.kernels.workspace import (
    BEFORE,
    FIRST,
    GRADIENT,
    INVERSE,
    NEW,
    SECOND,
    SIDE,
    STEEP,
    UP,
)


@part
def fill_plain(lane, f, r, extra, l1, m1):
    """Put a row of which r = Qf - p into a lane that has STEEP and INVERSE already."""
    K = f.shape[0]
    half = f.dtype.type(0.5)
    zero = f.dtype.type(0)
    g, new, steep = lane[GRADIENT], lane[NEW], lane[STEEP]
    for k in range(K):
        g[k] = r[k] + (half * (l1 + m1[k]) + extra[k] * f[k])
        new[k] = zero if steep[k] <= zero and g[k] > zero else f[k]


@spliced
def fill_coupled(lane, f, r, h, extra, l1, m1):
    """Put a row of which r = Qf - p into a lane, beside what `coupling.model` has put there.

    Several short loops: one with that many arrays would not be vectorised.
    """
    K = f.shape[0]
    half = f.dtype.type(0.5)
    one = f.dtype.type(1)
    zero = f.dtype.type(0)
    g, steep, side, new = lane[GRADIENT], lane[STEEP], lane[SIDE], lane[NEW]
    shift = half * l1
    for k in range(K):
        g[k] = r[k] + (shift + half * m1[k]) + extra[k] * f[k]
    copy(g, lane[BEFORE])
    for k in range(K):
        side[k] *= half
    up, first, second = lane[UP], lane[FIRST], lane[SECOND]
    for k in range(K):
        steep[k] = h[k] + up[k] + first[k] * first[k] + second[k] * second[k]
    inverse = lane[INVERSE]
    for k in range(K):
        inverse[k] = one / steep[k] if steep[k] > zero else zero
    for k in range(K):
        new[k] = zero if steep[k] <= zero and g[k] + side[k] > zero else f[k]


@inner
def descend_four(lanes, Q, extra, effort, coupled):
    """Lower, in four rows in step,

        f'Qf - 2p'f + 2 side'd + d'(up + aa' + bb')d,    d = what f moves by.

    With ``coupled`` None the terms in d are not there. Gradients are brought up to date for two
    coordinates at a time, because most of the time goes into reading and writing them. Those of
    coupled rows stay those of the data alone, so that they tell afterwards by how much they
    changed; SIDE is overwritten. A row that has ended (its ``alive`` is 0) makes steps of
    exactly 0, and so does a lane of zeros: every row comes out as if it were alone.
    """
    K = Q.shape[0]
    zero = Q.dtype.type(0)
    one = Q.dtype.type(1)
    w, x, y, z = lanes[0], lanes[1], lanes[2], lanes[3]
    f1, f2, f3, f4 = w[NEW], x[NEW], y[NEW], z[NEW]
    g1, g2, g3, g4 = w[GRADIENT], x[GRADIENT], y[GRADIENT], z[GRADIENT]
    v1, v2, v3, v4 = w[INVERSE], x[INVERSE], y[INVERSE], z[INVERSE]
    h1, h2, h3, h4 = w[STEEP], x[STEEP], y[STEEP], z[STEEP]
    along = zero, zero, zero, zero, zero, zero, zero, zero  # a'd and b'd of every row
    alive1, alive2, alive3, alive4 = one, one, one, one
    least1, least2, least3, least4 = zero, zero, zero, zero
    for sweep in range(effort.sweeps):
        gained1, gained2, gained3, gained4 = zero, zero, zero, zero
        for k in range(0, K, 2):
            m = min(k + 1, K - 1)
            there = one if m > k else zero
            row, next_row = Q[k], Q[m]
            cross = row[m]
            s1, s2, s3, s4 = g1[k], g2[k], g3[k], g4[k]
            if coupled is not None:
                t1, t2, t3, t4 = pulls(lanes, k, along)
                s1, s2, s3, s4 = s1 + t1, s2 + t2, s3 + t3, s4 + t4
            old1, old2, old3, old4 = f1[k], f2[k], f3[k], f4[k]
            new1 = max(old1 - s1 * (v1[k] * alive1), zero)
            new2 = max(old2 - s2 * (v2[k] * alive2), zero)
            new3 = max(old3 - s3 * (v3[k] * alive3), zero)
            new4 = max(old4 - s4 * (v4[k] * alive4), zero)
            d1, d2, d3, d4 = new1 - old1, new2 - old2, new3 - old3, new4 - old4
            f1[k], f2[k], f3[k], f4[k] = new1, new2, new3, new4
            s1, s2 = g1[m] + d1 * cross, g2[m] + d2 * cross
            s3, s4 = g3[m] + d3 * cross, g4[m] + d4 * cross
            if coupled is not None:
                along = further(lanes, k, along, (d1, d2, d3, d4))
                t1, t2, t3, t4 = pulls(lanes, m, along)
                s1, s2, s3, s4 = s1 + t1, s2 + t2, s3 + t3, s4 + t4
            was1, was2, was3, was4 = f1[m], f2[m], f3[m], f4[m]
            new1 = max(was1 - s1 * (v1[m] * (alive1 * there)), zero)
            new2 = max(was2 - s2 * (v2[m] * (alive2 * there)), zero)
            new3 = max(was3 - s3 * (v3[m] * (alive3 * there)), zero)
            new4 = max(was4 - s4 * (v4[m] * (alive4 * there)), zero)
            e1, e2, e3, e4 = new1 - was1, new2 - was2, new3 - was3, new4 - was4
            f1[m], f2[m], f3[m], f4[m] = new1, new2, new3, new4
            far = abs(d1) + abs(d2) + abs(d3) + abs(d4) + abs(e1) + abs(e2) + abs(e3) + abs(e4)
            if far != zero:
                gained1 += d1 * d1 * h1[k] + e1 * e1 * h1[m]
                gained2 += d2 * d2 * h2[k] + e2 * e2 * h2[m]
                gained3 += d3 * d3 * h3[k] + e3 * e3 * h3[m]
                gained4 += d4 * d4 * h4[k] + e4 * e4 * h4[m]
                for j in range(K):
                    q, p = row[j], next_row[j]
                    g1[j] += d1 * q + e1 * p
                    g2[j] += d2 * q + e2 * p
                    g3[j] += d3 * q + e3 * p
                    g4[j] += d4 * q + e4 * p
                own, next_own = extra[k], extra[m]
                g1[k], g2[k] = g1[k] + d1 * own, g2[k] + d2 * own
                g3[k], g4[k] = g3[k] + d3 * own, g4[k] + d4 * own
                g1[m], g2[m] = g1[m] + e1 * next_own, g2[m] + e2 * next_own
                g3[m], g4[m] = g3[m] + e3 * next_own, g4[m] + e4 * next_own
                if coupled is not None:
                    along = further(lanes, m, along, (e1, e2, e3, e4))
                    curve(lanes, k, (d1, d2, d3, d4))
                    curve(lanes, m, (e1, e2, e3, e4))
        if sweep == 0:
            share = effort.share
            least1, least2, least3, least4 = (
                share * gained1,
                share * gained2,
                share * gained3,
                share * gained4,
            )
        alive1 = zero if gained1 <= least1 else alive1
        alive2 = zero if gained2 <= least2 else alive2
        alive3 = zero if gained3 <= least3 else alive3
        alive4 = zero if gained4 <= least4 else alive4
        if alive1 + alive2 + alive3 + alive4 == zero:
            break


@spliced
def pulls(lanes, k, along):
    """The slopes in coordinate k of what couples the four rows."""
    w, x, y, z = lanes[0], lanes[1], lanes[2], lanes[3]
    return (
        w[SIDE, k] + along[0] * w[FIRST, k] + along[4] * w[SECOND, k],
        x[SIDE, k] + along[1] * x[FIRST, k] + along[5] * x[SECOND, k],
        y[SIDE, k] + along[2] * y[FIRST, k] + along[6] * y[SECOND, k],
        z[SIDE, k] + along[3] * z[FIRST, k] + along[7] * z[SECOND, k],
    )


@spliced
def further(lanes, k, along, d):
    """a'd and b'd of the four rows after a step in coordinate k."""
    w, x, y, z = lanes[0], lanes[1], lanes[2], lanes[3]
    return (
        along[0] + d[0] * w[FIRST, k],
        along[1] + d[1] * x[FIRST, k],
        along[2] + d[2] * y[FIRST, k],
        along[3] + d[3] * z[FIRST, k],
        along[4] + d[0] * w[SECOND, k],
        along[5] + d[1] * x[SECOND, k],
        along[6] + d[2] * y[SECOND, k],
        along[7] + d[3] * z[SECOND, k],
    )


@spliced
def curve(lanes, k, d):
    """The slopes of what couples the rows change with their own curvature."""
    w, x, y, z = lanes[0], lanes[1], lanes[2], lanes[3]
    w[SIDE, k] += d[0] * w[UP, k]
    x[SIDE, k] += d[1] * x[UP, k]
    y[SIDE, k] += d[2] * y[UP, k]
    z[SIDE, k] += d[3] * z[UP, k]
