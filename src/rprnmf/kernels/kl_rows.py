"""Rows of a factor F by coordinate descent on the divergence, the other factor B fixed.

For row i the sum is  sum_k c_k f_k - sum_t x_t log y_t  with y = B f at the entries of the
row and c the sums of B over its observed columns. Without quadratic terms a coordinate takes
Newton's step on 1/phi, phi = sum x b / y, which from below never passes the minimum; zeros
whose slope holds them down are left out of the sweep.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import inner, kernel, part
from rprnmf.kernels.coupled import LANE_TRIPLETS
from rprnmf.kernels.coupling import Model, change, feel, model, settle
from rprnmf.kernels.csr import Stored, copy, dot
from rprnmf.kernels.prefetch import fetch_ahead
from rprnmf.kernels.workspace import SQUARES

HALVINGS = 8
NEAR_FLOOR = 1e7  # times the floor: where its own size still shows in sums of steps


class KLData(NamedTuple):
    """The entries of X and the other factor."""

    B: np.ndarray
    entries: Stored
    sums: np.ndarray  # per row, or one row for all: sums of B over the observed columns
    floors: np.ndarray  # per row, or one for all: the least that a model value counts as
    zeros_implied: bool  # whether entries that are not stored are observed zeros


@kernel
def kl_rows(rows, F, data, columns, terms, coupling, effort, space):
    """Lower, over some rows, the divergence, the terms of the rows and what couples them.

    With ``effort.guarded`` the sum of no row rises, but for rounding. ``columns`` is B.T where
    all entries of all rows are stored: rows then need not gather their entries, and zeros are
    entries like any other; else it is None. ``coupling`` is None for rows that no triplet or
    graph touches. Returns the divergence of the rows, summed entry by
    entry: as a difference of large sums it would have no digits left where the model is good.
    """
    f, y, before = space.f, space.y, space.before
    B, floors, l2 = data.B, data.floors, terms.l2
    total = 0.0
    for i in rows:
        least = F.dtype.type(floors[i if floors.shape[0] > 1 else 0])
        copy(F[i], f)
        if columns is not None:
            size = read_whole_row(i, data, columns, least, space)
        else:
            size = read_row(i, data, least, space)
        n_squares = 0
        quadratic = l2[i] > 0.0
        if coupling is not None:
            quadratic = True
        space.side[:] = 0.0
        if quadratic:
            space.up[:] = 0.0
            space.along[:] = 0.0
            if coupling is not None:
                n_squares = add_coupling(coupling, F, i, space)
            add_l2(terms, i, space)
        if coupling is None:
            if size == 0 and terms.pull.shape[0] == 0:  # no entry asks for anything
                F[i] = 0
                continue
        n_active = choose_active(i, data, terms, space)
        at_entries = columns
        if columns is None:
            gather(B, size, n_active, space)
            at_entries = space.columns
        copy(y[:size], before)
        kind = RowKind(i, size, at_entries, n_active, n_squares, quadratic)
        descend(kind, B, least, terms, effort, space)
        for t in range(size):
            if y[t] < NEAR_FLOOR * least:
                y[t] = max(dot(f, B[space.column[t]]), least)
        if effort.guarded:
            guard(coupling, F, kind, B, l2[i] > 0.0, least, space)
        total += row_loss(i, size, data, space)
        copy(f, F[i])
    return total


class RowKind(NamedTuple):
    """One row and what has been found out about it."""

    i: int
    size: int  # entries that are looked at
    columns: np.ndarray  # the other factor at these entries, one row per component
    n_active: int  # components that may move
    n_squares: int  # rows of the curvature model
    quadratic: bool  # whether quadratic terms act on it


@part
def read_row(i, data, least, space):
    """The entries of row i that are not zero, the model there, and phi; how many there are."""
    f, phi, x, y = space.f, space.phi, space.x, space.y
    inverse, column = space.inverse, space.column
    indptr, indices, values = data.entries
    B = data.B
    one = f.dtype.type(1)
    size = 0
    phi[:] = 0
    for t in range(indptr[i], indptr[i + 1]):
        fetch_ahead(B, indices, t)
        if values[t] <= 0:
            continue
        b = B[indices[t]]
        model_value = max(dot(f, b), least)
        x[size] = values[t]
        y[size] = model_value
        inverse[size] = one / model_value
        column[size] = indices[t]
        ratio = x[size] * inverse[size]
        for k in range(f.shape[0]):
            phi[k] += ratio * b[k]
        size += 1
    return size


@part
def read_whole_row(i, data, columns, least, space):
    """As `read_row`, zeros included; no entries if all are zero."""
    f, x, y, inverse, slope = space.f, space.x, space.y, space.inverse, space.phi
    indptr, _, values = data.entries
    begin = indptr[i]
    size = columns.shape[1]
    zero = f.dtype.type(0)
    one = f.dtype.type(1)
    total = zero
    for t in range(size):
        x[t] = values[begin + t]
        y[t] = zero
        total += x[t]
    for k in range(f.shape[0]):
        if f[k] > zero:
            b = columns[k]
            for t in range(size):
                y[t] += f[k] * b[t]
    for t in range(size):
        y[t] = max(y[t], least)
        inverse[t] = one / y[t]
    for k in range(f.shape[0]):
        b = columns[k]
        phi = zero
        for t in range(size):
            phi += x[t] * inverse[t] * b[t]
        slope[k] = phi
    return size if total > zero else 0


@part
def add_coupling(coupling, F, i, space):
    """Slope and curvature of what couples row i; how many squares the curvature has."""
    felt = feel(coupling, i, 0)
    edges = coupling.edges.first[i] < coupling.edges.first[i + 1]
    n_squares = 0
    if felt.active > 0 or edges:
        n_squares = 2 if felt.active <= LANE_TRIPLETS else SQUARES
        model(coupling, F, i, felt, 1.0, Model(space.side, space.up, space.squares[:n_squares]))
    return n_squares


@part
def add_l2(terms, i, space):
    """Slope and curvature of the L2 terms of row i."""
    l2, m2 = terms.l2[i], terms.m2
    f, side, up, square = space.f, space.side, space.up, space.square
    for k in range(f.shape[0]):
        # a negative multiplier leaves a coordinate at least half of its own curvature
        square[k] = l2 * max(1.0 + m2[1, k], 0.5)
        side[k] += 2.0 * square[k] * f[k]
        up[k] += 2.0 * square[k]


@part
def choose_active(i, data, terms, space):
    """The linear terms of row i, and the components that may move; how many there are."""
    c = data.sums[i if data.sums.shape[0] > 1 else 0]
    l1, members, m1, pull = terms.l1[i], terms.members[i], terms.m1, terms.pull
    f, phi, linear, side, active = space.f, space.phi, space.linear, space.side, space.active
    zero = f.dtype.type(0)
    n_active = 0
    for k in range(f.shape[0]):
        # a negative multiplier leaves a coordinate at least half of its own slope
        own = c[k] + l1
        linear[k] = max(own + members * m1[k], 0.5 * own)
        if pull.shape[0] > 0:
            linear[k] -= 2.0 * pull[i, k]
        if f[k] > zero or phi[k] > linear[k] + side[k]:
            active[n_active] = k
            n_active += 1
    return n_active


@part
def gather(B, size, n_active, space):
    """The other factor at the entries of the row, for the components that may move."""
    columns, column, active = space.columns, space.column, space.active
    for t in range(size):
        b = B[column[t]]
        for a in range(n_active):
            columns[active[a], t] = b[active[a]]


@part
def descend(kind, B, least, terms, effort, space):
    """Sweeps over the components of one row, until one brings little.

    Returns how little that is, and what the last one brought.
    """
    f, active, side, up = space.f, space.active, space.side, space.up
    squares, along = space.squares, space.along
    zero = f.dtype.type(0)
    huge = np.finfo(f.dtype).max
    l2 = f.dtype.type(2.0 * terms.l2[kind.i])
    holed, inertia = terms.holed[kind.i], terms.inertia
    first = zero
    gained = zero
    for sweep in range(effort.sweeps):
        gained = zero
        for a in range(kind.n_active):
            k = active[a]
            slow = max(holed * inertia[k] - l2, zero)
            new, ask = best(kind, a, slow, space)
            d = new - f[k]
            if abs(d) > zero and abs(d) < huge:  # not for a slope that overflowed
                gained += abs(d * ask)
                f[k] = new
                if kind.quadratic:
                    side[k] += d * up[k]
                    for r in range(kind.n_squares):
                        along[r] += d * squares[r, k]
                move(kind, B, a, d, least, space)
        if sweep == 0:
            first = effort.share * gained
        if gained <= first:
            break
    return first, gained


@part
def best(kind, a, slow, space):
    """Where one component goes, and the slope there was in it."""
    k = space.active[a]
    b, x, inverse = kind.columns[k], space.x, space.inverse
    squares, dtype = space.squares, space.f.dtype.type
    zero = dtype(0)
    p, bend = zero, zero
    for t in range(kind.size):
        ratio = b[t] * inverse[t]
        w = x[t] * ratio
        p += w
        bend += w * ratio
    old, linear = space.f[k], space.linear[k]
    if kind.quadratic:
        also, bent = space.side[k], space.up[k]
        for r in range(kind.n_squares):
            also += squares[r, k] * space.along[r]
            bent += squares[r, k] * squares[r, k]
        ask = linear + dtype(also) - p
        curve = bend + dtype(bent) + slow
        new = zero if ask > zero else old
        if curve > zero:
            new = max(old - ask / curve, zero)
    else:
        ask = linear - p
        new = zero if ask > zero else old
        if bend > zero and linear > zero:
            new = max(old - (p / linear) * ask / (bend + slow), zero)
    return new, ask


@part
def move(kind, B, a, d, least, space):
    """The model after one component of the row moved by d."""
    b, f, y, inverse = kind.columns[space.active[a]], space.f, space.y, space.inverse
    zero = f.dtype.type(0)
    one = f.dtype.type(1)
    # share of a change below which what is left of an entry is noise
    lost = f.dtype.type(64.0 * np.sqrt(np.finfo(f.dtype).eps))
    noise = zero
    for t in range(kind.size):
        change = d * b[t]
        model_value = max(y[t] + change, least)
        y[t] = model_value
        inverse[t] = one / model_value
        noise += min(model_value + lost * change, zero)
    if noise < zero:  # nearly all of an entry went
        for t in range(kind.size):
            if y[t] < -lost * d * b[t]:
                y[t] = max(dot(f, B[space.column[t]]), least)
                inverse[t] = one / y[t]


@part
def row_loss(i, size, data, space):
    """The divergence of row i."""
    f, x, y = space.f, space.x, space.y
    indptr, indices, values = data.entries
    total = 0.0
    stored = 0.0
    for t in range(size):
        total += y[t] - x[t]
        if x[t] > 0:
            total += x[t] * np.log(np.float64(x[t]) / y[t])
        stored += y[t]
    if data.zeros_implied:
        c = data.sums[i if data.sums.shape[0] > 1 else 0]
        everywhere = 0.0
        for k in range(f.shape[0]):
            everywhere += np.float64(c[k]) * f[k]
        total += max(everywhere - stored, 0.0)
    elif size < indptr[i + 1] - indptr[i]:
        for t in range(indptr[i], indptr[i + 1]):
            if values[t] <= 0:
                total += dot(f, data.B[indices[t]])
    return total


@inner
def guard(coupling, F, kind, B, squared, least, space):
    """Take back as much of the step from F[i] to f as it takes for the row's sum not to rise.

    ``before`` and ``y`` of the workspace are the model at F[i] and at f; ``y`` follows.
    """
    i, f, step = kind.i, space.f, space.step
    x, y, before = space.x, space.y, space.before
    linear, square, column = space.linear, space.square, space.column
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
        for t in range(kind.size):
            part = x[t] * np.log(np.float64(y[t]) / before[t])
            rise -= part
            sure += abs(part)
        sure *= 8 * np.finfo(y.dtype).eps
        if coupling is not None:
            rise += change(coupling, F, i, 0, f)
            sure = 0.0
        if rise <= sure:
            if coupling is not None:
                settle(coupling, i)
            return
        length = length * 0.5 if halving + 1 < HALVINGS else 0.0
        for k in range(K):
            f[k] = F[i, k] + length * step[k]
        for t in range(kind.size):
            y[t] = max(dot(f, B[column[t]]), least)
