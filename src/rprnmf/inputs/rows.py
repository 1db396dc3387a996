"""Rows of a file that are read when they are used, in another process perhaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rprnmf.inputs.errors import InputError
from rprnmf.inputs.matrix import Options

ZARR = ("zarr.json", ".zarray", ".zgroup")  # one of them is in the folder of an array or a group


@dataclass(frozen=True, eq=False)
class Rows:
    """What is known of the rows of a file before they are read.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    shape : tuple of int
    dtype : numpy.dtype
        float32 or float64.
    load : callable
        Of two numbers, the first row that is wanted and the first that is not; an ndarray or a
        csr_array. It goes to other processes.
    edges : ndarray of int, default=None
        Where the rows may be cut, from 0 to their number; None: anywhere.
    sparse : bool, default=False
    row_names, column_names : ndarray, default=None
    missing : {None, "nan"}, default="nan"
        Whether there may be NaN.
    format : str, default=""
        A name of `FORMATS`.
    """

    name: str
    shape: tuple[int, int]
    dtype: np.dtype
    load: Callable[[int, int], Any]
    edges: np.ndarray | None = None
    sparse: bool = False
    row_names: np.ndarray | None = None
    column_names: np.ndarray | None = None
    missing: str | None = "nan"
    format: str = ""

    @property
    def whole(self) -> bool:
        """Whether they can only be read all at once."""
        return self.edges is not None and len(self.edges) == 2


def float_of(dtype: Any) -> np.dtype:
    """The type of the numbers after reading: single precision is kept."""
    single = dtype.kind == "f" and dtype.itemsize <= 4
    return np.dtype(np.float32 if single else np.float64)


def missing_of(dtype: Any) -> str | None:
    """What there may be in numbers of a type."""
    return "nan" if dtype.kind == "f" else None


def is_zarr(path: Path) -> bool:
    """Whether a folder is a Zarr array, or a group of them."""
    return any((path / name).is_file() for name in ZARR)


def whole_file(path: str, name: str, kind: str | None, options: Options, *at: int) -> Any:
    """All rows of a file of any format; its shape is as it was when it was opened.

    Parameters
    ----------
    path, name : str
        Where it is, and what it was called.
    kind : str or None
        Its format; None: look.
    options : Options
    *at : int
        The first row that is wanted, and the first that is not.
    """
    from rprnmf.inputs.reading import read_matrix

    try:
        X = read_matrix(path, format=kind, options=options, n_jobs=1).X
    except InputError as error:
        raise InputError(name, error.reason, error.line, error.column) from None
    if X.shape[0] != at[1] - at[0]:
        raise InputError(name, f"has changed: expected {at[1] - at[0]} rows, found {X.shape[0]}.")
    return X
