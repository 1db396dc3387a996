"""Arrays that the kernels for rows work in, and what all of them are told.

The arrays are made here and not in the kernels: code that allocates takes a second longer to
compile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LINE = 16  # numbers that lie together in the cache
PACK = 32  # numbers that a compiled sum takes at a time
SQUARES = 8  # rows of the matrix A in the quadratic model of a row's triplets, at most
LANES = 5  # four rows in step, and one that does not fit among them
# what a lane holds of its row: see `lanes.py`
NEW, GRADIENT, BEFORE, SIDE, UP, FIRST, SECOND, STEEP, INVERSE = range(9)


class RowTerms(NamedTuple):
    """What acts on every row beside its data and other rows.

    The kernels add, for row i, sum_k (l1[i] + m1[k]) f_k + (l2[i] (1 + m2[1, k]) + m2[0, k]) f_k^2,
    the multipliers counting ``members[i]`` times where rows of X share a row, and
    - 2 sum_k pull[i, k] f_k.
    """

    l1: np.ndarray
    l2: np.ndarray
    m1: np.ndarray  # multipliers of the sizes of the columns
    m2: np.ndarray
    members: np.ndarray  # how many rows of X share the row
    holed: np.ndarray  # 1 for rows with holes (over their members where data are means), else 0
    inertia: np.ndarray  # per component, for rows with holes: see `solvers/row_problems.py`
    pull: np.ndarray  # one row per row, or none; kernels for complete data have it in X B already


class Effort(NamedTuple):
    """How far to go in one row."""

    sweeps: int  # over the row, at most
    share: float  # a row ends when a sweep gains less than this fraction of what its first gained
    guarded: bool  # whether a row checks that its part of the objective does not rise (KL)


class Workspace(NamedTuple):
    """For one block of rows; threads do not share it."""

    vectors: np.ndarray  # gradients, curvatures and the like of one row
    matrices: np.ndarray  # its Gram matrix, alone and with a coupling
    multipliers: np.ndarray
    squares: np.ndarray  # the matrix A of the quadratic model of a coupling
    lanes: np.ndarray
    together: np.ndarray  # rows that are changed in the same step
    held: np.ndarray  # for every row the last group that it belongs to or touches


def make_workspace(K: int, dtype: np.dtype, n_rows: int = 0) -> Workspace:
    """For rows of K entries; ``n_rows`` where rows are coupled."""
    return Workspace(
        np.zeros((6, K), dtype),
        np.zeros((2, K, K), dtype),
        np.zeros(K),
        np.zeros((SQUARES, K), dtype),
        np.zeros((LANES, 9, K), dtype),
        np.zeros(4, np.int64),
        np.zeros(n_rows, np.int64),
    )


class ResidualWorkspace(NamedTuple):
    """For one block of rows that keep their residuals (`weighted_rows.py`)."""

    residual: np.ndarray  # per entry: weight times error,
    weight: np.ndarray  # and the weight
    columns: np.ndarray  # the other factor at the entries, one row per component
    f: np.ndarray  # the row
    g: np.ndarray  # half the slope of what all columns weigh alike
    own: np.ndarray  # half the curvature of the data,
    steep: np.ndarray  # and of all that acts on the row
    linear: np.ndarray  # half the linear terms
    extra: np.ndarray  # what ``steep`` is above ``own``, but for
    slow: np.ndarray  # the inertia
    pull: np.ndarray
    slope: np.ndarray  # half the slope of the stored entries, at the begin
    active: np.ndarray  # the components that may move


def make_residual_workspace(K: int, dtype: np.dtype, most: int) -> ResidualWorkspace:
    """For rows of K entries; the rows of X have at most ``most`` entries."""
    residual, weight = np.empty((2, most + PACK), dtype)
    columns = np.empty((K, padded(most + PACK)), dtype)
    f, g, own, steep, linear, extra, slow, pull, slope = np.empty((9, K), dtype)
    return ResidualWorkspace(
        residual=residual,
        weight=weight,
        columns=columns,
        f=f,
        g=g,
        own=own,
        steep=steep,
        linear=linear,
        extra=extra,
        slow=slow,
        pull=pull,
        slope=slope,
        active=np.empty(K, np.int64),
    )


def padded(most: int) -> int:
    """A length above ``most`` at which rows of a matrix do not share cache lines."""
    width = LINE * (most // LINE + 1)
    return width + LINE * (width // LINE % 2 == 0)  # a distance of 2^n would


class KLWorkspace(NamedTuple):
    """The same for the divergence, which also needs arrays for the entries of a row.

    ``columns`` is K times as large as the longest row of X in the block, so that each component
    finds all entries of a row without gathering them again.
    """

    x: np.ndarray  # per entry: its value,
    y: np.ndarray  # the model,
    inverse: np.ndarray  # 1 / y,
    before: np.ndarray  # and the model before the step
    columns: np.ndarray  # the other factor at the entries, one row per component
    column: np.ndarray  # the columns of X in which the entries stand
    active: np.ndarray  # the components that may move
    f: np.ndarray  # the row
    phi: np.ndarray  # sum x b / y
    linear: np.ndarray  # linear terms
    side: np.ndarray  # slope of the quadratic terms,
    up: np.ndarray  # and the diagonal of their curvature
    step: np.ndarray
    square: np.ndarray  # L2 weights
    squares: np.ndarray
    along: np.ndarray  # squares @ step


class NewtonWorkspace(NamedTuple):
    """Beside it for Newton's steps (`kl_newton.py`)."""

    ratio: np.ndarray  # per entry: x / y,
    weighted: np.ndarray  # and a component of the other factor, weighted
    vectors: np.ndarray  # slopes and the like of one row
    Q: np.ndarray  # its curvature
    free: np.ndarray  # the components that a step may change


def make_kl_workspace(K: int, dtype: np.dtype, most: int, gathers: bool) -> KLWorkspace:
    """For rows of K entries; the rows of X have at most ``most`` entries.

    ``gathers``: whether rows gather their entries, see `kl_rows.kl_rows`.
    """
    width = padded(most) if gathers else LINE
    x, y, inverse, before = np.empty((4, most), dtype)
    f, phi, linear = np.empty((3, K), dtype)
    side, up, step, square = np.zeros((4, K))
    return KLWorkspace(
        x=x,
        y=y,
        inverse=inverse,
        before=before,
        columns=np.empty((K, width), dtype),
        column=np.arange(most),
        active=np.empty(K, np.int64),
        f=f,
        phi=phi,
        linear=linear,
        side=side,
        up=up,
        step=step,
        square=square,
        squares=np.zeros((SQUARES, K)),
        along=np.zeros(SQUARES),
    )


def make_newton_workspace(K: int, dtype: np.dtype, most: int) -> NewtonWorkspace:
    """As `make_kl_workspace`."""
    ratio, weighted = np.empty((2, most), dtype)
    vectors, Q = np.empty((5, K), dtype), np.empty((K, K), dtype)
    return NewtonWorkspace(ratio, weighted, vectors, Q, np.empty(K, np.int64))
