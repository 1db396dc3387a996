"""Nested values as JSON and arrays, and back, to the last bit.

Numbers keep their types: a Python float times an array of float32 is of float32, a float64 of
numpy's is not, and a computation would go on otherwise than it began.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rprnmf.array_file import FileFormatError
from rprnmf.remote import RemoteArray

Arrays = dict[str, np.ndarray]


def packed(value: Any) -> tuple[Any, Arrays]:
    """A value as what JSON can hold, and its arrays by name.

    Parameters
    ----------
    value : None, bool, int, float, str, ndarray, numpy scalar; list, tuple or dict of these
        Keys of a dict are strings. An array that occurs twice is kept once.
    """
    names: dict[int, str] = {}
    arrays: Arrays = {}

    def name_of(array: np.ndarray) -> str:
        name = names.setdefault(id(array), f"array{len(names)}")
        arrays[name] = array  # also keeps it alive, so that no other gets its id
        return name

    def pack(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return {"array": name_of(value)}
        if isinstance(value, np.generic):
            return {"scalar": name_of(np.asarray(value))}
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": repr(value)}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, (list, tuple)):
            return {type(value).__name__: [pack(each) for each in value]}
        if isinstance(value, dict):
            return {"dict": {key: pack(each) for key, each in value.items()}}
        raise TypeError(f"a checkpoint cannot hold a {type(value).__name__}: {value!r}.")

    return pack(value), arrays


def unpacked(value: Any, arrays: Arrays) -> Any:
    """What `packed` was given.

    Raises
    ------
    FileFormatError
        If the value is not as `packed` makes it.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict) and len(value) == 1:
        ((kind, content),) = value.items()
        if kind in ("array", "scalar") and isinstance(content, str) and content in arrays:
            found = arrays[content]
            return found if kind == "array" else found[()]
        if kind == "float" and content in ("inf", "-inf", "nan"):
            return float(content)
        if kind in ("list", "tuple") and isinstance(content, list):
            parts = [unpacked(each, arrays) for each in content]
            return parts if kind == "list" else tuple(parts)
        if kind == "dict" and isinstance(content, dict):
            return {key: unpacked(each, arrays) for key, each in content.items()}
    raise FileFormatError(f"a part of its content is not in order: {str(value)[:80]}.")


def copied(value: Any) -> Any:
    """The same value with arrays of its own, in the same memory order."""
    if isinstance(value, (np.ndarray, RemoteArray)):
        return value.copy(order="K")
    if isinstance(value, (list, tuple)):
        return type(value)(copied(each) for each in value)
    if isinstance(value, dict):
        return {key: copied(each) for key, each in value.items()}
    return value
