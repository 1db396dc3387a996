"""Rows of a factor by coordinate descent on the squared error, where much of X is missing.

As in `descent.py`, but every row has a Gram matrix of its own, and an ``inertia``: see
`solvers/row_data.py`.
"""

from __future__ import annotations

from rprnmf.kernels import inner, kernel
from rprnmf.kernels.coupled import (
    FIRST,
    LANE_TRIPLETS,
    SECOND,
    SIDE,
    UP,
    descend_bent,
    fill_lane,
    finish_row,
)
from rprnmf.kernels.coupling import feel, model
from rprnmf.kernels.csr import copy, dot
from rprnmf.kernels.prefetch import fetch_ahead
from rprnmf.kernels.quadratic import beyond, curvature, descend_one, start, value


@kernel
def masked_rows(
    rows,
    F,
    B,
    indptr,
    indices,
    data,
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
    """Incomplete data: every row has a Gram matrix of its own.

    ``coupling`` is None for rows that no triplet or graph touches; the compiler then leaves
    out all that serves it.
    """
    K = F.shape[1]
    f, p, g, h = room.vectors[0], room.vectors[1], room.vectors[2], room.vectors[3]
    inverse, extra = room.vectors[4], room.vectors[5]
    Q, bent = room.matrices[0], room.matrices[1]
    m1_all = room.multipliers
    A, lane = room.squares, room.lanes[0]
    half = F.dtype.type(0.5)
    zero = F.dtype.type(0)
    total = 0.0
    for i in rows:
        l2_i = F.dtype.type(l2[i])
        gram(indptr[i], indptr[i + 1], indices, data, B, Q, p)
        for k in range(K):
            f[k] = F[i, k]
            m1_all[k] = count[i] * m1[k]
        curvature(Q, l2[i], count[i], m2, h)
        if coupling is None:
            if indptr[i] == indptr[i + 1]:
                F[i] = 0  # nothing is observed here, nothing is asked
                continue
            start(f, p, Q, h, l1[i], m1_all, g)
            for k in range(K):
                h[k] += max(holed[i] * inertia[k] - l2_i, zero)
            descend_one(f, g, Q, h, inverse, sweeps, share)
            total += value(f, p, Q)
            copy(f, F[i])
        else:
            for k in range(K):
                g[k] = dot(Q[k], f) - p[k]
            _, active = feel(coupling, i, 0, smooth)
            beyond(Q, h, extra)
            squares = A if active > LANE_TRIPLETS else lane[FIRST : SECOND + 1]
            model(coupling, F, i, 0, active, half, lane[SIDE], lane[UP], squares, floor, smooth)
            for k in range(K):
                lane[UP, k] += max(holed[i] * inertia[k] - l2_i, zero)
            fill_lane(f, g, h, extra, l1[i], m1_all, lane)
            descend_bent(f, lane, Q, extra, squares, bent, sweeps, share)
            total += finish_row(coupling, floor, smooth, F, i, 0, g, p, extra, lane)
    return total


@inner
def gram(begin, end, indices, data, B, Q, p):
    """Q = sum of b b' and p = sum of x b over some entries; four at a time."""
    K = B.shape[1]
    Q[:] = 0
    p[:] = 0
    t = begin
    while t + 4 <= end:
        for next_one in range(t, t + 4):
            fetch_ahead(B, indices, next_one)
        a = B[indices[t]]
        b = B[indices[t + 1]]
        c = B[indices[t + 2]]
        d = B[indices[t + 3]]
        x, y, z, w = data[t], data[t + 1], data[t + 2], data[t + 3]
        for k in range(K):
            p[k] += x * a[k] + y * b[k] + z * c[k] + w * d[k]
        for k in range(K):
            row = Q[k]
            ak, bk, ck, dk = a[k], b[k], c[k], d[k]
            for j in range(K):
                row[j] += ak * a[j] + bk * b[j] + ck * c[j] + dk * d[j]
        t += 4
    while t < end:
        a = B[indices[t]]
        x = data[t]
        for k in range(K):
            p[k] += x * a[k]
            row = Q[k]
            ak = a[k]
            for j in range(K):
                row[j] += ak * a[j]
        t += 1
