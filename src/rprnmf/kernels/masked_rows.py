"""Rows of a factor by coordinate descent on the squared error, where much of X is missing.

As in `frobenius_rows.py`, but every row has its own Gram matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import inner, kernel, part
from rprnmf.kernels.coupled import LANE_TRIPLETS, descend_bent, finish_row
from rprnmf.kernels.coupling import Model, feel, model
from rprnmf.kernels.csr import Stored, copy, dot
from rprnmf.kernels.lanes import fill_coupled
from rprnmf.kernels.prefetch import fetch_ahead
from rprnmf.kernels.quadratic import beyond, curvature, descend_one, start, value
from rprnmf.kernels.workspace import FIRST, SECOND, SIDE, UP


class MaskedData(NamedTuple):
    """The observed entries, times their weights, and the other factor."""

    B: np.ndarray
    entries: Stored


@kernel
def masked_rows(rows, F, data, weights, terms, coupling, effort, space):
    """Lower some rows by the entries that they observe.

    ``weights`` (`weighted_rows.EntryWeights`) is None where all entries count alike, and
    ``coupling`` for rows that no triplet or graph touches.
    """
    f, p, g, h = space.vectors[0], space.vectors[1], space.vectors[2], space.vectors[3]
    inverse, m1 = space.vectors[4], space.multipliers
    Q = space.matrices[0]
    zero = F.dtype.type(0)
    indptr = data.entries.indptr
    total = 0.0
    for i in rows:
        l2_i = F.dtype.type(terms.l2[i])
        if weights is None:
            gram(indptr[i], indptr[i + 1], data.entries, data.B, Q, p)
        else:
            weighted_gram(i, data, weights, terms.members[i], Q, p)
        pulled = terms.pull.shape[0] > 0
        if pulled:
            for k in range(F.shape[1]):
                p[k] += terms.pull[i, k]
        for k in range(F.shape[1]):
            f[k] = F[i, k]
            m1[k] = terms.members[i] * terms.m1[k]
        curvature(Q, terms.l2[i], terms.members[i], terms.m2, h)
        if coupling is None:
            if indptr[i] == indptr[i + 1] and not pulled:
                F[i] = 0  # no entry is observed
                continue
            start(f, p, Q, h, terms.l1[i], m1, g)
            for k in range(F.shape[1]):
                h[k] += max(terms.holed[i] * terms.inertia[k] - l2_i, zero)
            descend_one(f, g, Q, h, inverse, effort)
            total += value(f, p, Q)
            copy(f, F[i])
        else:
            total += coupled_row(i, F, terms, coupling, effort, space)
    return total


@part
def coupled_row(i, F, terms, coupling, effort, space):
    """Lower row i, whose Gram matrix and the like lie in the workspace."""
    f, p, g, h = space.vectors[0], space.vectors[1], space.vectors[2], space.vectors[3]
    extra = space.vectors[5]
    Q, bent = space.matrices[0], space.matrices[1]
    lane = space.lanes[0]
    l2_i = F.dtype.type(terms.l2[i])
    for k in range(F.shape[1]):
        g[k] = dot(Q[k], f) - p[k]
    felt = feel(coupling, i, 0)
    beyond(Q, h, extra)
    A = space.squares if felt.active > LANE_TRIPLETS else lane[FIRST : SECOND + 1]
    model(coupling, F, i, felt, F.dtype.type(0.5), Model(lane[SIDE], lane[UP], A))
    for k in range(F.shape[1]):
        lane[UP, k] += max(terms.holed[i] * terms.inertia[k] - l2_i, F.dtype.type(0))
    fill_coupled(lane, f, g, h, extra, terms.l1[i], space.multipliers)
    descend_bent(f, lane, Q, extra, A, bent, effort)
    return finish_row(coupling, F, i, 0, lane, g, p, extra)


@inner
def gram(begin, end, entries, B, Q, p):
    """Q = sum of b b' and p = sum of x b over some entries; four at a time."""
    K = B.shape[1]
    indices, values = entries.indices, entries.data
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
        x, y, z, w = values[t], values[t + 1], values[t + 2], values[t + 3]
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
        x = values[t]
        for k in range(K):
            p[k] += x * a[k]
            row = Q[k]
            ak = a[k]
            for j in range(K):
                row[j] += ak * a[j]
        t += 1


@inner
def weighted_gram(i, data, weights, members, Q, p):
    """The same with weights, for the entries of row i."""
    B, K = data.B, data.B.shape[1]
    indptr, indices, values = data.entries
    for k in range(K):
        p[k] = 0
        for j in range(K):
            Q[k, j] = members * weights.common[k, j]
    for t in range(indptr[i], indptr[i + 1]):
        fetch_ahead(B, indices, t)
        b = B[indices[t]]
        x, weight = values[t], weights.excess[t]
        for k in range(K):
            p[k] += x * b[k]
        for k in range(K):
            row = Q[k]
            wide = weight * b[k]
            for j in range(K):
                row[j] += wide * b[j]
