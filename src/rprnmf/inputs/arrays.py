"""What every array from a file must be: two axes, numbers of at least 0, indices that fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.checks import check_stored
from rprnmf.inputs.source import Source

NUMBERS = "biuf"  # kinds of numpy
FREE = 10_000_000  # rows and columns that any sparse file may claim
PER_ENTRY = 64  # and how many more for each entry


def checked(
    source: Source, X: Any, what: str, dtype: Any = np.float64, first: int = 0
) -> tuple[Any, str | None]:
    """X as ndarray or CSR array, and what its NaN suggest; else an `InputError`.

    Parameters
    ----------
    source : Source
    X : ndarray or sparse
    what : str
        Its name in the file, for messages.
    dtype : dtype, default=float64
        Of the result.
    first : int, default=0
        The row of the file that X begins with, for messages.
    """
    if not sp.issparse(X):
        X = np.asarray(X)
    if X.dtype.kind not in NUMBERS or X.ndim != 2 or 0 in X.shape:
        raise source.fail(
            f"{what} has shape {X.shape} and type {X.dtype}; expected a matrix of numbers with at "
            "least one row and one column."
        )
    if sp.issparse(X):
        check_claim(source, X.shape, X.nnz, what)
        try:
            check_stored(X, "a reader")
        except ValueError as error:
            raise source.fail(f"{what}: {error}") from None
        X = sp.csr_array(X, dtype=dtype)
        X.sum_duplicates()
    else:
        X = np.ascontiguousarray(X, dtype=dtype)
    values = X.data if sp.issparse(X) else X
    lowest = values.min(initial=0.0) if not np.isnan(values).any() else np.nanmin(values, initial=0)
    if lowest < 0 or np.isinf(values).any():
        raise _odd(source, X, values, what, first)
    return X, "nan" if np.isnan(values).any() else None


def check_claim(source: Source, shape: Any, n_entries: int, what: str) -> None:
    """Refuse a sparse matrix with so many empty rows or columns that nobody has them."""
    if max(shape) > FREE + PER_ENTRY * n_entries:
        raise source.fail(
            f"{what} claims {shape[0]} rows and {shape[1]} columns with {n_entries} entries; "
            f"expected at most {FREE} and {PER_ENTRY} for each entry."
        )


def _odd(source: Source, X: Any, values: np.ndarray, what: str, first: int) -> Exception:
    """The error for the first number that is negative or infinite."""
    bad = (values < 0) | np.isinf(values)
    place = np.argwhere(bad)[0]
    value = values[tuple(place)]
    if sp.issparse(X):
        row = int(np.searchsorted(X.indptr, place[0], side="right")) - 1
        column = int(X.indices[place[0]])
    else:
        row, column = place.tolist()
    return source.fail(
        f"{what}[{first + row}, {column}] (counted from 0): expected a number of at least 0, "
        f"found {value:g} ({int(bad.sum())} such entries)."
    )


def size_text(X: Any) -> str:
    """The size of a matrix in words."""
    if sp.issparse(X):
        return f"{X.shape[0]} rows x {X.shape[1]} columns, {X.nnz} stored entries"
    return f"{X.shape[0]} rows x {X.shape[1]} columns"


def choose(source: Source, found: list[str], wanted: str | None, what: str) -> str:
    """The one array of a file with several, or that of a name."""
    if wanted is not None:
        if wanted in found:
            return wanted
        raise source.fail(f"has no {what} {wanted!r}; found {', '.join(found) or 'none'}.")
    if len(found) == 1:
        return found[0]
    if not found:
        raise source.fail(f"has no {what} that is a matrix of numbers; expected one.")
    raise source.fail(
        f"has several: {', '.join(found)}; expected one, or its name as the option variable."
    )
