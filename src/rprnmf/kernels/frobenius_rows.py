"""Rows of a factor F by coordinate descent on the squared error, the other factor B fixed.

Complete data: one Gram matrix G = B'B serves all rows, but for those with holes. All kernels
lower the loss, the terms of `workspace.RowTerms` and what couples rows. They return the loss of
the rows they changed, without the sum of squares of X: that value is a by-product.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import inner, kernel, part
from rprnmf.kernels.coupled import LANE_TRIPLETS, descend_bent, finish_row, hold
from rprnmf.kernels.coupling import Model, feel, model
from rprnmf.kernels.csr import copy, dot
from rprnmf.kernels.lanes import descend_four, fill_coupled, fill_plain
from rprnmf.kernels.prefetch import prefetch_row
from rprnmf.kernels.quadratic import beyond, curvature, descend_one, start, value
from rprnmf.kernels.workspace import (
    FIRST,
    GRADIENT,
    INVERSE,
    NEW,
    SECOND,
    SIDE,
    STEEP,
    UP,
)

SOON = 4  # rows ahead for which the memory is asked
ALONE = 4  # the lane of a row that does not fit among the four in step
NOBODY = -1


class GramData(NamedTuple):
    """The data of rows that observe all columns."""

    R: np.ndarray  # F G - P; coupled rows with holes are set anew
    P: np.ndarray  # X B
    G: np.ndarray  # B'B


class Holes(NamedTuple):
    """Which rows have holes, and where.

    ``column[first[i]:first[i + 1]]`` are the columns that row i of X does not observe, and
    ``member[unit[u]:unit[u + 1]]`` the rows of X that share row u of F.
    """

    torn: np.ndarray  # whether a row of F has holes
    B: np.ndarray
    unit: np.ndarray
    member: np.ndarray
    first: np.ndarray
    column: np.ndarray


@kernel
def full_rows(rows, F, data, terms, effort, space):
    """Rows without holes, four in step where their L2 terms are the same."""
    lanes, extra = space.lanes, space.vectors[0]
    P = data.P
    half = F.dtype.type(0.5)
    last = terms.l2.dtype.type(-1)
    total = 0.0
    at = 0
    while at < rows.shape[0]:
        i = rows[at]
        if terms.l2[i] != last:
            last = terms.l2[i]
            share_curvature(data.G, last, terms.m2, extra, lanes)
        end = at + 1
        while end < min(at + 4, rows.shape[0]) and terms.l2[rows[end]] == last:
            end += 1
        for lane in range(4):
            if at + lane < end:
                row = rows[at + lane]
                fill_plain(lanes[lane], F[row], data.R[row], extra, terms.l1[row], terms.m1)
            else:
                new, gradient = lanes[lane, NEW], lanes[lane, GRADIENT]
                for k in range(F.shape[1]):
                    new[k] = 0
                    gradient[k] = 0
        descend_four(lanes, data.G, extra, effort, None)
        for place in range(at, end):
            row = rows[place]
            lane_of = lanes[place - at]
            new, gradient = lane_of[NEW], lane_of[GRADIENT]
            loss = 0.0
            for k in range(F.shape[1]):
                g = gradient[k] - half * (terms.l1[row] + terms.m1[k]) - extra[k] * new[k]
                loss += new[k] * (g - P[row, k])
                F[row, k] = new[k]
            total += terms.members[row] * loss
        at = end
    return total


@part
def share_curvature(G, l2, m2, extra, lanes):
    """The curvature of rows with this L2 term, in the first four lanes."""
    zero = G.dtype.type(0)
    one = G.dtype.type(1)
    curvature(G, l2, 1.0, m2, extra)
    for k in range(extra.shape[0]):
        steep = extra[k]
        extra[k] -= G[k, k]
        for lane in range(4):
            lanes[lane, STEEP, k] = steep
            lanes[lane, INVERSE, k] = one / steep if steep > zero else zero


@kernel
def torn_rows(rows, F, data, holes, terms, effort, space):
    """Rows with holes: a row's Gram matrix runs over the columns it observes."""
    vectors = space.vectors
    f, g, h, inverse = vectors[0], vectors[1], vectors[2], vectors[3]
    Q = space.matrices[0]
    zero = F.dtype.type(0)
    total = 0.0
    for u in rows:
        l2_u = F.dtype.type(terms.l2[u])
        seen = torn_gram(u, data.G, holes, terms.members[u], Q)
        if seen == 0 and terms.pull.shape[0] == 0:
            F[u] = 0  # no entry is observed
            continue
        copy(F[u], f)
        curvature(Q, terms.l2[u], 1.0, terms.m2, h)
        start(f, data.P[u], Q, h, terms.l1[u], terms.m1, g)
        for k in range(f.shape[0]):
            h[k] += max(terms.holed[u] * terms.inertia[k] - l2_u, zero)
        descend_one(f, g, Q, h, inverse, effort)
        copy(f, F[u])
        total += terms.members[u] * value(f, data.P[u], Q)
    return total


