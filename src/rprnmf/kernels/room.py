"""Arrays that the kernels for rows work in.

They are made here and not in the kernels: code that allocates takes a second longer to compile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SQUARES = 8  # how many a model of triplets has at most
LANES, LANE_VECTORS = 5, 10


class Room(NamedTuple):
    """Room for one call of a kernel."""

    vectors: np.ndarray
    matrices: np.ndarray
    pad: np.ndarray  # zeros, where fewer than four rows are left
    multipliers: np.ndarray
    squares: np.ndarray
    lanes: np.ndarray
    together: np.ndarray  # rows that go together
    held: np.ndarray  # for every row the last group that it belongs to or touches


def make_room(K: int, dtype: np.dtype, n_rows: int = 0) -> Room:
    """Room for rows of K entries; ``n_rows`` where rows are coupled."""
    return Room(
        np.zeros((8, K), dtype),
        np.zeros((2, K, K), dtype),
        np.zeros((6, K), dtype),
        np.zeros((2, K)),
        np.zeros((SQUARES, K), dtype),
        np.zeros((LANES, LANE_VECTORS, K), dtype),
        np.zeros(4, np.int64),
        np.zeros(n_rows, np.int64),
    )


class DivergenceRoom(NamedTuple):
    """The same for the divergence, which also wants some for the entries of a row."""

    entries: np.ndarray
    columns: np.ndarray
    column: np.ndarray
    active: np.ndarray
    vectors: np.ndarray
    terms: np.ndarray
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
        np.zeros((3, K)),
        np.zeros((SQUARES, K)),
        np.zeros(SQUARES),
    )
