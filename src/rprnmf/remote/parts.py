"""What is done with one block of a `RemoteArray`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Named:
    """A function with options: as `functools.partial`, but it may be compared and sent."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]):
        self.function, self.options = function, options

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments, **self.options)


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A' B: sums over the rows."""
    return A.T @ B


def einsum(*arrays: np.ndarray, spec: str, **options: Any) -> np.ndarray:
    """As numpy's."""
    return np.einsum(spec, *arrays, **options)


def count(A: np.ndarray, axis: int | None) -> Any:
    """Entries that are not zero, or not False."""
    return np.count_nonzero(A, axis=axis)


def astype(A: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """As another type."""
    return A.astype(dtype)


def taken(A: np.ndarray, key: Any) -> np.ndarray:
    """A part of every row."""
    return A[key]


def filled(A: np.ndarray, value: Any) -> np.ndarray:
    """The same everywhere."""
    return np.full_like(A, value)


def with_part(A: np.ndarray, value: Any, key: Any) -> np.ndarray:
    """With another value in a part of every row."""
    changed = A.copy()
    changed[key] = value
    return changed


def here(first: int, n: int, rows: np.ndarray) -> np.ndarray:
    """The places in ``rows`` of those that are among n rows from ``first`` on."""
    return np.flatnonzero((rows >= first) & (rows < first + n))


def rows_of(A: np.ndarray, first: int, rows: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Those of some rows that are in this block, and their places among them."""
    places = here(first, len(A), rows)
    return [(places, A[rows[places] - first])]


def with_rows(A: np.ndarray, first: int, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """With other values in some rows."""
    places = here(first, len(A), rows)
    if not len(places):
        return A
    changed = A.copy()
    changed[rows[places] - first] = values if np.ndim(values) < A.ndim else values[places]
    return changed