@inner
def torn_gram(u, G, holes, count, Q):
    """Q = the mean of b b' over what the rows of X that share row u of F observe.

    Tells how many entries are observed. Holes are taken away from G = B'B, unless they carry
    more than half of some component: then what is left is summed, because the difference would
    have too few digits.
    """
    B = holes.B
    K = B.shape[1]
    seen = 0
    Q[:] = 0
    for place in range(holes.unit[u], holes.unit[u + 1]):
        i = holes.member[place]
        seen += B.shape[0] - (holes.first[i + 1] - holes.first[i])
        for t in range(holes.first[i], holes.first[i + 1]):
            add_square(B[holes.column[t]], Q)
    few = True
    for k in range(K):
        few = few and Q[k, k] <= 0.5 * count * G[k, k]
    if few:
        for k in range(K):
            for j in range(K):
                Q[k, j] = G[k, j] - Q[k, j] / count
        return seen
    Q[:] = 0
    for place in range(holes.unit[u], holes.unit[u + 1]):
        i = holes.member[place]
        t = holes.first[i]
        for column in range(B.shape[0]):
            if t < holes.first[i + 1] and holes.column[t] == column:
                t += 1
            else:
                add_square(B[column], Q)
    Q /= count
    return seen


@inner
def add_square(b, Q):
    """Q += b b'."""
    for k in range(b.shape[0]):
        for j in range(b.shape[0]):
            Q[k, j] += b[k] * b[j]


@kernel
def coupled_rows(rows, F, data, holes, terms, coupling, effort, space):
    """As `full_rows` and `torn_rows`, for rows that triplets or a graph couple to others.

    Rows that few triplets pull at go four at a time; a group ends before a row that
    shares a triplet or an edge with one of its rows. ``holes`` is None if no row has any.
    """
    h, extra = space.vectors[0], space.vectors[2]
    held, together = space.held, space.together
    group = 1
    size = 0 * F.shape[1]  # rows that wait; a plain 0 has a type of its own and costs compiling
    # a row that went alone and waits to be finished, and where it is kept
    alone, lane = size + NOBODY, size
    last = terms.l2.dtype.type(-1)
    total = 0.0
    for at in range(rows.shape[0] + 1):
        i = rows[min(at, rows.shape[0] - 1)]
        fetch(F, data, rows[min(at + SOON, rows.shape[0] - 1)])
        over = at == rows.shape[0] or size == 4 or held[i] == group or terms.l2[i] != last
        ready = size if over else 0
        total += finish(F, data, holes, coupling, effort, space, (ready, alone, lane))
        if ready > 0:
            size = 0 * F.shape[1]
            group += 1
        if at == rows.shape[0]:
            break
        if terms.l2[i] != last:
            last = terms.l2[i]
            curvature(data.G, last, 1.0, terms.m2, h)
            beyond(data.G, h, extra)
        alone, lane = size * 0 + NOBODY, size
        if begin(F, data, holes, terms, coupling, effort, space, (i, size)):
            alone = i
        else:
            hold(coupling, i, held, group)
            together[size] = i
            size += 1
    return total


@part
def fetch(F, data, row):
    """Ask the memory for a row that comes soon: rows come in no order of memory."""
    prefetch_row(F, row)
    prefetch_row(data.R, row)
    prefetch_row(data.P, row)


@part
def begin(F, data, holes, terms, coupling, effort, space, where):
    """Put a row into a lane, or lower it by itself; tells whether it went alone.

    ``where`` is the row and the number of the lane.
    """
    i, size = where
    row_gram, bent = space.matrices[0], space.matrices[1]
    felt = feel(coupling, i, size)
    alone = felt.active > LANE_TRIPLETS
    Q, h, extra = data.G, space.vectors[0], space.vectors[2]
    if holes is not None:
        if holes.torn[i]:
            alone = True
            torn_gram(i, data.G, holes, terms.members[i], row_gram)
            for k in range(F.shape[1]):
                data.R[i, k] = dot(row_gram[k], F[i]) - data.P[i, k]
            h, extra = space.vectors[1], space.vectors[3]
            curvature(row_gram, terms.l2[i], 1.0, terms.m2, h)
            beyond(row_gram, h, extra)
            Q = row_gram
    lane = space.lanes[ALONE if alone else size]
    A = space.squares if felt.active > LANE_TRIPLETS else lane[FIRST : SECOND + 1]
    model(coupling, F, i, felt, F.dtype.type(0.5), Model(lane[SIDE], lane[UP], A))
    if holes is not None:
        l2_i = F.dtype.type(terms.l2[i])
        for k in range(F.shape[1]):
            lane[UP, k] += max(terms.holed[i] * terms.inertia[k] - l2_i, F.dtype.type(0))
    fill_coupled(lane, F[i], data.R[i], h, extra, terms.l1[i], terms.m1)
    if alone:
        descend_bent(F[i], lane, Q, extra, A, bent, effort)
    return alone


@part
def finish(F, data, holes, coupling, effort, space, waiting):
    """Lower the rows that wait in lanes, and finish them and a row that went alone.

    ``waiting`` is how many lanes are ready, that row or NOBODY, and the number of its lane.
    """
    ready, alone, lane = waiting
    lanes, extra = space.lanes, space.vectors[2]
    total = 0.0
    if ready > 0:
        for empty in range(ready, 4):
            for what in range(lanes.shape[1]):
                for k in range(lanes.shape[2]):
                    lanes[empty, what, k] = 0
        descend_four(lanes, data.G, extra, effort, True)
    for number in range(ALONE + 1 if alone != NOBODY else ready):
        if number < ready or number == ALONE:
            row, kept, over = space.together[min(number, 3)], number, extra
            if number == ALONE:
                row, kept = alone, lane
                if holes is not None:
                    if holes.torn[row]:
                        over = space.vectors[3]
            total += finish_row(
                coupling, F, row, kept, lanes[number], data.R[row], data.P[row], over
            )
    return total
