"""One row, or four, that feel triplets or a graph beside their data.

The step follows a quadratic model of all that acts on a row, and is then halved until the
exact sum has not risen.
"""

from __future__ import annotations

from rprnmf.kernels import inner
from rprnmf.kernels.coupling import change, feel, settle
from rprnmf.kernels.quadratic import descend_one

HALVINGS = 6
LANE_TRIPLETS = 6  # so many that pull at a row are stood for by two, more by SQUARES
LANE_VECTORS = 9
NEW, GRADIENT, BEFORE, SIDE, UP, FIRST, SECOND, STEEP, INVERSE = range(LANE_VECTORS)


@inner
def coupled_row(
    coupling,
    floor,
    smooth,
    F,
    i,
    pulled,
    slope,
    up,
    A,
    f,
    r,
    p,
    l1,
    m1,
    Q,
    h,
    sweeps,
    share,
    bent,
    vectors,
):
    """Lower f'Qf - 2p'f + the linear and quadratic terms + coupling from f = F[i].

    Follows `feel` and, if anything pulls, `model`. r = Qf - p at the start. F[i] itself is
    changed by the caller; the distances are brought up to date here. ``bent`` (K, K) and
    ``vectors`` (6, K) are there to work in. Returns f'Qf - 2p'f.
    """
    K = f.shape[0]
    half = F.dtype.type(0.5)
    step, side, steep = vectors[0], vectors[1], vectors[2]
    moved, new, g = vectors[3], vectors[4], vectors[5]
    for k in range(K):
        g[k] = r[k] + half * (l1 + m1[k]) + (h[k] - Q[k, k]) * f[k]
        side[k] = g[k]
        new[k] = f[k]
    if pulled:
        bend(Q, up, A, bent)
        for k in range(K):
            side[k] += half * slope[k]
            steep[k] = h[k] + (bent[k, k] - Q[k, k])
        descend_one(new, side, bent, steep, step, sweeps, share)
    else:
        descend_one(new, side, Q, h, step, sweeps, share)
    for k in range(K):
        step[k] = new[k] - f[k]
        # Q step: without a coupling, that is by what the gradient changed
        moved[k] = 0 if pulled else side[k] - g[k] - (h[k] - Q[k, k]) * step[k]
    if pulled:
        for k in range(K):
            if step[k] != 0:
                for j in range(K):
                    moved[j] += step[k] * Q[k, j]
    length = not_rising(coupling, floor, smooth, F, i, new, step, g, moved, Q, h)
    total = 0.0
    for k in range(K):
        f[k] = new[k]
        total += new[k] * (r[k] + length * moved[k] - p[k])
    return total


@inner
def not_rising(coupling, floor, smooth, F, i, new, step, g, moved, Q, h):
    """Halve the step of a row until the exact sum has not risen; what is left of its length.

    The row goes from F[i] to ``new``, g is half its gradient there without coupling, ``moved``
    is Q step. Follows `feel`.
    """
    half = F.dtype.type(0.5)
    linear = 0.0
    quadratic = 0.0
    for k in range(step.shape[0]):
        linear += 2.0 * g[k] * step[k]
        quadratic += step[k] * (moved[k] + (h[k] - Q[k, k]) * step[k])
    length = F.dtype.type(1)
    for halving in range(HALVINGS + 1):
        rise = length * (linear + length * quadratic) + change(coupling, F, i, new, floor, smooth)
        if rise <= 0.0:
            settle(coupling, i)
            break
        length = length * half if halving + 1 < HALVINGS else F.dtype.type(0)
        for k in range(step.shape[0]):
            new[k] = F[i, k] + length * step[k] if length > 0 else F[i, k]
    return length


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


@inner
def fill_lane(f, pulled, slope, up, A, r, Q, h, l1, m1, lanes, lane):
    """A row and its model for `group_of_rows`."""
    half = f.dtype.type(0.5)
    one = f.dtype.type(1 if pulled else 0)
    for k in range(f.shape[0]):
        a, b = one * A[0, k], one * A[1, k]
        g = r[k] + half * (l1 + m1[k]) + (h[k] - Q[k, k]) * f[k]
        steep = h[k] + one * up[k] + a * a + b * b
        lanes[NEW, lane, k] = f[k]
        lanes[GRADIENT, lane, k] = g
        lanes[BEFORE, lane, k] = g
        lanes[SIDE, lane, k] = half * one * slope[k]
        lanes[UP, lane, k] = one * up[k]
        lanes[FIRST, lane, k] = a
        lanes[SECOND, lane, k] = b
        lanes[STEEP, lane, k] = steep
        lanes[INVERSE, lane, k] = f.dtype.type(1) / steep if steep > 0 else f.dtype.type(0)


@inner
def hold(coupling, i, held, group):
    """Note that a group holds row i and everything that shares a triplet or an edge with it."""
    held[i] = group
    for place in range(coupling.first[3 * i], coupling.first[3 * i + 3]):
        t = coupling.triplet[place]
        for role in range(3):
            held[coupling.ends[role, t]] = group
    for place in range(coupling.edge[i], coupling.edge[i + 1]):
        held[coupling.neighbour[place]] = group


