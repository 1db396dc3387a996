"""One row that feels triplets or a graph beside its data.

The step follows a quadratic model of all that acts on a row (`coupling.py`), and is then halved
until the exact sum has not risen.
"""

from __future__ import annotations

from rprnmf.kernels import inner, part, spliced
from rprnmf.kernels.coupling import R, change, settle
from rprnmf.kernels.csr import copy
from rprnmf.kernels.quadratic import descend_one
from rprnmf.kernels.workspace import BEFORE, GRADIENT, INVERSE, NEW, SIDE, STEEP, UP

HALVINGS = 6  # of a step: 1/64 of it is as good as none
LANE_TRIPLETS = 6  # up to so many triplets are modelled by two squares, more by SQUARES


@part
def descend_bent(f, lane, Q, extra, A, bent, effort):
    """Coordinate descent on a row with all of A; ``bent`` (K, K) is workspace.

    As after `lanes.descend_four` the gradient is in the end that of the data alone.
    """
    K = f.shape[0]
    new, g, before = lane[NEW], lane[GRADIENT], lane[BEFORE]
    steep = lane[STEEP]
    bend(Q, lane[UP], A, bent)
    for k in range(K):
        g[k] += lane[SIDE, k]
        steep[k] = extra[k] + bent[k, k]
    descend_one(new, g, bent, steep, lane[INVERSE], effort)
    for k in range(K):
        g[k] = before[k] + extra[k] * (new[k] - f[k])
    for k in range(K):
        step = new[k] - f[k]
        if step != 0:
            for j in range(K):
                g[j] += step * Q[k, j]


@inner
def bend(Q, up, A, bent):
    """bent = Q + up + A'A, for a diagonal up and A of an even number of rows."""
    K = Q.shape[0]
    for k in range(K):
        row = bent[k]
        of_data = Q[k]
        for j in range(K):
            row[j] = of_data[j]
        for t in range(0, A.shape[0], 2):
            a, b = A[t], A[t + 1]
            ak, bk = a[k], b[k]
            for j in range(K):
                row[j] += ak * a[j] + bk * b[j]
        row[k] += up[k]


@spliced
def finish_row(c, F, i, number, lane, r, p, extra):
    """Halve the step of a row until the exact sum has not risen; its f'Qf - 2p'f.

    Follows `coupling.feel` with the same ``number`` of a lane. Brings the distances up to date.
    """
    K = F.shape[1]
    half = F.dtype.type(0.5)
    new, g, before = lane[NEW], lane[GRADIENT], lane[BEFORE]
    step, moved = lane[SIDE], lane[UP]  # reused: their contents are no longer needed
    f = F[i]
    linear = 0.0
    quadratic = 0.0
    far = F.dtype.type(0)
    for k in range(K):
        step[k] = new[k] - f[k]
        far += abs(step[k])
    at_rest = far == 0
    for k in range(K):
        moved[k] = g[k] - before[k]
        linear += 2.0 * before[k] * step[k]  # in double precision
        quadratic += step[k] * moved[k]
    for k in range(K):
        moved[k] -= extra[k] * step[k]
    length = F.dtype.type(1)
    for halving in range(HALVINGS + 1):
        if at_rest:
            break
        rise = length * (linear + length * quadratic) + change(c, F, i, number, new)
        if rise <= 0.0:
            settle(c, i)
            break
        length = length * half if halving + 1 < HALVINGS else F.dtype.type(0)
        for k in range(K):
            new[k] = F[i, k] + length * step[k] if length > 0 else F[i, k]
    total = 0.0
    copy(new, f)
    for k in range(K):
        total += new[k] * (r[k] - p[k] + length * moved[k])
    return total


@spliced
def hold(c, i, held, group):
    """Note that a group holds row i and everything that shares a triplet or an edge with it."""
    held[i] = group
    for place in range(c.pairs.first[i], c.pairs.first[i + 1]):
        held[c.pairs.other[place]] = group
    for place in range(c.triplets.first[3 * i + R], c.triplets.first[3 * i + 3]):
        held[c.pairs.other[c.triplets.also[place]]] = group
    for place in range(c.edges.first[i], c.edges.first[i + 1]):
        held[c.edges.neighbour[place]] = group
