"""Triplets and a neighbour graph as one coordinate of one row sees them.

A coordinate step needs the slope and the curvature of all that acts on F[i, k], the exact
change that a step d brings, and the distances brought up to date after it. All of it costs
O(triplets of row i) and O(neighbours of row i).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import kernel

EXPONENTIAL, HINGE, SQUARED_HINGE, LOGISTIC = range(4)
EUCLIDEAN, DIVERGENCE = range(2)
Q, R, S = range(3)


class Coupling(NamedTuple):
    """What ties the rows of a factor to each other.

    ``first[i]:first[i + 1]`` are the places of row i in ``triplet`` and ``role``; ``edge``
    likewise in ``neighbour`` and ``affinity``.
    """

    first: np.ndarray
    triplet: np.ndarray
    role: np.ndarray
    q: np.ndarray
    r: np.ndarray
    s: np.ndarray
    near: np.ndarray  # distance q-r of every triplet, in units of sigma
    far: np.ndarray  # distance q-s
    weight: np.ndarray  # strength of every triplet in the objective
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
def pair_term(distance, x, y, floor):
    """One coordinate's part of a distance."""
    if distance == EUCLIDEAN:
        return (x - y) ** 2
    if x == y:
        return 0.0
    return 0.5 * (x - y) * np.log(max(x, floor) / max(y, floor))


@kernel
def pair_slope(distance, x, y, floor):
    """Its derivative in x, and the second one."""
    if distance == EUCLIDEAN:
        return 2.0 * (x - y), 2.0
    a = max(x, floor)
    b = max(y, floor)
    return 0.5 * (np.log(a / b) + (x - y) / a), 0.5 * (a + b) / (a * a)


@kernel
def partners(c, F, i, k, place):
    """The other ends of row i in one of its triplets: F[near end, k], F[far end, k]."""
    t = c.triplet[place]
    role = c.role[place]
    if role == Q:
        return F[c.r[t], k], F[c.s[t], k]
    return F[c.q[t], k], F[c.q[t], k]


@kernel
def slope_and_curvature(c, F, i, k):
    """First and second derivative, in F[i, k], of everything that couples row i.

    The curvature leaves out what bends downwards: a step that trusts it is too short
    rather than too long.
    """
    x = np.float64(F[i, k])
    slope = 0.0
    curvature = 0.0
    for place in range(c.first[i], c.first[i + 1]):
        t = c.triplet[place]
        role = c.role[place]
        y, z = partners(c, F, i, k, place)
        pull, push, nn, nf, ff = derivatives(c.penalty, c.near[t], c.far[t], c.margin, c.cap)
        w = c.weight[t]
        if role != S:
            near_1, near_2 = pair_slope(c.distance, x, y, c.floor)
            near_1 /= c.sigma
            near_2 /= c.sigma
        else:
            near_1 = 0.0
            near_2 = 0.0
        if role != R:
            far_1, far_2 = pair_slope(c.distance, x, z, c.floor)
            far_1 /= c.sigma
            far_2 /= c.sigma
        else:
            far_1 = 0.0
            far_2 = 0.0
        slope += w * (pull * near_1 - push * far_1)
        bend = nn * near_1**2 + 2.0 * nf * near_1 * far_1 + ff * far_1**2
        curvature += w * (bend + max(pull * near_2 - push * far_2, 0.0))
    for place in range(c.edge[i], c.edge[i + 1]):
        a = c.affinity[place]
        slope += 2.0 * a * (x - F[c.neighbour[place], k])
        curvature += 2.0 * a
    return slope, curvature


@kernel
def change(c, F, i, k, d):
    """By how much everything that couples row i changes with a step d in F[i, k]."""
    x = np.float64(F[i, k])
    total = 0.0
    for place in range(c.first[i], c.first[i + 1]):
        t = c.triplet[place]
        role = c.role[place]
        y, z = partners(c, F, i, k, place)
        near = c.near[t]
        far = c.far[t]
        if role != S:
            rise = pair_term(c.distance, x + d, y, c.floor) - pair_term(c.distance, x, y, c.floor)
            near = max(near + rise / c.sigma, 0.0)
        if role != R:
            rise = pair_term(c.distance, x + d, z, c.floor) - pair_term(c.distance, x, z, c.floor)
            far = max(far + rise / c.sigma, 0.0)
        total += c.weight[t] * (
            phi(c.penalty, near, far, c.margin, c.cap)
            - phi(c.penalty, c.near[t], c.far[t], c.margin, c.cap)
        )
    for place in range(c.edge[i], c.edge[i + 1]):
        total += c.affinity[place] * d * (d + 2.0 * (x - F[c.neighbour[place], k]))
    return total


@kernel
def move(c, F, i, k, d):
    """Bring the distances up to date for a step d in F[i, k], which is still to be made."""
    x = np.float64(F[i, k])
    for place in range(c.first[i], c.first[i + 1]):
        t = c.triplet[place]
        role = c.role[place]
        y, z = partners(c, F, i, k, place)
        if role != S:
            rise = pair_term(c.distance, x + d, y, c.floor) - pair_term(c.distance, x, y, c.floor)
            c.near[t] = max(c.near[t] + rise / c.sigma, 0.0)
        if role != R:
            rise = pair_term(c.distance, x + d, z, c.floor) - pair_term(c.distance, x, z, c.floor)
            c.far[t] = max(c.far[t] + rise / c.sigma, 0.0)