@inner
def group_of_rows(coupling, floor, smooth, F, rows, R, P, Q, h, sweeps, share, lanes):
    """Move up to four rows that do not feel each other; the sum of their f'Qf - 2p'f."""
    K = F.shape[1]
    for lane in range(rows.shape[0], 4):
        lanes[:, lane] = 0
    descend_four_pulled(lanes, Q, h, sweeps, share)
    total = 0.0
    for lane in range(rows.shape[0]):
        i = rows[lane]
        new, g, before = lanes[NEW, lane], lanes[GRADIENT, lane], lanes[BEFORE, lane]
        step, moved = lanes[SIDE, lane], lanes[UP, lane]  # their work is done
        for k in range(K):
            step[k] = new[k] - F[i, k]
            moved[k] = g[k] - before[k] - (h[k] - Q[k, k]) * step[k]
        feel(coupling, i, smooth)
        length = not_rising(coupling, floor, smooth, F, i, new, step, before, moved, Q, h)
        for k in range(K):
            F[i, k] = new[k]
            total += new[k] * (R[i, k] + length * moved[k] - P[i, k])
    return total


@inner
def descend_four_pulled(lanes, Q, h, sweeps, share):
    """Coordinate descent on four rows in step, each of

        f'Qf - 2p'f + 2 side'd + d'(up + a a' + b b')d,    d = what f moves by.

    The gradients stay those of the data alone, so that they tell afterwards by how much they
    changed; ``side`` is used up.
    """
    K = Q.shape[0]
    zero = Q.dtype.type(0)
    one = Q.dtype.type(1)
    f1, f2, f3, f4 = lanes[NEW, 0], lanes[NEW, 1], lanes[NEW, 2], lanes[NEW, 3]
    g1, g2, g3, g4 = (
        lanes[GRADIENT, 0],
        lanes[GRADIENT, 1],
        lanes[GRADIENT, 2],
        lanes[GRADIENT, 3],
    )
    s1, s2, s3, s4 = lanes[SIDE, 0], lanes[SIDE, 1], lanes[SIDE, 2], lanes[SIDE, 3]
    up = lanes[UP]
    a, b = lanes[FIRST], lanes[SECOND]
    steep, inverse = lanes[STEEP], lanes[INVERSE]
    u1, u2, u3, u4 = zero, zero, zero, zero  # a'd
    v1, v2, v3, v4 = zero, zero, zero, zero  # b'd
    l1, l2, l3, l4 = one, one, one, one  # 0 where a row has ended
    least1, least2, least3, least4 = zero, zero, zero, zero
    for sweep in range(sweeps):
        won1, won2, won3, won4 = zero, zero, zero, zero
        for k in range(K):
            x1 = g1[k] + (s1[k] + u1 * a[0, k] + v1 * b[0, k])
            x2 = g2[k] + (s2[k] + u2 * a[1, k] + v2 * b[1, k])
            x3 = g3[k] + (s3[k] + u3 * a[2, k] + v3 * b[2, k])
            x4 = g4[k] + (s4[k] + u4 * a[3, k] + v4 * b[3, k])
            old1, old2, old3, old4 = f1[k], f2[k], f3[k], f4[k]
            new1 = max(old1 - x1 * (inverse[0, k] * l1), zero)
            new2 = max(old2 - x2 * (inverse[1, k] * l2), zero)
            new3 = max(old3 - x3 * (inverse[2, k] * l3), zero)
            new4 = max(old4 - x4 * (inverse[3, k] * l4), zero)
            d1, d2, d3, d4 = new1 - old1, new2 - old2, new3 - old3, new4 - old4
            if d1 != zero or d2 != zero or d3 != zero or d4 != zero:
                row = Q[k]
                extra = h[k] - row[k]
                won1 += d1 * d1 * steep[0, k]
                won2 += d2 * d2 * steep[1, k]
                won3 += d3 * d3 * steep[2, k]
                won4 += d4 * d4 * steep[3, k]
                f1[k], f2[k], f3[k], f4[k] = new1, new2, new3, new4
                for j in range(K):
                    q = row[j]
                    g1[j] += d1 * q
                    g2[j] += d2 * q
                    g3[j] += d3 * q
                    g4[j] += d4 * q
                g1[k] += d1 * extra
                g2[k] += d2 * extra
                g3[k] += d3 * extra
                g4[k] += d4 * extra
                s1[k] += d1 * up[0, k]
                s2[k] += d2 * up[1, k]
                s3[k] += d3 * up[2, k]
                s4[k] += d4 * up[3, k]
                u1 += d1 * a[0, k]
                u2 += d2 * a[1, k]
                u3 += d3 * a[2, k]
                u4 += d4 * a[3, k]
                v1 += d1 * b[0, k]
                v2 += d2 * b[1, k]
                v3 += d3 * b[2, k]
                v4 += d4 * b[3, k]
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
