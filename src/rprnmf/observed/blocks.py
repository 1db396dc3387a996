"""Rows of a matrix in blocks, so that no more than a part of the model exists at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

BLOCK = 1 << 21  # entries of the model that exist at once: 16 MB
CACHED = 1 << 16  # the same for a dozen operations in a row: 512 KB, which stay in the cache


def row_slices(shape: tuple[int, int], size: int) -> Iterator[slice]:
    """All rows, with about this many entries at a time."""
    n, m = shape
    step = max(1, size // m)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


class Block(NamedTuple):
    """Some rows of the model, and where X is stored in them."""

    rows: slice
    y: np.ndarray
    places: tuple[np.ndarray, np.ndarray]
    x: np.ndarray  # the values there
    holes: tuple[np.ndarray, np.ndarray] | None

    def filled(self, values: np.ndarray, stored: np.ndarray) -> np.ndarray:
        """One value per entry: those of the stored ones, and 0 at holes, take their places."""
        values[self.places] = stored
        if self.holes is not None:
            values[self.holes] = 0.0
        return values
