"""Rows of a factor F by coordinate descent on the divergence, the other factor B fixed.

For row i the sum is  sum_k c_k f_k - sum_t x_t log y_t  with y = B f at the entries of the
row and c the sums of B over its observed columns. Without quadratic terms a coordinate takes
Newton's step on 1/phi, phi = sum x b / y, which from below never passes the minimum; zeros
whose slope holds them down are left out of the sweep.
"""

from __future__ import annotations

import numpy as np

from rprnmf.kernels import inner, kernel
from rprnmf.kernels.coupled import LANE_TRIPLETS
from rprnmf.kernels.coupling import change, feel, model, settle
from rprnmf.kernels.csr import copy, dot
from rprnmf.kernels.prefetch import fetch_ahead
from rprnmf.kernels.room import SQUARES

HALVINGS = 8
NEAR_FLOOR = 1e7  # times the floor: where its own size still shows in sums of steps


@kernel
def divergence_rows(
    rows,
    F,
    B,
    indptr,
    indices,
    data,
    sums,
    l1,
    l2,
    m1,
    m2,
    count,
    holed,
    inertia,
    coupling,
    reach,
    smooth,
    sweeps,
    share,
    floor,
    guarded,
    rest,
    room,
):
    """Lower, over some rows,

        loss + sum_ik (l1[i] + m1[k]) F_ik + l2[i] (1 + m2[k]) F_ik^2 + coupling.

    With ``guarded`` the sum of no row rises, but for rounding. ``inertia`` shortens the steps of
    rows with holes, see `solvers/row_data.py`. ``reach`` is the ``floor`` of the
    distances. ``coupling`` is None for rows that no triplet or graph touches. With ``rest`` the
    entries that are not stored are observed zeros. Returns the divergence of the rows, summed
    entry by entry: as a difference of large sums it would have no digits left where the model
    is good.
    """
    K = F.shape[1]
    zero = F.dtype.type(0)
    one = F.dtype.type(1)
    least = F.dtype.type(floor)
    huge = np.finfo(F.dtype).max
    lost = 64.0 * np.sqrt(np.finfo(F.dtype).eps)  # share of an entry below which it is noise
    x, y, inverse, before = room.entries[0], room.entries[1], room.entries[2], room.entries[3]
    columns, column, active = room.columns, room.column, room.active
    phi, linear, f = room.vectors[0], room.vectors[1], room.vectors[2]
    # slope and curvature of the quadratic terms, L2, triplets and graph: up + A'A, u = A step
    side, up, step, square = room.terms[0], room.terms[1], room.terms[2], room.terms[3]
    A, u = room.squares, room.along
    total = 0.0
    for i in rows:
        copy(F[i], f)
        c = sums[i if sums.shape[0] > 1 else 0]  # one row of sums may serve all
        size = 0
        phi[:] = zero
        for t in range(indptr[i], indptr[i + 1]):
            fetch_ahead(B, indices, t)
            if data[t] <= 0:
                continue
            b = B[indices[t]]
            model_value = max(dot(f, b), least)
            x[size] = data[t]
            y[size] = model_value
            inverse[size] = one / model_value
            column[size] = indices[t]
            ratio = x[size] * inverse[size]
            for k in range(K):
                phi[k] += ratio * b[k]
            size += 1
        n_squares = 0
        quadratic = l2[i] > 0.0
        if coupling is not None:
            quadratic = True
        side[:] = 0.0
        if quadratic:
            up[:] = 0.0
            u[:] = 0.0
            if coupling is not None:
                pulled, bending = feel(coupling, i, 0, smooth)
                if pulled:
                    n_squares = 2 if bending <= LANE_TRIPLETS else SQUARES
                    model(coupling, F, i, 0, bending, 1.0, side, up, A[:n_squares], reach, smooth)
            for k in range(K):
                # a negative multiplier leaves a coordinate at least half of its own curvature
                square[k] = l2[i] * max(1.0 + m2[k], 0.5)
                side[k] += 2.0 * square[k] * f[k]
                up[k] += 2.0 * square[k]
        n_active = 0
        for k in range(K):
            # and of its own slope
            own = c[k] + l1[i]
            linear[k] = max(own + count[i] * m1[k], 0.5 * own)
            if f[k] > zero or phi[k] > linear[k] + side[k]:
                active[n_active] = k
                n_active += 1
        if coupling is None:
            if size == 0:  # no entry asks for anything
                F[i] = zero
                continue
        for t in range(size):
            b = B[column[t]]
            for a in range(n_active):
                columns[a, t] = b[active[a]]
        copy(y[:size], before)
        twice_l2 = F.dtype.type(2.0 * l2[i])
        first = zero
        for sweep in range(sweeps):
            gained = zero
            for a in range(n_active):
                k = active[a]
                b = columns[a]
                p = zero
                bend = zero
                for t in range(size):
                    ratio = b[t] * inverse[t]
                    w = x[t] * ratio
                    p += w
                    bend += w * ratio
                old = f[k]
                slow = max(holed[i] * inertia[k] - twice_l2, zero)
                if quadratic:
                    also, bent = side[k], up[k]
                    for r in range(n_squares):
                        also += A[r, k] * u[r]
                        bent += A[r, k] * A[r, k]
                    ask = linear[k] + F.dtype.type(also) - p
                    curve = bend + F.dtype.type(bent) + slow
                    if curve > zero:
                        new = max(old - ask / curve, zero)
                    else:
                        new = zero if ask > zero else old
                else:
                    ask = linear[k] - p
                    if bend > zero and linear[k] > zero:
                        new = max(old - (p / linear[k]) * ask / (bend + slow), zero)
                    else:
                        new = zero if ask > zero else old
                d = new - old
                if abs(d) > zero and abs(d) < huge:  # not for a slope that overflowed
                    gained += abs(d * ask)
                    f[k] = new
                    if quadratic:
                        side[k] += d * up[k]
                        for r in range(n_squares):
                            u[r] += d * A[r, k]
                    for t in range(size):
                        model_value = max(y[t] + d * b[t], least)
                        y[t] = model_value
                        inverse[t] = one / model_value
                    if d < zero:  # where nearly all of an entry went, its rest is noise
                        for t in range(size):
                            if y[t] < -lost * d * b[t]:
                                y[t] = max(dot(f, B[column[t]]), least)
                                inverse[t] = one / y[t]
            if sweep == 0:
                first = share * gained
            if gained <= first:
                break
        for t in range(size):
            if y[t] < NEAR_FLOOR * least:
                y[t] = max(dot(f, B[column[t]]), least)
        if guarded:
            guard(
                coupling,
                reach,
                smooth,
                F,
                i,
                f,
                linear,
                l2[i] > 0.0,
                square,
                B,
                column,
                x,
                before,
                y,
                size,
                least,
                step,
            )
        stored = 0.0
        for t in range(size):
            total += x[t] * np.log(np.float64(x[t]) / y[t]) - x[t] + y[t]
            stored += y[t]
        everywhere = 0.0
        for k in range(K):
            F[i, k] = f[k]
            everywhere += np.float64(c[k]) * f[k]
        if rest:
            total += max(everywhere - stored, 0.0)
        elif size < indptr[i + 1] - indptr[i]:
            for t in range(indptr[i], indptr[i + 1]):
                if data[t] <= 0:
                    total += dot(f, B[indices[t]])
    return total


