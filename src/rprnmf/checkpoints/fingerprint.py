"""What a computation was given, in a few letters each: is a checkpoint of the same one?"""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.remote import Placed, Remote

BLOCK = 1 << 24  # bytes that are made contiguous at once: X may be half of the memory


def digest(value: Any) -> str:
    """A short text that differs where values differ.

    Parameters
    ----------
    value : array, sparse array, number, text or None; list, tuple, dict or dataclass of these
        Of other objects the attributes are taken.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.checkpoints import digest
    >>> digest(np.arange(3)) == digest(np.array([0, 1, 2]))
    True
    >>> digest(np.arange(3)) == digest(np.array([0.0, 1.0, 2.0]))
    False
    """
    found = hashlib.blake2b(digest_size=16)
    _add(found, value)
    return found.hexdigest()


def _add(found: Any, value: Any) -> None:
    """Each value with its kind and size before it, so that no two run together alike."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        found.update(f"array {value.dtype.str} {value.shape};".encode())
        _add_bytes(found, value)
    elif isinstance(value, (Placed, Remote)):
        remote = value.blocks if isinstance(value, Placed) else value
        found.update(f"blocks {getattr(value, 'shape', '')};".encode())
        _add(found, value.pool.each(digest, remote))
    elif sp.issparse(value):
        found.update(f"sparse {value.format} {value.shape};".encode())
        names = "data", "indices", "indptr", "row", "col", "offsets"
        _add(found, {name: getattr(value, name) for name in names if hasattr(value, name)})
    elif isinstance(value, (list, tuple, np.ndarray)):
        found.update(f"list {len(value)};".encode())
        for each in value:
            _add(found, each)
    elif isinstance(value, dict):
        found.update(f"dict {len(value)};".encode())
        for key in sorted(value, key=str):
            _add(found, str(key))
            _add(found, value[key])
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        _add(found, {part.name: getattr(value, part.name) for part in dataclasses.fields(value)})
    elif hasattr(value, "__dict__") and not callable(value):
        _add(found, {type(value).__name__: vars(value)})
    else:
        if callable(value):  # its address differs from process to process
            value = getattr(value, "__qualname__", type(value).__name__)
        text = repr(value.item() if isinstance(value, np.generic) else value)
        found.update(f"{type(value).__name__} {len(text)}:{text};".encode())


def _add_bytes(found: Any, array: np.ndarray) -> None:
    if array.flags.c_contiguous:
        found.update(array.reshape(-1).view(np.uint8).data)
        return
    step = max(1, BLOCK * len(array) // max(array.nbytes, 1))
    for start in range(0, len(array), step):
        block = np.ascontiguousarray(array[start : start + step])
        found.update(block.reshape(-1).view(np.uint8).data)


def differences(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """What is not the same, in words."""
    found = []
    for name in dict.fromkeys([*now, *before]):
        old, new = before.get(name, "not there"), now.get(name, "not there")
        if old != new:
            found.append(f"{name} was {old}, is {new}")
    return found
