"""Rows of a factor F by coordinate descent on the squared error, the other factor B fixed.

All kernels lower

    loss(F) + sum_ik (l1[i] + m1[k]) F_ik + (l2[i] (1 + m2[1, k]) + m2[0, k]) F_ik^2 + coupling

and return the loss of the rows they changed, but for the sum of squares of X, which costs
next to nothing here. *Coupled* rows also feel triplets and a graph: their step follows a
quadratic model of those, and is halved until the exact sum has not risen. Rows with holes have
an ``inertia``: see `solvers/row_data.py`.
"""

from __future__ import annotations

from rprnmf.kernels import inner, kernel
from rprnmf.kernels.coupled import (
    ALONE,
    FIRST,
    LANE_TRIPLETS,
    SECOND,
    SIDE,
    UP,
    descend_bent,
    descend_four_pulled,
    fill_lane,
    finish_row,
    hold,
)
from rprnmf.kernels.coupling import feel, model
from rprnmf.kernels.csr import copy, dot
from rprnmf.kernels.prefetch import prefetch_row
from rprnmf.kernels.quadratic import beyond, curvature, descend_four, descend_one, start, value
from rprnmf.kernels.room import LANES

SOON = 4  # rows ahead


@kernel
def full_rows(rows, F, R, P, G, l1, l2, m1, m2, count, sweeps, share, room):
    """Complete data: P = X B, G = B'B, and R = F G - P, which is used up."""
    K = F.shape[1]
    zero = F.dtype.type(0)
    half = F.dtype.type(0.5)
    pad = room.pad
    h, inverse = room.vectors[0], room.vectors[1]
    last = l2.dtype.type(-1)
    total = 0.0
    at = 0
    while at < rows.shape[0]:
        i = rows[at]
        if l2[i] != last:
            last = l2[i]
            curvature(G, last, 1.0, m2, h)
            for k in range(K):
                inverse[k] = F.dtype.type(1) / h[k] if h[k] > zero else zero
        end = at + 1  # rows of the same curvature go together, four at most
        while end < min(at + 4, rows.shape[0]) and l2[rows[end]] == last:
            end += 1
        for lane in range(4):
            if at + lane < end:
                row = rows[at + lane]
                for k in range(K):
                    extra = h[k] - G[k, k]
                    R[row, k] += half * (l1[row] + m1[k]) + extra * F[row, k]
        i2 = rows[min(at + 1, end - 1)]
        i3 = rows[min(at + 2, end - 1)]
        i4 = rows[min(at + 3, end - 1)]
        descend_four(
            F[i],
            F[i2] if at + 1 < end else pad[0],
            F[i3] if at + 2 < end else pad[1],
            F[i4] if at + 3 < end else pad[2],
            R[i],
            R[i2] if at + 1 < end else pad[3],
            R[i3] if at + 2 < end else pad[4],
            R[i4] if at + 3 < end else pad[5],
            end - at,
            G,
            h,
            inverse,
            sweeps,
            share,
        )
        for place in range(at, end):
            row = rows[place]
            part = 0.0
            for k in range(K):
                g = R[row, k] - half * (l1[row] + m1[k]) - (h[k] - G[k, k]) * F[row, k]
                part += F[row, k] * (g - P[row, k])
            total += count[row] * part
        at = end
    return total


@inner
def torn_gram(u, B, G, unit, member, holes, hole, count, Q):
    """Q = the mean of b b' over what the rows of X that share row u of F observe.

    ``hole[holes[i]:holes[i + 1]]`` are the columns that row i of X does not observe, and
    ``member[unit[u]:unit[u + 1]]`` the rows of X that share row u. Tells how many entries
    are observed. Holes are taken away from G = B'B, unless they carry more than half of some
    component: then what is left is summed, for a difference would have too few digits.
    """
    K = B.shape[1]
    seen = 0
    Q[:] = 0
    for place in range(unit[u], unit[u + 1]):
        i = member[place]
        seen += B.shape[0] - (holes[i + 1] - holes[i])
        for t in range(holes[i], holes[i + 1]):
            add_square(B[hole[t]], Q)
    few = True
    for k in range(K):
        few = few and Q[k, k] <= 0.5 * count[u] * G[k, k]
    if few:
        for k in range(K):
            for j in range(K):
                Q[k, j] = G[k, j] - Q[k, j] / count[u]
        return seen
    Q[:] = 0
    for place in range(unit[u], unit[u + 1]):
        i = member[place]
        t = holes[i]
        for column in range(B.shape[0]):
            if t < holes[i + 1] and hole[t] == column:
                t += 1
            else:
                add_square(B[column], Q)
    Q /= count[u]
    return seen


@inner
def add_square(b, Q):
    """Q += b b'."""
    for k in range(b.shape[0]):
        for j in range(b.shape[0]):
            Q[k, j] += b[k] * b[j]


