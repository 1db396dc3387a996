"""Rows of a factor by coordinate descent on the squared error, their Gram matrices given.

As `masked_rows.py`, where the entries of a row lie in several places: each sums the Gram matrix of
its entries, and here is the total.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import inner, kernel
from rprnmf.kernels.csr import copy
from rprnmf.kernels.masked_rows import coupled_row, gram
from rprnmf.kernels.quadratic import curvature, descend_one, start, value


class GivenSums(NamedTuple):
    """Of some rows, in order."""

    packed: np.ndarray  # of each Gram matrix the lower triangle, row by row
    right: np.ndarray  # sums of x b
    counts: np.ndarray  # of entries


@kernel
def pack_grams(columns, belongs, B, entries, out):
    """Add the Gram matrix and the right side of rows of entries to those of their units."""
    Q, p, packed, right = out
    for place in range(columns.shape[0]):
        t, u = columns[place], belongs[place]
        gram(entries.indptr[t], entries.indptr[t + 1], entries, B, Q, p)
        at = 0
        for k in range(B.shape[1]):
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
