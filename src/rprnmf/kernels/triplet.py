"""One triplet and one pair of rows: penalties, distances, and their derivatives.

``floor`` is None for squared Euclidean distances, else what a zero counts as in the logarithms
of the divergence.
"""

from __future__ import annotations

import numpy as np

from rprnmf.kernels import inner

EXPONENTIAL, HINGE, SQUARED_HINGE, LOGISTIC = range(4)


@inner
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


@inner
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


@inner
def pair_slope(x, y, floor):
    """The derivative in x of one coordinate's part of a distance, and the second one."""
    if floor is None:
        return 2.0 * (x - y), 2.0
    a = max(x, floor)
    b = max(y, floor)
    return 0.5 * (np.log(a / b) + (x - y) / a), 0.5 * (a + b) / (a * a)


@inner
def pair_distance(x, y, floor):
    """How far apart two rows are."""
    total = 0.0
    if floor is None:
        for k in range(x.shape[0]):
            d = np.float64(x[k]) - np.float64(y[k])
            total += d * d
        return total
    for k in range(x.shape[0]):
        if x[k] != y[k]:
            total += (x[k] - y[k]) * np.log(max(x[k], floor) / max(y[k], floor))
    return 0.5 * total
