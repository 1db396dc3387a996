"""Rows of a factor by coordinate descent on the divergence, their entries in several places.

As `kl_rows.py`: a coordinate of a row needs two sums over all entries of the row. Each place sums
its own, for one component of all rows at once, and moves its part of the model when it is told by
how much the component moved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import kernel, part
from rprnmf.kernels.coupled import LANE_TRIPLETS
from rprnmf.kernels.coupling import Model, change, feel, model, settle
from rprnmf.kernels.csr import Stored, dot
from rprnmf.kernels.kl_rows import NEAR_FLOOR
from rprnmf.kernels.workspace import SQUARES


class Places(NamedTuple):
    """The entries of some rows that are in one place."""

    entries: Stored
    rows: np.ndarray  # of the entries, in the order of ``F``
    B: np.ndarray
    y: np.ndarray  # the model at the entries


@kernel
def begin_rows(at, F, least, phi, sizes):
    """The model at the entries, sums of x b / y, and how many entries are not zero."""
    indptr, indices, values = at.entries
    for u in range(at.rows.shape[0]):
        i = at.rows[u]
        for t in range(indptr[i], indptr[i + 1]):
            if values[t] <= 0:
                continue
            b = at.B[indices[t]]
            y = max(dot(F[u], b), least)
            at.y[t] = y
            ratio = values[t] / y
            sizes[u] += 1
            for k in range(F.shape[1]):
                phi[u, k] += ratio * b[k]


@kernel
def move_rows(at, F, k, moved, least):
    """The model after component k of some rows moved; F has moved already."""
    indptr, indices, values = at.entries
    # share of a change below which what is left of an entry is noise
    lost = F.dtype.type(64.0 * np.sqrt(np.finfo(F.dtype).eps))
    for u in range(at.rows.shape[0]):
        d = moved[u]
        if d == 0:
            continue
        i = at.rows[u]
        for t in range(indptr[i], indptr[i + 1]):
            if values[t] <= 0:
                continue
            b = at.B[indices[t]]
            step = d * b[k]
            y = max(at.y[t] + step, least)
            if y < -lost * step:  # nearly all of the entry went
                y = max(dot(F[u], b), least)
            at.y[t] = y


@kernel
def slopes_of_rows(at, k, busy, slope, bend):
    """Sums of x b / y and of x b^2 / y^2 for component k."""
    indptr, indices, values = at.entries
    for u in range(at.rows.shape[0]):
        if not busy[u]:
            continue
        i = at.rows[u]
        p, q = 0.0 * slope[u], 0.0 * slope[u]
        for t in range(indptr[i], indptr[i + 1]):
            if values[t] <= 0:
                continue
            ratio = at.B[indices[t], k] / at.y[t]
            w = values[t] * ratio
            p += w
            q += w * ratio
        slope[u], bend[u] = p, q


@kernel
def finish_rows(at, F, again, sums, before, least):
    """What a step brought: see `Outcome` in `solvers/remote_divergence.py`.

    ``again`` marks rows whose model is computed anew, for they were set back; of others only
    entries near the floor.
    """
    indptr, indices, values = at.entries
    for u in range(at.rows.shape[0]):
        i = at.rows[u]
        for t in range(indptr[i], indptr[i + 1]):
            b = at.B[indices[t]]
            if values[t] <= 0:
                sums[u, 4] += dot(F[u], b)
                continue
            if again[u] or at.y[t] < NEAR_FLOOR * least:
                at.y[t] = max(dot(F[u], b), least)
            y = at.y[t]
            gain = values[t] * np.log(np.float64(y) / before[t])
            sums[u, 0] += gain
            sums[u, 1] += abs(gain)
            sums[u, 2] += y - values[t] + values[t] * np.log(np.float64(values[t]) / y)
            sums[u, 3] += y


@kernel
def couplings(rows, F, coupling, into):
    """Slope and curvature of what couples some rows, and how many squares each has."""
    side, up, squares, sizes = into
    for u in range(rows.shape[0]):
        i = rows[u]
        felt = feel(coupling, i, 0)
        edges = coupling.edges.first[i] < coupling.edges.first[i + 1]
        if felt.active > 0 or edges:
            sizes[u] = 2 if felt.active <= LANE_TRIPLETS else SQUARES
            model(coupling, F, i, felt, 1.0, Model(side[u], up[u], squares[u, : sizes[u]]))


@kernel
def changes(rows, F, coupling, new, out):
    """By how much what couples some rows changes if they become new."""
    for u in range(rows.shape[0]):
        feel(coupling, rows[u], 0)
        out[u] = change(coupling, F, rows[u], 0, new[u])


@kernel
def settle_rows(rows, F, coupling, new):
    """The distances of some rows, as they are when these have become new."""
    for u in range(rows.shape[0]):
        feel(coupling, rows[u], 0)
        moved(coupling, F, rows[u], new[u])
        settle(coupling, rows[u])


@part
def moved(coupling, F, i, f):
    """The distances of a row under trial."""
    change(coupling, F, i, 0, f)
