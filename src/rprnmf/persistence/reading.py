"""Trees of JSON and arrays as values again.

Reading makes values of the types listed here, and of classes that `Objects` knows. It imports and
runs nothing that a file names. What is not in order is a ValueError, a TypeError or an
OverflowError.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rprnmf.array_file.layout import n_entries
from rprnmf.persistence.columns import SEQUENCES, unpack
from rprnmf.persistence.frames import read_frame
from rprnmf.persistence.objects import Objects
from rprnmf.persistence.pool import DEEPEST, Pool, parts_of
from rprnmf.persistence.random_states import read_random_state
from rprnmf.persistence.sparse import read_sparse
from rprnmf.persistence.times import time_dtype

SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Reader:
    """Nodes of a header -> values.

    Parameters
    ----------
    pool : Pool
        Has the arrays.
    objects : Objects, default=None
        The classes that may occur.
    """

    def __init__(self, pool: Pool, objects: Objects | None = None):
        self.pool, self.objects = pool, objects
        self.makers: dict[str, Callable[[Any, int], Any]] = {
            "float": self._float,
            "list": self._each,
            "tuple": lambda inner, depth: tuple(self._each(inner, depth)),
            "items": self._items,
            "dict": self._dict,
            "scalar": self._scalar,
            "array": lambda inner, _: self.pool.take(inner),
            "rows": lambda inner, _: self.pool.take_rows(inner),
            "times": self._times,
            "objects": self._objects,
            "records": self._records,
            "sparse": lambda inner, _: read_sparse(inner, self.pool),
            "random_state": lambda inner, _: read_random_state(inner, self.pool),
            "frame": lambda inner, depth: read_frame(inner, self, depth),
            "object": self._object,
        }

    def value(self, node: Any, depth: int = 0) -> Any:
        """One value."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if depth > DEEPEST:
            raise ValueError(f"values are nested more than {DEEPEST} deep.")
        if not isinstance(node, dict) or len(node) != 1:
            raise ValueError("a value must be plain, or an object with one entry.")
        ((name, inner),) = node.items()
        if name not in self.makers:
            raise ValueError(f"values of the kind {name[:40]!r} are not known.")
        return self.makers[name](inner, depth)

    def _float(self, inner: Any, depth: int) -> float:
        if not isinstance(inner, str) or inner not in SPECIAL:
            raise ValueError("a float must be a number, nan, inf or -inf.")
        return SPECIAL[inner]

    def _each(self, inner: Any, depth: int) -> list[Any]:
        if not isinstance(inner, list):
            raise ValueError("the values of a list must be a list.")
        return [self.value(node, depth + 1) for node in inner]

    def _items(self, inner: Any, depth: int) -> Any:
        name, packed = parts_of(inner, 2, "a list of values")
        if not isinstance(name, str) or name not in SEQUENCES:
            raise ValueError(f"lists of the kind {str(name)[:40]!r} are not known.")
        return SEQUENCES[name](unpack(packed, self.pool))

    def _scalar(self, inner: Any, depth: int) -> Any:
        values = unpack(inner, self.pool)
        if len(values) != 1:
            raise ValueError(f"one value must be one, got {len(values)}.")
        return values[0]

    def _dict(self, inner: Any, depth: int) -> dict[Any, Any]:
        keys, values = (self.value(node, depth + 1) for node in parts_of(inner, 2, "a dict"))
        if not isinstance(keys, list) or not isinstance(values, list) or len(keys) != len(values):
            raise ValueError("a dict must have as many keys as values.")
        found = dict(zip(keys, values, strict=True))
        if len(found) < len(keys):
            raise ValueError("a key of a dict occurs twice.")
        return found

    def _times(self, inner: Any, depth: int) -> np.ndarray:
        name, unit, number = parts_of(inner, 3, "an array of times")
        dtype, found = time_dtype(name, unit), self.pool.take(number)
        if found.dtype != np.int64 or not found.flags.c_contiguous:
            raise ValueError(f"an array of times must be of int64, got {found.dtype}.")
        return found.view(dtype)

    def _objects(self, inner: Any, depth: int) -> np.ndarray:
        shape, packed = parts_of(inner, 2, "an array of objects")
        values = unpack(packed, self.pool)
        if n_entries(shape) != len(values):
            raise ValueError(f"an array of the shape {shape} cannot have {len(values)} values.")
        return np.fromiter(values, dtype=object, count=len(values)).reshape(shape)

    def _records(self, inner: Any, depth: int) -> np.ndarray:
        names, nodes = parts_of(inner, 2, "a table of numbers")
        columns = self._each(nodes, depth)
        if not isinstance(names, list) or len(names) != len(columns) or not columns:
            raise ValueError("a table of numbers must have as many names as columns.")
        if not all(isinstance(name, str) and name for name in names):
            raise ValueError("the columns of a table of numbers must have names.")
        first = columns[0]
        for column in columns:
            if type(column) is not np.ndarray or column.ndim != 1 or len(column) != len(first):
                raise ValueError("the columns of a table of numbers must be of one length.")
        both = list(zip(names, columns, strict=True))
        found = np.empty(len(first), dtype=[(name, column.dtype) for name, column in both])
        for name, column in both:
            found[name] = column
        return found

    def _object(self, inner: Any, depth: int) -> Any:
        name, nodes = parts_of(inner, 2, "an object")
        if self.objects is None or not isinstance(nodes, dict):
            raise ValueError("an object cannot be here.")
        self.objects.check(name, nodes)
        parts = {key: self.value(node, depth + 1) for key, node in nodes.items()}
        return self.objects.build(name, parts)
