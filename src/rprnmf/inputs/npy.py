"""`.npy`: one array, never with objects."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np

from rprnmf.inputs.arrays import checked, size_text
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.source import Source

MAGIC = b"\x93NUMPY"
KINDS = "biufUS"  # what arrays may hold: numbers and texts


def read_npy(source: Source, options: Options) -> Matrix:
    """Read an .npy file."""
    with source.unpacked() as path, path.open("rb") as file:
        array = read_array(source, file, path.stat().st_size, "the array")
    X, missing = checked(source, array, "the array")
    return Matrix(X, None, None, missing, "npy", f"{source.title}: {size_text(X)}.")


def read_array(source: Source, file: BinaryIO, n_bytes: int, what: str) -> Any:
    """An array from a stream of so many bytes; its size is checked before there is space for it."""
    with source.guard("an array of numpy"):
        version = np.lib.format.read_magic(file)
        reader = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if reader is None:
            raise source.fail(f"{what} is of version {version} of .npy; expected 1 or 2.")
        shape, fortran, dtype = reader(file)
    if dtype.kind not in KINDS or dtype.hasobject:
        raise source.fail(
            f"{what} holds {dtype}; expected numbers. Objects are not read: they could run code."
        )
    size = int(np.prod([int(n) for n in shape], dtype=object)) if shape else 1
    if any(n < 0 for n in shape) or size * dtype.itemsize > n_bytes:
        raise source.fail(
            f"{what} claims shape {shape} of {dtype}, {size * dtype.itemsize} bytes; the file has "
            f"{n_bytes}."
        )
    with source.guard("an array of numpy"):
        data = bytearray()
        left = size * dtype.itemsize
        while left:
            block = file.read(min(left, 1 << 24))
            if not block:
                raise source.fail(f"{what} is cut short: {left} bytes are missing.")
            data += block
            left -= len(block)
        array = np.frombuffer(data, dtype=dtype, count=size)
        return array.reshape(shape, order="F" if fortran else "C")
