"""One row, or four, that feel triplets or a graph beside their data.

The step follows a quadratic model of all that acts on a row, and is then halved until the
exact sum has not risen.
"""

from __future__ import annotations

from rprnmf.kernels import inner, spliced
from rprnmf.kernels.coupling import R, change, settle
from rprnmf.kernels.csr import copy
from rprnmf.kernels.quadratic import descend_one
from rprnmf.kernels.room import LANE_VECTORS

HALVINGS = 6
LANE_TRIPLETS = 6  # so many that pull at a row are stood for by two, more by SQUARES
ALONE = 4  # the lane of a row that does not fit among the four in step
NEW, GRADIENT, BEFORE, SIDE, UP, FIRST, SECOND, STEEP, INVERSE = range(LANE_VECTORS)


@spliced
def fill_lane(f, r, h, extra, l1, m1, lane):
    """A row f'Qf - 2p'f with r = Qf - p and its linear terms, beside what `model` has put there.

    Several short loops: one with that many arrays would not be vectorised.
    """
    K = f.shape[0]
    half = f.dtype.type(0.5)
    one = f.dtype.type(1)
    zero = f.dtype.type(0)
    g, steep = lane[GRADIENT], lane[STEEP]
    copy(f, lane[NEW])
    shift = half * l1
    for k in range(K):
        g[k] = r[k] + (shift + half * m1[k]) + extra[k] * f[k]
    copy(g, lane[BEFORE])
    side = lane[SIDE]
    for k in range(K):
        side[k] *= half
    up, first, second = lane[UP], lane[FIRST], lane[SECOND]
    for k in range(K):
        steep[k] = h[k] + up[k] + first[k] * first[k] + second[k] * second[k]
    inverse = lane[INVERSE]
    for k in range(K):
        inverse[k] = one / steep[k] if steep[k] > zero else zero


@inner
def descend_bent(f, lane, Q, extra, A, bent, sweeps, share):
    """Coordinate descent on a row with all of A; ``bent`` (K, K) is there to work in.

    As after `descend_four_pulled` the gradient is in the end that of the data alone.
    """
    K = f.shape[0]
    new, g, before = lane[NEW], lane[GRADIENT], lane[BEFORE]
    steep = lane[STEEP]
    bend(Q, lane[UP], A, bent)
    for k in range(K):
        g[k] += lane[SIDE, k]
        steep[k] = extra[k] + bent[k, k]
    descend_one(new, g, bent, steep, lane[INVERSE], sweeps, share)
    for k in range(K):
        g[k] = before[k] + extra[k] * (new[k] - f[k])
    for k in range(K):
        step = new[k] - f[k]
        if step != 0:
            for j in range(K):
                g[j] += step * Q[k, j]


@spliced
def finish_row(coupling, floor, smooth, F, i, kept, r, p, extra, lane):
    """Halve the step of a row until the exact sum has not risen; its f'Qf - 2p'f.

    Follows `feel` with the same ``kept``. Brings the distances up to date too.
    """
    K = F.shape[1]
    half = F.dtype.type(0.5)
    new, g, before = lane[NEW], lane[GRADIENT], lane[BEFORE]
    step, moved = lane[SIDE], lane[UP]  # their work is done
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
        rise = length * (linear + length * quadratic) + change(
            coupling, F, i, kept, new, floor, smooth
        )
        if rise <= 0.0:
            settle(coupling, i)
            break
        length = length * half if halving + 1 < HALVINGS else F.dtype.type(0)
        for k in range(K):
            new[k] = F[i, k] + length * step[k] if length > 0 else F[i, k]
    total = 0.0
    copy(new, f)
    for k in range(K):
        total += new[k] * (r[k] - p[k] + length * moved[k])
    return total


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
def hold(coupling, i, held, group):
    """Note that a group holds row i and everything that shares a triplet or an edge with it."""
    held[i] = group
    for place in range(coupling.met[i], coupling.met[i + 1]):
        held[coupling.other[place]] = group
    for place in range(coupling.first[3 * i + R], coupling.first[3 * i + 3]):
        held[coupling.other[coupling.also[place]]] = group
    for place in range(coupling.edge[i], coupling.edge[i + 1]):
        held[coupling.neighbour[place]] = group


