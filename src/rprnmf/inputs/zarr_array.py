"""Zarr: one array, or the one of a group, perhaps with names beside it."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rprnmf.inputs.arrays import NUMBERS, checked, choose, size_text
from rprnmf.inputs.errors import need
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.names import as_names
from rprnmf.inputs.rows import Rows, float_of, is_zarr, missing_of
from rprnmf.inputs.source import Source

MOST_CHUNKS = 10_000_000
NAMES = ("row_names", "column_names")


def read_zarr(source: Source, options: Options) -> Matrix:
    """Read a Zarr array, all of it."""
    rows = open_zarr(source, options)
    X, missing = checked(source, rows.load(0, rows.shape[0]), "the array")
    names = rows.row_names, rows.column_names
    return Matrix(X, *names, missing, "zarr", f"{source.title}: {size_text(X)}.")


def open_zarr(source: Source, options: Options) -> Rows:
    """The rows of a Zarr array; blocks are whole chunks of rows."""
    if not (source.is_folder and is_zarr(source.path)):
        raise source.fail("is no Zarr array; expected a folder with zarr.json or .zarray.")
    path, component = str(source.path.absolute()), None
    held = open_node(source, path, None)
    names: list[Any] = [None, None]
    if hasattr(held, "array_keys"):  # a group
        with source.guard("a Zarr group"):
            keys = sorted(held.array_keys())
        component = choose(
            source, [key for key in keys if key not in NAMES], options.variable, "array"
        )
        found = [open_node(source, path, name) if name in keys else None for name in NAMES]
        held = open_node(source, path, component)
    else:
        found = [None, None]
    shape, dtype = tuple(int(n) for n in held.shape), held.dtype
    if len(shape) != 2 or 0 in shape or getattr(dtype, "kind", "") not in NUMBERS:
        raise source.fail(
            f"the array has shape {shape} and type {dtype}; expected a matrix of numbers with at "
            "least one row and one column."
        )
    for side, array in enumerate(found):
        if array is not None:
            names[side] = _names(source, array, shape[side], NAMES[side])
    step = int((getattr(held, "shards", None) or held.chunks)[0])
    if shape[0] > MOST_CHUNKS * step:
        raise source.fail(f"has {shape[0]} rows in chunks of {step}; expected larger chunks.")
    edges = np.append(np.arange(0, shape[0], step), shape[0])
    load = partial(_load, path, source.name, component)
    return Rows(
        *(source.name, shape, float_of(dtype), load, edges, False, names[0], names[1]),
        missing=missing_of(dtype),
        format="zarr",
    )


def open_node(source: Source, path: str, component: str | None) -> Any:
    """An array or a group, which is not read; nothing in it is or uses a pickle."""
    zarr = need("zarr", source.name, "zarr", "dask")
    with source.guard("Zarr"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names as texts have no standard in Zarr yet
        held = zarr.open(path, path=component, mode="r")
        about = str(held.metadata.to_dict()).lower()
    if "pickle" in about:
        raise source.fail("holds pickles, which could run code when they are read; save numbers.")
    return held


def _load(path: str, name: str, component: str | None, start: int, stop: int) -> np.ndarray:
    """Some rows."""
    source = Source(Path(path), name)
    held = open_node(source, path, component)
    with source.guard("a Zarr array"):
        rows = np.asarray(held[start:stop])
    return checked(source, rows, "the array", float_of(held.dtype), start)[0]


def _names(source: Source, array: Any, n: int, what: str) -> np.ndarray:
    """Names of rows or columns."""
    if array.shape != (n,):
        raise source.fail(f"{what} has shape {array.shape}, expected ({n},).")
    with source.guard("a Zarr array"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.asarray(array[:])
    return as_names(found if found.dtype.kind in "iu" else [str(name) for name in found.tolist()])
