"""Triplets and a neighbour graph as one row sees them.

A row's step needs the slope and a model of the curvature of all that acts on F_i, the exact
change that a new row brings, and the distances brought up to date after it. Distances are
kept by pair: a row has a pair with every row that it is compared with, however many triplets
name the two. All of it costs O(pairs of row i * K + triplets of row i).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import kernel

EXPONENTIAL, HINGE, SQUARED_HINGE, LOGISTIC = range(4)
EUCLIDEAN, DIVERGENCE = range(2)
Q, R, S = range(3)
MOST_SQUARES = 8


class Coupling(NamedTuple):
    """What ties the rows of a factor to each other.

    ``first[3 * i + role]:first[3 * i + role + 1]`` are the places in ``near``, ``far`` and
    ``weight`` of the triplets that row i has this role in; ``met[i]:met[i + 1]`` its places in
    ``pair`` and ``other``, ``edge`` likewise in ``neighbour`` and ``affinity``.
    """

    first: np.ndarray
    near: np.ndarray  # its pair q-r
    far: np.ndarray  # its pair q-s
    weight: np.ndarray  # its strength in the objective
    met: np.ndarray
    pair: np.ndarray
    other: np.ndarray
    apart: np.ndarray  # distance of every pair, in units of sigma
    trial: np.ndarray  # the same for a row under trial
    tension: np.ndarray  # room for a number a pair
    bending: np.ndarray  # room for a number a place
    penalty: int
    distance: int
    sigma: float
    floor: float
    margin: float
    cap: float
    edge: np.ndarray
    neighbour: np.ndarray
    affinity: np.ndarray  # strength of every edge in the objective


@kernel
def phi(penalty, near, far, margin, cap):
    """The penalty of one triplet."""
    if penalty == EXPONENTIAL:
        low = min(near, cap)
        return np.exp(low) * (1.0 + near - low) + np.exp(-far)
    u = 1.0 + (near - far) / margin
    if penalty == HINGE:
        return max(u, 0.0)
    if penalty == SQUARED_HINGE:
        return max(u, 0.0) ** 2
    return max(u, 0.0) + np.log1p(np.exp(-abs(u)))


@kernel
def derivatives(penalty, near, far, margin, cap):
    """d/dnear, -d/dfar, and the second derivatives (near near, near far, far far)."""
    if penalty == EXPONENTIAL:
        pull = np.exp(min(near, cap))
        push = np.exp(-far)
        bend = pull if near < cap else 0.0
        return pull, push, bend, 0.0, push
    u = 1.0 + (near - far) / margin
    slope = 1.0 / margin
    if penalty == HINGE:
        pull = slope if u >= 0.0 else 0.0
        return pull, pull, 0.0, 0.0, 0.0
    if penalty == SQUARED_HINGE:
        pull = 2.0 * slope * max(u, 0.0)
        bend = 2.0 * slope * slope if u > 0.0 else 0.0
        return pull, pull, bend, -bend, bend
    share = 1.0 / (1.0 + np.exp(-u)) if u > -700.0 else 0.0
    bend = slope * slope * share * (1.0 - share)
    return slope * share, slope * share, bend, -bend, bend


@kernel
def pair_slope(distance, x, y, floor):
    """The derivative in x of one coordinate's part of a distance, and the second one."""
    if distance == EUCLIDEAN:
        return 2.0 * (x - y), 2.0
    a = max(x, floor)
    b = max(y, floor)
    return 0.5 * (np.log(a / b) + (x - y) / a), 0.5 * (a + b) / (a * a)


@kernel
def pair_distance(distance, x, y, floor):
    """How far apart two rows are."""
    total = 0.0
    if distance == EUCLIDEAN:
        for k in range(x.shape[0]):
            d = np.float64(x[k]) - np.float64(y[k])
            total += d * d
        return total
    for k in range(x.shape[0]):
        if x[k] != y[k]:
            total += (x[k] - y[k]) * np.log(max(x[k], floor) / max(y[k], floor))
    return 0.5 * total


