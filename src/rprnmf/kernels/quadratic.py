"""Coordinate descent on f'Qf - 2p'f over f >= 0.

g = Qf - p, with linear terms, is half the gradient and is kept up to date. ``h`` is half the
curvature of every coordinate, at least Q_kk: what it exceeds Q_kk by is a quadratic term of
that coordinate alone. The descent in a row ends when a sweep gains less than a given fraction of
what the first one gained. A coordinate without curvature is zero if anything charges for it, and
stays if not.
"""

from __future__ import annotations

from rprnmf.kernels import inner
from rprnmf.kernels.csr import dot


@inner
def curvature(G, l2, count, m2, h):
    """Half the curvature of every coordinate, for a row that ``count`` rows of X share.

    A negative multiplier leaves a coordinate at least half of the curvature without it.
    """
    for k in range(h.shape[0]):
        plain = G[k, k] + l2
        h[k] = max(plain + count * m2[0, k] + l2 * m2[1, k], 0.5 * plain)


@inner
def beyond(G, h, extra):
    """What h exceeds the diagonal of G by."""
    for k in range(h.shape[0]):
        extra[k] = h[k] - G[k, k]


@inner
def descend_one(f, g, Q, h, inverse, effort):
    """One row; ``inverse`` is workspace.

    The entry of g that comes next is computed ahead of the others: the chain of dependent
    operations is what this loop waits for.
    """
    K = f.shape[0]
    zero = f.dtype.type(0)
    least = zero
    for k in range(K):
        inverse[k] = f.dtype.type(1) / h[k] if h[k] > zero else zero
        if h[k] <= zero and g[k] > zero:
            f[k] = zero
    for sweep in range(effort.sweeps):
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
            least = effort.share * gained
        if gained <= least:
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
