"""Rows of a factor by coordinate descent on the squared error, their Gram matrices given.

As `masked_rows.py`, where the entries of a row lie in several places: each sums the Gram matrix of
its entries, and here is the total.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import inner, kernel
from rprnmf.kernels.csr import copy
from rprnmf.kernels.masked_rows import coupled_row, gram, weighted_gram
from rprnmf.kernels.quadratic import curvature, descend_one, start, value
from rprnmf.kernels.weighted_rows import PASSING, choose_active, descend, weigh_terms


class GivenSums(NamedTuple):
    """Of some rows, in order."""

    packed: np.ndarray  # of each Gram matrix the lower triangle, row by row
    right: np.ndarray  # sums of x b
    counts: np.ndarray  # of entries


@kernel
def pack_grams(columns, belongs, data, weights, out):
    """Add the Gram matrix and the right side of rows of entries to those of their units.

    ``weights`` (`weighted_rows.EntryWeights`) is None where all entries count alike.
    """
    Q, p, packed, right = out
    indptr = data.entries.indptr
    for place in range(columns.shape[0]):
        t, u = columns[place], belongs[place]
        if weights is None:
            gram(indptr[t], indptr[t + 1], data.entries, data.B, Q, p)
        else:
            weighted_gram(t, data, weights, 1.0, Q, p)
        at = 0
        for k in range(Q.shape[0]):
            right[u, k] += p[k]
            for j in range(k + 1):
                packed[u, at] += Q[k, j]
                at += 1


@inner
def unpack(packed, Q):
    """The whole matrix from its lower triangle."""
    at = 0
    for k in range(Q.shape[0]):
        for j in range(k + 1):
            Q[k, j] = packed[at]
            Q[j, k] = packed[at]
            at += 1


@kernel
def packed_rows(rows, span, F, sums, terms, coupling, effort, space):
    """Lower the rows ``rows[span[0]:span[1]]``, whose sums are at the same places."""
    f, p, g, h = space.vectors[0], space.vectors[1], space.vectors[2], space.vectors[3]
    inverse, m1 = space.vectors[4], space.multipliers
    Q = space.matrices[0]
    zero = F.dtype.type(0)
    total = 0.0
    for at in range(span[0], span[1]):
        i = rows[at]
        l2_i = F.dtype.type(terms.l2[i])
        unpack(sums.packed[at], Q)
        copy(sums.right[at], p)
        pulled = terms.pull.shape[0] > 0
        if pulled:
            for k in range(F.shape[1]):
                p[k] += terms.pull[i, k]
        for k in range(F.shape[1]):
            f[k] = F[i, k]
            m1[k] = terms.members[i] * terms.m1[k]
        curvature(Q, terms.l2[i], terms.members[i], terms.m2, h)
        if coupling is None:
            if sums.counts[at] == 0 and not pulled:
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


@kernel
def packed_weighted_rows(rows, span, F, sums, terms, effort, space, Q):
    """The same with the steps of `weighted_rows.weighted_rows`, for entries with weights.

    ``Q`` is workspace.
    """
    K = F.shape[1]
    f, g = space.f, space.g
    zero = F.dtype.type(0)
    total = 0.0
    for at in range(span[0], span[1]):
        i = rows[at]
        pulled = terms.pull.shape[0] > 0
        if sums.counts[at] == 0 and not pulled:
            F[i] = 0  # no entry asks for anything
            continue
        unpack(sums.packed[at], Q)
        copy(F[i], f)
        value = 0.0
        for k in range(K):
            g[k] = zero
            for j in range(K):
                g[k] += Q[k, j] * f[j]
            value += np.float64(f[k]) * (g[k] - 2.0 * sums.right[at, k])
            g[k] -= sums.right[at, k]
            space.own[k] = Q[k, k]
            space.slope[k] = zero
        value += weigh_terms(i, terms, space)
        n_active = choose_active(effort.sweeps > PASSING, space)
        value += descend(F[i], (n_active, 0), F.dtype.type(1), Q, effort, space)
        total += value
        copy(f, F[i])
    return total
