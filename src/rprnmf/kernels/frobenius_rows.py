"""Rows of a factor F by coordinate descent on the squared error, the other factor B fixed.

Complete data: one Gram matrix G = B'B serves all rows, but for those with holes. All kernels
lower the loss, the terms of `workspace.RowTerms` and what couples rows, and return the loss of
the rows they changed but for the sum of squares of X, which costs next to nothing here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import inner, kernel, spliced
from rprnmf.kernels.coupled import LANE_TRIPLETS, descend_bent, finish_row, hold
from rprnmf.kernels.coupling import Coupling, Model, feel, model
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
    Effort,
    RowTerms,
    Workspace,
)

SOON = 4  # rows ahead
ALONE = 4  # the lane of a row that does not fit among the four in step
NOBODY = -1


class Gaps(NamedTuple):
    """Where rows have holes.

    ``hole[first[i]:first[i + 1]]`` are the columns that row i of X does not observe, and
    ``member[unit[u]:unit[u + 1]]`` the rows of X that share row u of F.
    """

    unit: np.ndarray
    member: np.ndarray
    first: np.ndarray
    hole: np.ndarray


class GramData(NamedTuple):
    """Complete data, or nearly."""

    R: np.ndarray  # F G - P; coupled rows with holes are set anew
    P: np.ndarray  # X B
    G: np.ndarray  # B'B
    B: np.ndarray
    torn: np.ndarray  # whether a row has holes; of no entries if none has
    gaps: Gaps


class Job(NamedTuple):
    """All that the parts of `coupled_rows` share."""

    F: np.ndarray
    data: GramData
    terms: RowTerms
    coupling: Coupling
    effort: Effort
    space: Workspace


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
                lanes[lane, NEW] = 0
                lanes[lane, GRADIENT] = 0
        descend_four(lanes, data.G, extra, effort, None)
        for place in range(at, end):
            row = rows[place]
            lane_of = lanes[place - at]
            new, gradient = lane_of[NEW], lane_of[GRADIENT]
            part = 0.0
            for k in range(F.shape[1]):
                g = gradient[k] - half * (terms.l1[row] + terms.m1[k]) - extra[k] * new[k]
                part += new[k] * (g - P[row, k])
            copy(new, F[row])
            total += terms.members[row] * part
        at = end
    return total


@inner
def share_curvature(G, l2, m2, extra, lanes):
    """The curvature of rows with this L2 term, in the first four lanes."""
    zero = G.dtype.type(0)
    steep = lanes[0, STEEP]
    curvature(G, l2, 1.0, m2, steep)
    beyond(G, steep, extra)
    for lane in range(4):
        copy(steep, lanes[lane, STEEP])
        for k in range(steep.shape[0]):
            lanes[lane, INVERSE, k] = G.dtype.type(1) / steep[k] if steep[k] > zero else zero


@kernel
def torn_rows(rows, F, data, terms, effort, space):
    """Rows with holes: a row's Gram matrix runs over the columns it observes."""
    vectors = space.vectors
    f, g, h, inverse = vectors[0], vectors[1], vectors[2], vectors[3]
    Q = space.matrices[0]
    zero = F.dtype.type(0)
    total = 0.0
    for u in rows:
        l2_u = F.dtype.type(terms.l2[u])
        if torn_gram(u, data, terms.members[u], Q) == 0:
            F[u] = 0  # nothing is observed here, nothing is asked
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
def torn_gram(u, data, count, Q):
    """Q = the mean of b b' over what the rows of X that share row u of F observe.

    Tells how many entries are observed. Holes are taken away from G = B'B, unless they carry
    more than half of some component: then what is left is summed, for a difference would have
    too few digits.
    """
    B, gaps = data.B, data.gaps
    K = B.shape[1]
    seen = 0
    Q[:] = 0
    for place in range(gaps.unit[u], gaps.unit[u + 1]):
        i = gaps.member[place]
        seen += B.shape[0] - (gaps.first[i + 1] - gaps.first[i])
        for t in range(gaps.first[i], gaps.first[i + 1]):
            add_square(B[gaps.hole[t]], Q)
    few = True
    for k in range(K):
        few = few and Q[k, k] <= 0.5 * count * data.G[k, k]
    if few:
        for k in range(K):
            for j in range(K):
                Q[k, j] = data.G[k, j] - Q[k, j] / count
        return seen
    Q[:] = 0
    for place in range(gaps.unit[u], gaps.unit[u + 1]):
        i = gaps.member[place]
        t = gaps.first[i]
        for column in range(B.shape[0]):
            if t < gaps.first[i + 1] and gaps.hole[t] == column:
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
def coupled_rows(rows, F, data, terms, coupling, effort, space):
    """As `full_rows` and `torn_rows`, for rows that triplets or a graph couple to others.

    Rows that few triplets pull at go four at a time; a group ends where a row comes that
    shares a triplet or an edge with one of it.
    """
    job = Job(F, data, terms, coupling, effort, space)
    h, extra = space.vectors[0], space.vectors[2]
    held, together = space.held, space.together
    group = 1
    size = 0 * F.shape[1]  # rows that wait; a plain 0 has a type of its own and costs compiling
    alone, lane = NOBODY, size  # a row that went alone and waits to be finished, where it is kept
    last = terms.l2.dtype.type(-1)
    total = 0.0
    for at in range(rows.shape[0] + 1):
        i = rows[min(at, rows.shape[0] - 1)]
        fetch(F, data, rows[min(at + SOON, rows.shape[0] - 1)])
        over = at == rows.shape[0] or size == 4 or held[i] == group or terms.l2[i] != last
        ready = size if over else 0
        total += finish(job, ready, alone, lane)
        if ready > 0:
            size = 0 * F.shape[1]
            group += 1
        if at == rows.shape[0]:
            break
        if terms.l2[i] != last:
            last = terms.l2[i]
            curvature(data.G, last, 1.0, terms.m2, h)
            beyond(data.G, h, extra)
        alone, lane = NOBODY, size
        if begin(job, i, size):
            alone = i
        else:
            hold(coupling, i, held, group)
            together[size] = i
            size += 1
    return total