@inner
def descend_four_pulled(lanes, Q, extra, sweeps, share):
    """Coordinate descent on four rows in step, each of

        f'Qf - 2p'f + 2 side'd + d'(up + a a' + b b')d,    d = what f moves by.

    The gradients stay those of the data alone, so that they tell afterwards by how much they
    changed; ``side`` is used up.
    """
    K = Q.shape[0]
    zero = Q.dtype.type(0)
    one = Q.dtype.type(1)
    w, x, y, z = lanes[0], lanes[1], lanes[2], lanes[3]
    g1, g2, g3, g4 = w[GRADIENT], x[GRADIENT], y[GRADIENT], z[GRADIENT]
    u1, u2, u3, u4 = zero, zero, zero, zero  # a'd
    v1, v2, v3, v4 = zero, zero, zero, zero  # b'd
    l1, l2, l3, l4 = one, one, one, one  # 0 where a row has ended
    least1, least2, least3, least4 = zero, zero, zero, zero
    for sweep in range(sweeps):
        won1, won2, won3, won4 = zero, zero, zero, zero
        for k in range(0, K, 2):
            m = min(k + 1, K - 1)
            there = one if m > k else zero
            row, next_row = Q[k], Q[m]
            cross = row[m]
            slope1 = g1[k] + (w[SIDE, k] + u1 * w[FIRST, k] + v1 * w[SECOND, k])
            slope2 = g2[k] + (x[SIDE, k] + u2 * x[FIRST, k] + v2 * x[SECOND, k])
            slope3 = g3[k] + (y[SIDE, k] + u3 * y[FIRST, k] + v3 * y[SECOND, k])
            slope4 = g4[k] + (z[SIDE, k] + u4 * z[FIRST, k] + v4 * z[SECOND, k])
            old1, old2, old3, old4 = w[NEW, k], x[NEW, k], y[NEW, k], z[NEW, k]
            new1 = max(old1 - slope1 * (w[INVERSE, k] * l1), zero)
            new2 = max(old2 - slope2 * (x[INVERSE, k] * l2), zero)
            new3 = max(old3 - slope3 * (y[INVERSE, k] * l3), zero)
            new4 = max(old4 - slope4 * (z[INVERSE, k] * l4), zero)
            d1, d2, d3, d4 = new1 - old1, new2 - old2, new3 - old3, new4 - old4
            w[NEW, k], x[NEW, k], y[NEW, k], z[NEW, k] = new1, new2, new3, new4
            u1 += d1 * w[FIRST, k]
            u2 += d2 * x[FIRST, k]
            u3 += d3 * y[FIRST, k]
            u4 += d4 * z[FIRST, k]
            v1 += d1 * w[SECOND, k]
            v2 += d2 * x[SECOND, k]
            v3 += d3 * y[SECOND, k]
            v4 += d4 * z[SECOND, k]
            next1 = g1[m] + d1 * cross + (w[SIDE, m] + u1 * w[FIRST, m] + v1 * w[SECOND, m])
            next2 = g2[m] + d2 * cross + (x[SIDE, m] + u2 * x[FIRST, m] + v2 * x[SECOND, m])
            next3 = g3[m] + d3 * cross + (y[SIDE, m] + u3 * y[FIRST, m] + v3 * y[SECOND, m])
            next4 = g4[m] + d4 * cross + (z[SIDE, m] + u4 * z[FIRST, m] + v4 * z[SECOND, m])
            was1, was2, was3, was4 = w[NEW, m], x[NEW, m], y[NEW, m], z[NEW, m]
            then1 = max(was1 - next1 * (w[INVERSE, m] * (l1 * there)), zero)
            then2 = max(was2 - next2 * (x[INVERSE, m] * (l2 * there)), zero)
            then3 = max(was3 - next3 * (y[INVERSE, m] * (l3 * there)), zero)
            then4 = max(was4 - next4 * (z[INVERSE, m] * (l4 * there)), zero)
            e1, e2, e3, e4 = then1 - was1, then2 - was2, then3 - was3, then4 - was4
            w[NEW, m], x[NEW, m], y[NEW, m], z[NEW, m] = then1, then2, then3, then4
            far = abs(d1) + abs(d2) + abs(d3) + abs(d4) + abs(e1) + abs(e2) + abs(e3) + abs(e4)
            if far != zero:
                own, own_m = extra[k], extra[m]
                won1 += d1 * d1 * w[STEEP, k] + e1 * e1 * w[STEEP, m]
                won2 += d2 * d2 * x[STEEP, k] + e2 * e2 * x[STEEP, m]
                won3 += d3 * d3 * y[STEEP, k] + e3 * e3 * y[STEEP, m]
                won4 += d4 * d4 * z[STEEP, k] + e4 * e4 * z[STEEP, m]
                for j in range(K):
                    q, p = row[j], next_row[j]
                    g1[j] += d1 * q + e1 * p
                    g2[j] += d2 * q + e2 * p
                    g3[j] += d3 * q + e3 * p
                    g4[j] += d4 * q + e4 * p
                g1[k] += d1 * own
                g2[k] += d2 * own
                g3[k] += d3 * own
                g4[k] += d4 * own
                g1[m] += e1 * own_m
                g2[m] += e2 * own_m
                g3[m] += e3 * own_m
                g4[m] += e4 * own_m
                w[SIDE, k] += d1 * w[UP, k]
                x[SIDE, k] += d2 * x[UP, k]
                y[SIDE, k] += d3 * y[UP, k]
                z[SIDE, k] += d4 * z[UP, k]
                w[SIDE, m] += e1 * w[UP, m]
                x[SIDE, m] += e2 * x[UP, m]
                y[SIDE, m] += e3 * y[UP, m]
                z[SIDE, m] += e4 * z[UP, m]
                u1 += e1 * w[FIRST, m]
                u2 += e2 * x[FIRST, m]
                u3 += e3 * y[FIRST, m]
                u4 += e4 * z[FIRST, m]
                v1 += e1 * w[SECOND, m]
                v2 += e2 * x[SECOND, m]
                v3 += e3 * y[SECOND, m]
                v4 += e4 * z[SECOND, m]
        if sweep == 0:
            least1, least2, least3, least4 = share * won1, share * won2, share * won3, share * won4
        if won1 <= least1:
            l1 = zero
        if won2 <= least2:
            l2 = zero
        if won3 <= least3:
            l3 = zero
        if won4 <= least4:
            l4 = zero
        if l1 + l2 + l3 + l4 == zero:
            break
