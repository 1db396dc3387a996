"""`.npy`: one array, never with objects."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from rprnmf.inputs.arrays import NUMBERS, checked, size_text
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.rows import Rows, float_of, missing_of
from rprnmf.inputs.source import Source

MAGIC = b"\x93NUMPY"
KINDS = "biufUS"  # what arrays may hold: numbers and texts


def read_npy(source: Source, options: Options) -> Matrix:
    """Read an .npy file."""
    with source.unpacked() as path, path.open("rb") as file:
        array = read_array(source, file, path.stat().st_size, "the array")
    X, missing = checked(source, array, "the array")
    return Matrix(X, None, None, missing, "npy", f"{source.title}: {size_text(X)}.")


def open_npy(source: Source, options: Options) -> Rows | None:
    """The rows of an .npy file, which is mapped into memory."""
    if source.packed:
        return None
    with source.path.open("rb") as file:
        shape, fortran, dtype = read_header(source, file, source.size, "the array")
        begin = file.tell()
    if dtype.kind not in NUMBERS or len(shape) != 2 or 0 in shape:
        raise source.fail(
            f"the array has shape {shape} and type {dtype}; expected a matrix of numbers with at "
            "least one row and one column."
        )
    order = "F" if fortran else "C"
    load = partial(_load, str(source.path.absolute()), source.name, (begin, shape, dtype, order))
    return Rows(source.name, shape, float_of(dtype), load, missing=missing_of(dtype), format="npy")


def _load(path: str, name: str, layout: Any, start: int, stop: int) -> Any:
    """Some rows of an .npy file."""
    source = Source(Path(path), name)
    begin, shape, dtype, order = layout
    with source.guard("an array of numpy"):
        array = np.memmap(path, dtype, "r", begin, shape, order)[start:stop]
    return checked(source, array, "the array", float_of(dtype), start)[0]


def read_header(source: Source, file: BinaryIO, n_bytes: int, what: str) -> Any:
    """Shape, order and type of an array in a stream of so many bytes, checked."""
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
    return tuple(int(n) for n in shape), fortran, dtype


def read_array(source: Source, file: BinaryIO, n_bytes: int, what: str) -> Any:
    """An array from a stream of so many bytes; its size is checked before there is space for it."""
    shape, fortran, dtype = read_header(source, file, n_bytes, what)
    size = int(np.prod(shape, dtype=object)) if shape else 1
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