@spliced
def fetch(F, data, row):
    """Ask the memory for a row that comes soon: rows come in no order of memory."""
    prefetch_row(F, row)
    prefetch_row(data.R, row)
    prefetch_row(data.P, row)


@spliced
def begin(job, i, size):
    """Put row i into lane number ``size``, or lower it by itself; tells whether it went alone."""
    F, data, terms, space = job.F, job.data, job.terms, job.space
    own, bent = space.matrices[0], space.matrices[1]
    felt = feel(job.coupling, i, size)
    alone = felt.active > LANE_TRIPLETS
    Q, h, extra = data.G, space.vectors[0], space.vectors[2]
    torn = data.torn.shape[0] > 0 and data.torn[i]
    if torn:
        alone = True
        torn_gram(i, data, terms.members[i], own)
        for k in range(F.shape[1]):
            data.R[i, k] = dot(own[k], F[i]) - data.P[i, k]
        h, extra = space.vectors[1], space.vectors[3]
        curvature(own, terms.l2[i], 1.0, terms.m2, h)
        beyond(own, h, extra)
        Q = own
    lane = space.lanes[ALONE if alone else size]
    A = space.squares if felt.active > LANE_TRIPLETS else lane[FIRST : SECOND + 1]
    model(job.coupling, F, i, felt, F.dtype.type(0.5), Model(lane[SIDE], lane[UP], A))
    if torn:
        l2_i = F.dtype.type(terms.l2[i])
        for k in range(F.shape[1]):
            lane[UP, k] += max(terms.holed[i] * terms.inertia[k] - l2_i, F.dtype.type(0))
    fill_coupled(lane, F[i], data.R[i], h, extra, terms.l1[i], terms.m1)
    if alone:
        descend_bent(F[i], lane, Q, extra, A, bent, job.effort)
    return alone


@spliced
def finish(job, ready, alone, lane):
    """Lower the rows that wait in the first ``ready`` lanes, and finish them.

    ``alone`` is a row that went alone, kept under the number ``lane``, or NOBODY.
    """
    F, data, lanes = job.F, job.data, job.space.lanes
    extra = job.space.vectors[2]
    total = 0.0
    if ready > 0:
        for empty in range(ready, 4):
            lanes[empty] = 0
        descend_four(lanes, data.G, extra, job.effort, True)
    for number in range(ALONE + 1 if alone != NOBODY else ready):
        if number < ready or number == ALONE:
            row, kept, over = job.space.together[min(number, 3)], number, extra
            if number == ALONE:
                row, kept = alone, lane
                if data.torn.shape[0] > 0 and data.torn[row]:
                    over = job.space.vectors[3]
            total += finish_row(
                job.coupling, F, row, kept, lanes[number], data.R[row], data.P[row], over
            )
    return total
