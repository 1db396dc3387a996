"""`.mat`: the one matrix of numbers in a file of MATLAB or Octave, or the one of a name."""

from __future__ import annotations

import struct
import warnings
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.io
import scipy.sparse as sp

from rprnmf.inputs.arrays import check_claim, checked, choose, size_text
from rprnmf.inputs.hdf5 import MAGIC as HDF5
from rprnmf.inputs.hdf5 import array, child, is_group, open_hdf5
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.source import Source

MAGIC = b"MATLAB 5.0 MAT-file"
MAGIC_HDF5 = b"MATLAB 7.3 MAT-file"
CLASSES = {"double", "single", "sparse", "logical"}
CLASSES |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
MATRIX, COMPRESSED = 14, 15  # types of elements


def read_mat(source: Source, options: Options) -> Matrix:
    """Read a .mat file."""
    if source.head.startswith((MAGIC_HDF5, HDF5)):
        name, X = _read_hdf5(source, options)
    else:
        try:
            name, X = _read_old(source, options)
        except MemoryError:  # scipy makes space for what an element inside a packed one claims
            raise source.fail("an element claims more bytes than there is memory.") from None
    X, missing = checked(source, X, name)
    note = f"{source.title}: the variable {name}, {size_text(X)}."
    return Matrix(X, None, None, missing, "mat", note)


def _read_old(source: Source, options: Options) -> tuple[str, Any]:
    """Versions up to 7, by scipy; no other variable is loaded than the one."""
    with source.unpacked() as path, source.guard("a .mat file"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if source.head.startswith(MAGIC):
            _check_sizes(source, path)
        listed = scipy.io.whosmat(path, appendmat=False)
        found = {n: shape for n, shape, kind in listed if kind in CLASSES and len(shape) == 2}
        large = [name for name, shape in found.items() if min(shape) > 1]
        wanted = options.variable
        matrices = large if large and wanted is None else list(found)
        name = choose(source, matrices, wanted, "variable")
        dense = (name, found[name], "sparse") not in listed
        size = int(found[name][0]) * int(found[name][1])
        if dense:
            source.check_size(8 * size, name)
        else:
            check_claim(source, found[name], source.size, name)
        return name, scipy.io.loadmat(path, appendmat=False, variable_names=[name])[name]


def _check_sizes(source: Source, path: Path) -> None:
    """Elements must end within the file; packed ones are unpacked without keeping them."""
    end = path.stat().st_size
    with path.open("rb") as file:
        file.seek(126)
        order = "<" if file.read(2) == b"IM" else ">"
        unpacked = 0
        while len(tag := file.read(8)) == 8:
            kind, size = struct.unpack(f"{order}II", tag)
            if kind == MATRIX:
                continue  # the parts of a matrix follow, as elements
            if kind == COMPRESSED:
                unpacked += _unpacked_size(source, file, size, unpacked)
            elif kind >> 16 == 0:  # else a small one, within its tag
                if file.tell() + size > end:
                    raise source.fail(f"an element claims {size} bytes, more than the file has.")
                file.seek(-size % 8 + size, 1)


def _unpacked_size(source: Source, file: BinaryIO, size: int, before: int) -> int:
    """How many bytes a packed element holds."""
    unpack = zlib.decompressobj()
    total = 0
    while size > 0 and (block := file.read(min(size, 1 << 16))):
        size -= len(block)
        total += len(unpack.decompress(block))
        source.check_size(before + total, "what it holds")
    return total


def _read_hdf5(source: Source, options: Options) -> tuple[str, Any]:
    """Version 7.3, which is HDF5, with rows and columns swapped."""
    with open_hdf5(source) as file:
        with source.guard("a .mat file"):
            names = [name for name in file if not name.startswith("#")]
        things = {name: child(source, file, name) for name in names}
        matrices = [n for n, thing in things.items() if is_group(thing) or _is_matrix(thing)]
        name = choose(source, matrices, options.variable, "variable")
        thing = things[name]
        if not is_group(thing):
            return name, array(source, thing, name).T
        parts = [array(source, child(source, thing, p), p) for p in ("data", "ir", "jc")]
        with source.guard("a sparse matrix"):
            n_rows = int(thing.attrs["MATLAB_sparse"])
            size = (n_rows, len(parts[2]) - 1)
            check_claim(source, size, len(parts[0]), name)
            pointers = [part.astype(np.int64) for part in parts[1:]]
            return name, sp.csc_array((parts[0], *pointers), shape=size)


def _is_matrix(thing: Any) -> bool:
    return thing is not None and thing.dtype.kind in "biuf" and thing.ndim == 2
