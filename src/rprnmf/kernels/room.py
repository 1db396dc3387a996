"""Arrays that the kernels for rows work in.

They are made here and not in the kernels: code that allocates takes a second longer to compile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SQUARES = 8  # how many a model of triplets has at most
LANES, LANE_VECTORS = 5, 9


class Room(NamedTuple):
    """Room for one block of rows; threads do not share it."""

    vectors: np.ndarray  # gradients, curvatures and the like of one row
    matrices: np.ndarray  # its Gram matrix, alone and with a coupling
    pad: np.ndarray  # zeros, where fewer than four rows are left
    multipliers: np.ndarray
    squares: np.ndarray  # of the model of a coupling
    lanes: np.ndarray  # see `coupled.py`
    together: np.ndarray  # rows that go together
    held: np.ndarray  # for every row the last group that it belongs to or touches


def make_room(K: int, dtype: np.dtype, n_rows: int = 0) -> Room:
    """Room for rows of K entries; ``n_rows`` where rows are coupled."""
    return Room(
        np.zeros((6, K), dtype),
        np.zeros((2, K, K), dtype),
        np.zeros((6, K), dtype),
        np.zeros(K),
        np.zeros((SQUARES, K), dtype),
        np.zeros((LANES, LANE_VECTORS, K), dtype),
        np.zeros(4, np.int64),
        np.zeros(n_rows, np.int64),
    )


class DivergenceRoom(NamedTuple):
    """The same for the divergence, which also wants some for the entries of a row.

    ``columns`` is K times as large as the longest row of X in the block, which is what it takes
    to look at every entry of a row for each component without gathering it anew.
    """

    entries: np.ndarray  # x, the model, its inverse, the model before
    columns: np.ndarray  # the other factor at the entries, a component a row
    column: np.ndarray  # the numbers of the entries
    active: np.ndarray  # the components that may move
    vectors: np.ndarray
    terms: np.ndarray  # slope and curvature of the quadratic terms, the step, the L2 weights
    squares: np.ndarray
    along: np.ndarray  # a number for each of the squares


def make_divergence_room(K: int, dtype: np.dtype, most: int) -> DivergenceRoom:
    """Room for rows of K entries, whose rows of X have at most ``most``."""
    return DivergenceRoom(
        np.empty((4, most), dtype),
        np.empty((K, most), dtype),
        np.empty(most, np.int64),
        np.empty(K, np.int64),
        np.empty((3, K), dtype),
        np.zeros((4, K)),
        np.zeros((SQUARES, K)),
        np.zeros(SQUARES),
    )