@kernel
def acts(c, i):
    """Whether anything that couples row i has a slope or a curvature."""
    if c.edge[i] < c.edge[i + 1]:
        return True
    hinged = c.penalty == HINGE or c.penalty == SQUARED_HINGE
    for place in range(c.first[3 * i], c.first[3 * i + 3]):
        if not hinged or c.apart[c.near[place]] - c.apart[c.far[place]] > -c.margin:
            return True
    return False


@kernel
def model(c, F, i, scale, slope, M, a):
    """Add to M ``scale`` times the curvature, in row i of F, of everything that couples it.

    Fills its slope. The curvature is that of Gauss and Newton, and leaves out what bends
    downwards. No more than MOST_SQUARES triplets are taken to stand for all of a row's: their
    matrices cost K^2 each.

    Parameters
    ----------
    c : Coupling
    F : array of shape (n_rows, K)
    i : int
    scale : float
    slope, a : array of shape (K,)
        Filled; ``a`` is room to work in.
    M : array of shape (K, K)
    """
    K = F.shape[1]
    active = tensions(c, i)
    f = F[i]
    slope[:] = 0.0
    if c.distance == EUCLIDEAN:
        both = 0.0
        up = 0.0
        for place in range(c.met[i], c.met[i + 1]):
            w = 2.0 * c.tension[c.pair[place]] / c.sigma
            if w != 0.0:
                both += w
                up += max(w, 0.0)
                y = F[c.other[place]]
                for k in range(K):
                    slope[k] -= w * y[k]
        for place in range(c.edge[i], c.edge[i + 1]):
            w = 2.0 * c.affinity[place]
            both += w
            up += w
            y = F[c.neighbour[place]]
            for k in range(K):
                slope[k] -= w * y[k]
        for k in range(K):
            slope[k] += both * f[k]
            M[k, k] += scale * up
    else:
        for place in range(c.met[i], c.met[i + 1]):
            w = c.tension[c.pair[place]] / c.sigma
            if w != 0.0:
                y = F[c.other[place]]
                for k in range(K):
                    once, twice = pair_slope(c.distance, f[k], y[k], c.floor)
                    slope[k] += w * once
                    M[k, k] += scale * max(w, 0.0) * twice
        for place in range(c.edge[i], c.edge[i + 1]):
            w = 2.0 * c.affinity[place]
            y = F[c.neighbour[place]]
            for k in range(K):
                slope[k] += w * (f[k] - y[k])
                M[k, k] += scale * w
    if active > 0:
        add_gauss_newton(c, F, i, scale, active, M, a)


@kernel
def tensions(c, i):
    """By how much each pair of row i is pulled together; returns how many triplets bend.

    The places of those that bend are listed in ``bending``.
    """
    for place in range(c.met[i], c.met[i + 1]):
        c.tension[c.pair[place]] = 0.0
    active = 0
    hinged = c.penalty == HINGE or c.penalty == SQUARED_HINGE
    begin = c.first[3 * i]
    for role in range(3):
        for place in range(c.first[3 * i + role], c.first[3 * i + role + 1]):
            near, far = c.near[place], c.far[place]
            if hinged and c.apart[near] - c.apart[far] <= -c.margin:
                continue
            pull, push, nn, _, ff = derivatives(
                c.penalty, c.apart[near], c.apart[far], c.margin, c.cap
            )
            if role != S:
                c.tension[near] += c.weight[place] * pull
            if role != R:
                c.tension[far] -= c.weight[place] * push
            if (nn > 0.0 and role != S) or (ff > 0.0 and role != R):
                c.bending[begin + active] = place
                active += 1
    return active


