"""`.h5ad`: AnnData, cells x genes, with their names.

Read with h5py by the layout that AnnData documents, so that nothing else of such a file is
loaded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.inputs.arrays import check_claim, checked, choose, size_text
from rprnmf.inputs.hdf5 import array, child, is_group, open_hdf5
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.names import as_names
from rprnmf.inputs.source import Source

AXES = ("obs", "var")


def read_h5ad(source: Source, options: Options) -> Matrix:
    """Read an .h5ad file: its X, or a layer of it."""
    with open_hdf5(source) as file:
        what, found = "X", child(source, file, "X")
        if options.variable not in (None, "X"):
            layers = child(source, file, "layers")
            what = choose(source, list(layers or ()), options.variable, "layer")
            found = child(source, layers, what)
        if found is None:
            raise source.fail("has no X; expected an AnnData file with one, or a layer's name.")
        X = _sparse(source, found, what) if is_group(found) else array(source, found, what)
        X, missing = checked(source, X, repr(what))
        names = [_names(source, file, axis, n) for axis, n in zip(AXES, X.shape, strict=True)]
    note = f"{source.title}: AnnData, {what}, {size_text(X)}."
    return Matrix(X, names[0], names[1], missing, "h5ad", note)


def _sparse(source: Source, group: Any, what: str) -> Any:
    """A sparse matrix in its group."""
    with source.guard("an AnnData file"):
        attributes = dict(group.attrs)
    layout = _text(attributes.get("encoding-type", attributes.get("h5sparse_format", "")))
    shape = attributes.get("shape", attributes.get("h5sparse_shape"))
    kinds = {"csr": sp.csr_array, "csc": sp.csc_array}
    shape = np.asarray(() if shape is None else shape)
    if layout[:3] not in kinds or shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise source.fail(f"{what!r} is of the kind {layout!r}; expected a matrix of numbers.")
    parts = [array(source, child(source, group, p), p) for p in ("data", "indices", "indptr")]
    for part, kind in zip(parts, ("biuf", "iu", "iu"), strict=True):
        if part.ndim != 1 or part.dtype.kind not in kind:
            raise source.fail(f"{what!r} has parts of type {part.dtype}; expected numbers.")
    size = tuple(int(n) for n in shape.tolist())
    check_claim(source, size, len(parts[0]), what)
    with source.guard("a sparse matrix"):
        return kinds[layout[:3]](tuple(parts), shape=size)


def _names(source: Source, file: Any, axis: str, n: int) -> Any:
    """The names of one axis, if there are any."""
    found = child(source, file, axis)
    if found is None:
        return None
    if is_group(found):
        with source.guard("an AnnData file"):
            label = _text(found.attrs.get("_index", "_index"))
        names = array(source, child(source, found, label), f"{axis}/{label}")
    else:  # as old versions wrote it: a table, the first column of which has the names
        if not found.dtype.names:
            return None
        with source.guard("an AnnData file"):
            source.check_size(found.size * found.dtype.itemsize, axis)
            names = np.asarray(found[found.dtype.names[0]])
    if names.shape != (n,):
        raise source.fail(f"{axis} has {names.shape} names, expected {n}.")
    return as_names([_text(name) for name in names.tolist()])


def _text(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
