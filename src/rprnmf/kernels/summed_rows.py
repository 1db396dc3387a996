"""Rows of a factor by the squared error, from sums over data that are gone and a block at hand.

As in `masked_rows.py` every row has a Gram matrix of its own: what earlier blocks left of it, and
what the entries of this one add.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import kernel
from rprnmf.kernels.csr import Stored, copy
from rprnmf.kernels.quadratic import curvature, descend_one, start


class BlockData(NamedTuple):
    """What a block of data adds for row i: P[i], and common + sum_t excess_t b_t b_t'."""

    P: np.ndarray
    common: np.ndarray
    B: np.ndarray
    entries: Stored
    excess: np.ndarray


class PastSums(NamedTuple):
    """What is left of earlier blocks."""

    P: np.ndarray
    grams: np.ndarray  # of shape (n_rows, K, K)


@kernel
def summed_rows(rows, F, block, past, terms, effort, space, add):
    """Lower some rows; with ``add`` the sums of the block become part of those of the past."""
    f, p, g, h = space.vectors[0], space.vectors[1], space.vectors[2], space.vectors[3]
    inverse = space.vectors[4]
    Q = space.matrices[0]
    zero = F.dtype.type(0)
    indptr, indices, _ = block.entries
    K = F.shape[1]
    for i in rows:
        for k in range(K):
            p[k] = past.P[i, k] + block.P[i, k]
            for j in range(K):
                Q[k, j] = past.grams[i, k, j] + block.common[k, j]
        for t in range(indptr[i], indptr[i + 1]):
            b = block.B[indices[t]]
            for k in range(K):
                row = Q[k]
                wide = block.excess[t] * b[k]
                for j in range(K):
                    row[j] += wide * b[j]
        if add:
            copy(p, past.P[i])
            for k in range(K):
                copy(Q[k], past.grams[i, k])
        if terms.pull.shape[0] > 0:
            for k in range(K):
                p[k] += terms.pull[i, k]
        copy(F[i], f)
        l2 = F.dtype.type(terms.l2[i])
        curvature(Q, terms.l2[i], 1.0, terms.m2, h)
        start(f, p, Q, h, terms.l1[i], terms.m1, g)
        for k in range(K):
            h[k] += max(terms.holed[i] * terms.inertia[k] - l2, zero)
        descend_one(f, g, Q, h, inverse, effort)
        copy(f, F[i])