@inner
def guard(
    coupling,
    reach,
    smooth,
    F,
    i,
    f,
    linear,
    squared,
    square,
    B,
    column,
    x,
    before,
    y,
    size,
    floor,
    step,
):
    """Take back as much of the step from F[i] to f as it takes for the row's sum not to rise.

    ``before`` and ``y`` are the model at F[i] and at f; ``y`` follows. ``step`` is there to
    work in.
    """
    K = f.shape[0]
    for k in range(K):
        step[k] = np.float64(f[k]) - F[i, k]
    length = 1.0
    for halving in range(HALVINGS + 1):
        rise = 0.0
        for k in range(K):
            d = np.float64(f[k]) - F[i, k]
            rise += d * linear[k]
            if squared:
                rise += d * square[k] * (2.0 * F[i, k] + d)
        sure = 0.0  # rounding of the sum below
        for t in range(size):
            part = x[t] * np.log(np.float64(y[t]) / before[t])
            rise -= part
            sure += abs(part)
        sure *= 8 * np.finfo(y.dtype).eps
        if coupling is not None:
            rise += change(coupling, F, i, 0, f, reach, smooth)
            sure = 0.0
        if rise <= sure:
            if coupling is not None:
                settle(coupling, i)
            return
        length = length * 0.5 if halving + 1 < HALVINGS else 0.0
        for k in range(K):
            f[k] = F[i, k] + length * step[k]
        for t in range(size):
            y[t] = max(dot(f, B[column[t]]), floor)
