"""What writing and reading agree on."""

from __future__ import annotations

import math
import re
import struct
from typing import Any

import numpy as np

MAGIC = b"\x89rprnmf\n"  # a file that was read or sent as text begins otherwise
VERSION = 1
PREFIX = struct.Struct("<8sIIQ")
CHECKSUM = 32
ALIGNED = 64
MOST_HEADER = 1 << 22  # bytes: parsed JSON takes some thirty times as much memory
MOST_DIMENSIONS = 8
DEEPEST = 128  # objects and lists in each other in a header
NAME = re.compile(r"[A-Za-z0-9_.\-]{1,200}", re.ASCII)
DTYPES = {
    name: np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64"),
    )
}


class FileFormatError(ValueError):
    """A file that cannot be read: cut short, changed, of a newer version or of another kind.

    The message names the file and says what was expected and what was found. Nothing that the file
    holds was run.
    """


def padded(size: int) -> int:
    """The size with the zeros after it."""
    return size + -size % ALIGNED


def n_entries(shape: Any) -> int:
    """The number of entries of an array of this shape, if it is one."""
    if (
        not isinstance(shape, list)
        or len(shape) > MOST_DIMENSIONS
        or any(type(n) is not int or n < 0 for n in shape)
        # numpy wants the number of bytes without the sizes that are 0
        or math.prod(max(n, 1) for n in shape) > np.iinfo(np.int64).max // 16
    ):
        raise FileFormatError(f"{str(shape)[:80]} is no shape of an array.")
    return math.prod(shape)