@kernel
def torn_rows(
    rows,
    F,
    P,
    B,
    G,
    unit,
    member,
    holes,
    hole,
    l1,
    l2,
    m1,
    m2,
    count,
    holed,
    inertia,
    sweeps,
    share,
    room,
):
    """Complete data but for holes: a row's Gram matrix runs over the columns it observes."""
    f, g, h, inverse = room.vectors[0], room.vectors[1], room.vectors[2], room.vectors[3]
    Q = room.matrices[0]
    zero = F.dtype.type(0)
    total = 0.0
    for u in rows:
        l2_u = F.dtype.type(l2[u])
        if torn_gram(u, B, G, unit, member, holes, hole, count, Q) == 0:
            F[u] = 0  # nothing is observed here, nothing is asked
            continue
        copy(F[u], f)
        curvature(Q, l2[u], 1.0, m2, h)
        start(f, P[u], Q, h, l1[u], m1, g)
        for k in range(f.shape[0]):
            h[k] += max(holed[u] * inertia[k] - l2_u, zero)
        descend_one(f, g, Q, h, inverse, sweeps, share)
        copy(f, F[u])
        total += count[u] * value(f, P[u], Q)
    return total


@kernel
def full_coupled_rows(
    rows,
    F,
    R,
    P,
    G,
    B,
    torn,
    unit,
    member,
    holes,
    hole,
    l1,
    l2,
    m1,
    m2,
    count,
    holed,
    inertia,
    coupling,
    floor,
    smooth,
    sweeps,
    share,
    room,
):
    """As `full_rows` and `torn_rows`, for rows that triplets or a graph couple to others.

    Rows that few triplets pull at go four at a time; a group ends where a row comes that
    shares a triplet or an edge with one of it. ``torn`` is None if no row has holes.
    """
    K = F.shape[1]
    h, h_own, extra, extra_own = room.vectors[0], room.vectors[1], room.vectors[2], room.vectors[3]
    own, bent = room.matrices[0], room.matrices[1]
    A, lanes, together, held = room.squares, room.lanes, room.together, room.held
    half = F.dtype.type(0.5)
    Q, curve, more = G, h, extra
    group = 1
    nobody = 0 * K  # a plain 0 has a type of its own: functions would be compiled for it too
    size = nobody  # rows that wait for others
    alone, place = -1, size  # a row that went alone and waits to be finished, its room
    last = l2.dtype.type(-1)
    total = 0.0
    for at in range(rows.shape[0] + 1):
        i = rows[min(at, rows.shape[0] - 1)]
        soon = rows[min(at + SOON, rows.shape[0] - 1)]  # rows come in no order of memory
        prefetch_row(F, soon)
        prefetch_row(R, soon)
        prefetch_row(P, soon)
        over = at == rows.shape[0] or size == 4 or held[i] == group or l2[i] != last
        ready = size if over else 0
        if ready > 0:
            for lane in range(size, 4):
                lanes[lane] = 0
            descend_four_pulled(lanes, G, extra, sweeps, share)
        if alone >= 0 or ready > 0:
            for lane in range(LANES):
                if lane < ready or (lane == ALONE and alone >= 0):
                    row, kept, over_g = together[min(lane, 3)], lane, extra
                    if lane == ALONE:
                        row, kept, over_g = alone, place, more
                    total += finish_row(
                        *(coupling, floor, smooth, F, row, kept),
                        *(R[row], P[row], over_g, lanes[lane]),
                    )
        if ready > 0:
            size = nobody
            group += 1
        if at == rows.shape[0]:
            break
        if l2[i] != last:
            last = l2[i]
            curvature(G, last, 1.0, m2, h)
            beyond(G, h, extra)
        _, active = feel(coupling, i, size, smooth)
        by_itself = active > LANE_TRIPLETS
        Q, curve, more = G, h, extra
        if torn is not None:
            if torn[i]:
                by_itself = True
                torn_gram(i, B, G, unit, member, holes, hole, count, own)
                for k in range(K):
                    R[i, k] = dot(own[k], F[i]) - P[i, k]
                curvature(own, last, 1.0, m2, h_own)
                beyond(own, h_own, extra_own)
                Q, curve, more = own, h_own, extra_own
        lane_i = lanes[ALONE if by_itself else size]
        squares = A if active > LANE_TRIPLETS else lane_i[FIRST : SECOND + 1]
        model(coupling, F, i, size, active, half, lane_i[SIDE], lane_i[UP], squares, floor, smooth)
        if torn is not None:
            l2_i = F.dtype.type(l2[i])
            for k in range(K):
                lane_i[UP, k] += max(holed[i] * inertia[k] - l2_i, F.dtype.type(0))
        fill_lane(F[i], R[i], curve, more, l1[i], m1, lane_i)
        alone, place = -1, size
        if by_itself:
            alone = i
            descend_bent(F[i], lane_i, Q, more, squares, bent, sweeps, share)
        else:
            hold(coupling, i, held, group)
            together[size] = i
            size += 1
    return total
