"""Coordinate descent on f'Qf - 2p'f over f >= 0, for one row or for four rows at a time.

g = Qf - p, with linear terms, is half the gradient and is kept up to date. ``h`` is half the
curvature of every coordinate, at least Q_kk: what it exceeds Q_kk by is a quadratic term of
that coordinate alone. A row ends when a sweep brings less than ``share`` of what its first
brought.
"""

from __future__ import annotations

from rprnmf.kernels import inner
from rprnmf.kernels.csr import dot


@inner
def curvature(G, l2, count, m2, h):
    """Half the curvature of every coordinate, for a row that stands for ``count``.

    A negative multiplier leaves a coordinate at least half of its own curvature.
    """
    for k in range(h.shape[0]):
        own = G[k, k] + l2
        h[k] = max(own + count * m2[0, k] + l2 * m2[1, k], 0.5 * own)


@inner
def beyond(G, h, extra):
    """What h exceeds the diagonal of G by."""
    for k in range(h.shape[0]):
        extra[k] = h[k] - G[k, k]


@inner
def descend_one(f, g, Q, h, inverse, sweeps, share):
    """One row; ``inverse`` is room to work in.

    The entry of g that comes next is computed ahead of the others: the chain of dependent
    operations is what this loop waits for.
    """
    K = f.shape[0]
    zero = f.dtype.type(0)
    least = zero
    for k in range(K):
        inverse[k] = f.dtype.type(1) / h[k] if h[k] > zero else zero
    for sweep in range(sweeps):
        gained = zero
        coming = g[0]
        for k in range(K):
            slope = coming
            after = k + 1 if k + 1 < K else 0
            coming = g[after]
            old = f[k]
            new = max(old - slope * inverse[k], zero)
            d = new - old
            if d != zero:
                row = Q[k]
                coming += d * row[after]
                gained += d * d * h[k]
                f[k] = new
                for j in range(K):
                    g[j] += d * row[j]
                g[k] += d * (h[k] - row[k])
        if sweep == 0:
            least = share * gained
        if gained <= least:
            break


@inner
def descend_four(f1, f2, f3, f4, g1, g2, g3, g4, n_rows, Q, h, inverse, sweeps, share):
    """Four rows in step: their chains of dependent operations overlap.

    A coordinate waits for the one before it; four independent rows keep the machine busy
    meanwhile, and one load of Q serves all four. Gradients are brought up to date for two
    coordinates at a time, for what that takes is mostly reading and writing them. A row
    that has ended (a is 0), or that is not there (only the first ``n_rows`` are), makes steps of
    exactly 0, so that every row comes out as if it were alone.
    """
    K = f1.shape[0]
    zero = f1.dtype.type(0)
    one = f1.dtype.type(1)
    a1 = one
    a2 = one if n_rows > 1 else zero
    a3 = one if n_rows > 2 else zero
    a4 = one if n_rows > 3 else zero
    least1, least2, least3, least4 = zero, zero, zero, zero
    for sweep in range(sweeps):
        won1, won2, won3, won4 = zero, zero, zero, zero
        for k in range(0, K, 2):
            m = min(k + 1, K - 1)
            there = one if m > k else zero
            row, next_row = Q[k], Q[m]
            v, w = inverse[k], inverse[m] * there
            cross = row[m]
            old1, old2, old3, old4 = f1[k], f2[k], f3[k], f4[k]
            new1 = max(old1 - g1[k] * (v * a1), zero)
            new2 = max(old2 - g2[k] * (v * a2), zero)
            new3 = max(old3 - g3[k] * (v * a3), zero)
            new4 = max(old4 - g4[k] * (v * a4), zero)
            d1, d2, d3, d4 = new1 - old1, new2 - old2, new3 - old3, new4 - old4
            f1[k], f2[k], f3[k], f4[k] = new1, new2, new3, new4
            was1, was2, was3, was4 = f1[m], f2[m], f3[m], f4[m]
            then1 = max(was1 - (g1[m] + d1 * cross) * (w * a1), zero)
            then2 = max(was2 - (g2[m] + d2 * cross) * (w * a2), zero)
            then3 = max(was3 - (g3[m] + d3 * cross) * (w * a3), zero)
            then4 = max(was4 - (g4[m] + d4 * cross) * (w * a4), zero)
            e1, e2, e3, e4 = then1 - was1, then2 - was2, then3 - was3, then4 - was4
            f1[m], f2[m], f3[m], f4[m] = then1, then2, then3, then4
            far = abs(d1) + abs(d2) + abs(d3) + abs(d4) + abs(e1) + abs(e2) + abs(e3) + abs(e4)
            if far != zero:
                bend, bend_m = h[k], h[m]
                extra, extra_m = bend - row[k], bend_m - next_row[m]
                won1 += d1 * d1 * bend + e1 * e1 * bend_m
                won2 += d2 * d2 * bend + e2 * e2 * bend_m
                won3 += d3 * d3 * bend + e3 * e3 * bend_m
                won4 += d4 * d4 * bend + e4 * e4 * bend_m
                for j in range(K):
                    q, p = row[j], next_row[j]
                    g1[j] += d1 * q + e1 * p
                    g2[j] += d2 * q + e2 * p
                    g3[j] += d3 * q + e3 * p
                    g4[j] += d4 * q + e4 * p
                g1[k] += d1 * extra
                g2[k] += d2 * extra
                g3[k] += d3 * extra
                g4[k] += d4 * extra
                g1[m] += e1 * extra_m
                g2[m] += e2 * extra_m
                g3[m] += e3 * extra_m
                g4[m] += e4 * extra_m
        if sweep == 0:
            least1, least2, least3, least4 = share * won1, share * won2, share * won3, share * won4
        if won1 <= least1:
            a1 = zero
        if won2 <= least2:
            a2 = zero
        if won3 <= least3:
            a3 = zero
        if won4 <= least4:
            a4 = zero
        if a1 + a2 + a3 + a4 == zero:
            break


@inner
def start(f, p, Q, h, l1, m1, g):
    """g at f."""
    for k in range(f.shape[0]):
        g[k] = dot(Q[k], f) - p[k] + 0.5 * (l1 + m1[k]) + (h[k] - Q[k, k]) * f[k]


@inner
def value(f, p, Q):
    """f'Qf - 2p'f."""
    total = 0.0
    for k in range(f.shape[0]):
        total += f[k] * (dot(Q[k], f) - 2.0 * p[k])
    return total
