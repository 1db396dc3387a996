"""`.npz`: a dense array, or a sparse one as scipy saves it, perhaps with names beside it."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.inputs.arrays import check_claim, checked, choose, size_text
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.names import as_names
from rprnmf.inputs.npy import read_array, read_header
from rprnmf.inputs.rows import Rows, float_of, missing_of, whole_file
from rprnmf.inputs.source import Source

SPARSE = {"format", "shape", "data"}
NAMES = ("row_names", "column_names")


class Archive:
    """The arrays of a file, read one by one, each with a limit on its size."""

    def __init__(self, source: Source, archive: zipfile.ZipFile):
        self.source, self.archive = source, archive
        infos = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        self.sizes = {info.filename[:-4]: info for info in infos}
        source.check_size(sum(info.file_size for info in infos), "what it holds")

    def read(self, name: str) -> Any:
        """One array."""
        info = self.sizes[name]
        with self.source.guard("an .npz file"), self.archive.open(info) as file:
            return read_array(self.source, file, info.file_size, repr(name))  # type: ignore[arg-type]

    def about(self, name: str) -> Any:
        """Shape and type of an array, which is not read."""
        info = self.sizes[name]
        with self.source.guard("an .npz file"), self.archive.open(info) as file:
            found = read_header(self.source, file, info.file_size, repr(name))  # type: ignore[arg-type]
        return found[0], found[2]

    def names(self, n: int, side: int) -> Any:
        """The names of rows or columns, if they are there and fit."""
        if NAMES[side] not in self.sizes:
            return None
        found = self.read(NAMES[side])
        if found.shape != (n,):
            raise self.source.fail(f"{NAMES[side]} has shape {found.shape}, expected ({n},).")
        return as_names(found)


@contextmanager
def archive_of(source: Source) -> Iterator[Archive]:
    """Within it the arrays of a file can be read."""
    with source.unpacked() as path:
        with source.guard("an .npz file"):
            archive = zipfile.ZipFile(path)
        with archive:
            yield Archive(source, archive)


def open_npz(source: Source, options: Options) -> Rows | None:
    """The rows of an .npz file, which are read all at once."""
    with archive_of(source) as found:
        sparse = set(found.sizes) >= SPARSE
        if sparse:
            shape, (_, dtype) = _shape(source, found), found.about("data")
        else:
            others = [name for name in found.sizes if name not in NAMES]
            about = {name: found.about(name) for name in others}
            fitting = others if options.variable else [n for n in others if len(about[n][0]) == 2]
            name = choose(source, fitting, options.variable, "array")
            shape, dtype = about[name]
        if len(shape) != 2 or 0 in shape:
            raise source.fail(f"has shape {shape}; expected rows and columns.")
        names = [found.names(shape[side], side) for side in (0, 1)]
    load = partial(whole_file, str(source.path.absolute()), source.name, "npz", options)
    edges = np.array([0, shape[0]])
    return Rows(
        *(source.name, shape, float_of(dtype), load, edges, sparse, names[0], names[1]),
        missing=missing_of(dtype),
        format="npz",
    )


def read_npz(source: Source, options: Options) -> Matrix:
    """Read an .npz file."""
    with archive_of(source) as found:
        if set(found.sizes) >= SPARSE:
            what, X = "the sparse matrix", _sparse(source, found)
        else:
            what, X = _dense(source, found, options)
        X, missing = checked(source, X, what)
        names = [found.names(X.shape[side], side) for side in (0, 1)]
    return Matrix(X, names[0], names[1], missing, "npz", f"{source.title}: {size_text(X)}.")


def _dense(source: Source, found: Archive, options: Options) -> tuple[str, Any]:
    """The one array with two axes, or the one that is asked for."""
    wanted = options.variable
    others = [name for name in found.sizes if name not in NAMES]
    if wanted is None and len(others) > 1:
        arrays = {name: found.read(name) for name in others}
        matrices = [name for name in others if arrays[name].ndim == 2]
        name = choose(source, matrices, None, "array")
        return repr(name), arrays[name]
    name = choose(source, others, wanted, "array")
    return repr(name), found.read(name)


def _shape(source: Source, found: Archive) -> tuple[int, int]:
    """The shape of a sparse matrix."""
    shape = found.read("shape")
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
        raise source.fail(f"'shape' is {shape.tolist()!r:.60}; expected rows and columns.")
    return int(shape[0]), int(shape[1])


def _sparse(source: Source, found: Archive) -> Any:
    """A matrix that scipy.sparse.save_npz wrote."""
    layout = found.read("format")
    text = layout.item() if layout.ndim == 0 else ""
    text = text.decode("ascii", "replace") if isinstance(text, bytes) else str(text)
    size = _shape(source, found)
    parts: dict[str, tuple[str, ...]] = {"coo": ("row", "col"), "dia": ("offsets",)}
    parts |= dict.fromkeys(("csr", "csc", "bsr"), ("indices", "indptr"))
    if text not in parts:
        raise source.fail(f"'format' is {text!r:.60}; expected one of {', '.join(parts)}.")
    absent = [name for name in parts[text] if name not in found.sizes]
    if absent:
        raise source.fail(f"has no array {absent[0]!r}, which a {text} matrix needs.")
    data, *rest = (found.read(name) for name in ("data", *parts[text]))
    for name, array in zip(parts[text], rest, strict=True):
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise source.fail(f"{name!r} holds {array.dtype}; expected whole numbers.")
    check_claim(source, size, data.size, "the sparse matrix")
    with source.guard("a sparse matrix"):
        if text == "coo":
            return sp.coo_array((data, tuple(rest)), shape=size)
        if text == "dia":
            return sp.dia_array((data, rest[0]), shape=size)
        kind = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}[text]
        return kind((data, rest[0], rest[1]), shape=size)