@kernel
def add_gauss_newton(c, F, i, scale, active, M, a):
    """Add to M the squares of the slopes of the distances, as the penalty weighs them."""
    K = F.shape[1]
    stride = (active + MOST_SQUARES - 1) // MOST_SQUARES
    begin = c.first[3 * i]
    for seen in range(stride // 2, active, stride):
        place = c.bending[begin + seen]
        role = Q if place < c.first[3 * i + R] else R if place < c.first[3 * i + S] else S
        near, far = c.near[place], c.far[place]
        _, _, nn, nf, ff = derivatives(c.penalty, c.apart[near], c.apart[far], c.margin, c.cap)
        w = scale * stride * c.weight[place] / (c.sigma * c.sigma)
        for side in range(2):  # the near pair, the far pair
            if (side == 0 and role == S) or (side == 1 and role == R):
                continue
            y = F[other_end(c, i, near if side == 0 else far)]
            joined = side == 1 and role == Q and nf != 0.0
            for k in range(K):
                once = pair_slope(c.distance, F[i, k], y[k], c.floor)[0]
                a[k] = a[k] - once if joined else once
            if role == Q and nf != 0.0 and side == 0:
                continue  # u depends on near - far: one square of the difference
            bend = w * (nn if side == 0 or joined else ff)
            if bend > 0.0:
                for k in range(K):
                    b = bend * a[k]
                    row = M[k]
                    for j in range(K):
                        row[j] += b * a[j]


@kernel
def other_end(c, i, pair):
    """The row with which row i makes up a pair; a row's pairs are in rising order."""
    low = c.met[i]
    high = c.met[i + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if c.pair[middle] <= pair:
            low = middle
        else:
            high = middle
    return c.other[low]


@kernel
def change(c, F, i, f):
    """By how much everything that couples row i changes if it becomes f; fills ``trial``."""
    total = 0.0
    place = c.met[i]
    last = c.met[i + 1]
    if c.distance == EUCLIDEAN:  # four sums at a time keep the machine busy
        while place + 4 <= last:
            x, y = F[c.other[place]], F[c.other[place + 1]]
            z, w = F[c.other[place + 2]], F[c.other[place + 3]]
            s1, s2, s3, s4 = 0.0, 0.0, 0.0, 0.0
            for k in range(f.shape[0]):
                s1 += (np.float64(f[k]) - x[k]) ** 2
                s2 += (np.float64(f[k]) - y[k]) ** 2
                s3 += (np.float64(f[k]) - z[k]) ** 2
                s4 += (np.float64(f[k]) - w[k]) ** 2
            c.trial[c.pair[place]] = s1 / c.sigma
            c.trial[c.pair[place + 1]] = s2 / c.sigma
            c.trial[c.pair[place + 2]] = s3 / c.sigma
            c.trial[c.pair[place + 3]] = s4 / c.sigma
            place += 4
    while place < last:
        y = F[c.other[place]]
        c.trial[c.pair[place]] = pair_distance(c.distance, f, y, c.floor) / c.sigma
        place += 1
    for role in range(3):
        for place in range(c.first[3 * i + role], c.first[3 * i + role + 1]):
            near = c.apart[c.near[place]]
            far = c.apart[c.far[place]]
            near_then = c.trial[c.near[place]] if role != S else near
            far_then = c.trial[c.far[place]] if role != R else far
            total += c.weight[place] * (
                phi(c.penalty, near_then, far_then, c.margin, c.cap)
                - phi(c.penalty, near, far, c.margin, c.cap)
            )
    for place in range(c.edge[i], c.edge[i + 1]):
        y = F[c.neighbour[place]]
        rise = 0.0
        for k in range(F.shape[1]):
            d = np.float64(f[k]) - F[i, k]
            rise += d * (d + 2.0 * (np.float64(F[i, k]) - y[k]))
        total += c.affinity[place] * rise
    return total


@kernel
def settle(c, i):
    """The distances under trial are those of now."""
    for place in range(c.met[i], c.met[i + 1]):
        c.apart[c.pair[place]] = c.trial[c.pair[place]]
