"""Values as a tree of JSON and arrays: a list of what is allowed, and nothing else.

None, bools, whole numbers, finite floats and text are themselves. All else is an object with one
entry, whose key says what it is: {"array": 3} is array 3 of the file.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rprnmf.array_file.layout import DTYPES, MOST_DIMENSIONS
from rprnmf.persistence.columns import EXPECTED, LARGEST, SEQUENCES, kind_of, pack
from rprnmf.persistence.frames import frame_node, is_pandas
from rprnmf.persistence.objects import Objects
from rprnmf.persistence.pool import DEEPEST, Pool
from rprnmf.persistence.random_states import random_state_node
from rprnmf.persistence.sparse import is_sparse, sparse_node
from rprnmf.persistence.times import time_unit
from rprnmf.remote import is_chunked


class Writer:
    """Values -> nodes of a header.

    Parameters
    ----------
    pool : Pool
        Gets the arrays.
    objects : Objects, default=None
        The classes that may occur.
    """

    def __init__(self, pool: Pool, objects: Objects | None = None):
        self.pool, self.objects = pool, objects

    def node(self, value: Any, where: str, depth: int = 0) -> Any:
        """One value; ``where`` is for messages."""
        if depth > DEEPEST:
            raise TypeError(f"{where} cannot be saved: it is nested more than {DEEPEST} deep.")
        kind = type(value)
        if value is None or kind in (bool, str) or (kind is int and abs(value) < LARGEST):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if kind.__name__ in SEQUENCES and kind is SEQUENCES[kind.__name__]:
            return self._sequence(value, where, depth)
        if kind is dict:
            both = (list(value), list(value.values()))
            return {"dict": [self.node(part, where, depth + 1) for part in both]}
        if kind in (np.ndarray, np.memmap):
            return self._array(np.asarray(value), where)
        if is_chunked(value):
            return {"rows": self.pool.put_rows(value, where)}
        if kind_of(value) is not None:
            return {"scalar": pack([value], self.pool, where)}
        if is_sparse(value):
            return {"sparse": sparse_node(value, self.pool, where)}
        if kind is np.random.RandomState:
            return {"random_state": random_state_node(value, self.pool, where)}
        if is_pandas(value):
            return {"frame": frame_node(value, self, where, depth)}
        if self.objects is not None and self.objects.knows(kind):
            parts = self.objects.parts(value)
            inner = {name: self.node(v, f"{where}.{name}", depth + 1) for name, v in parts.items()}
            return {"object": [kind.__name__, inner]}
        raise TypeError(
            f"{where} cannot be saved: it is of the type {kind.__module__}.{kind.__qualname__}; "
            f"{EXPECTED}, dicts, arrays, csr, csc and coo matrices, DataFrames of pandas and a "
            "RandomState can be saved."
        )

    def _sequence(self, value: Any, where: str, depth: int) -> dict[str, Any]:
        name = type(value).__name__
        if name in ("list", "tuple") and not all_plain(value):
            inner = [self.node(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(value)]
            return {name: inner}
        return {"items": [name, pack(list(value), self.pool, where)]}

    def _array(self, array: np.ndarray, where: str) -> dict[str, Any]:
        dtype, shape = array.dtype, list(array.shape)
        if array.ndim > MOST_DIMENSIONS:
            raise TypeError(
                f"{where} cannot be saved: it has {array.ndim} dimensions, at most "
                f"{MOST_DIMENSIONS} are."
            )
        if dtype.name in DTYPES:
            return {"array": self.pool.put(array)}
        if dtype.kind in "mM" and time_unit(dtype) is not None:
            whole = array.astype(dtype.newbyteorder("="), order="C").view(np.int64)
            return {"times": [dtype.type.__name__, time_unit(dtype), self.pool.put(whole)]}
        if dtype.kind == "O":
            return {"objects": [shape, pack(array.ravel().tolist(), self.pool, where)]}
        if dtype.names and array.ndim == 1:
            inner = [
                self._array(np.ascontiguousarray(array[name]), f"{where}[{name!r}]")
                for name in dtype.names
            ]
            return {"records": [list(dtype.names), inner]}
        raise TypeError(
            f"{where} cannot be saved: it is an array of the dtype {dtype}, expected one of "
            f"{', '.join(DTYPES)}, times or objects."
        )


def all_plain(values: Any, depth: int = 0) -> bool:
    """Whether values, and those in lists of them, belong in columns."""
    for value in values:
        kind = kind_of(value)
        if kind is None:
            return False
        if kind in SEQUENCES and depth < DEEPEST and not all_plain(value, depth + 1):
            return False
    return True
