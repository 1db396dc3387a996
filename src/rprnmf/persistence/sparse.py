"""Sparse matrices: their type, shape and three arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.array_file.layout import DTYPES, n_entries
from rprnmf.persistence.pool import Pool, fields, parts_of

SPARSE: dict[str, type] = {
    f"{form}_{kind}": getattr(sp, f"{form}_{kind}")
    for form in ("csr", "csc", "coo")
    for kind in ("array", "matrix")
}


def is_sparse(value: Any) -> bool:
    """Whether it is of one of the types that can be saved."""
    return type(value) in SPARSE.values() and value.ndim == 2


def sparse_node(matrix: Any, pool: Pool, where: str) -> dict[str, Any]:
    """Its arrays as they are: sums over entries in another order have other last digits."""
    if matrix.format == "coo":
        arrays = [matrix.data, matrix.row, matrix.col]
    else:  # there may be room for more entries than there are
        n = matrix.indptr[-1]
        arrays = [matrix.data[:n], matrix.indices[:n], matrix.indptr]
    if matrix.dtype.name not in DTYPES:
        raise TypeError(f"{where} cannot be saved: it is a sparse matrix of {matrix.dtype}.")
    shape = [int(n) for n in matrix.shape]
    _check(matrix.format, shape, arrays)
    numbers = [pool.put(array) for array in arrays]
    return {"type": type(matrix).__name__, "shape": shape, "arrays": numbers}


def read_sparse(node: Any, pool: Pool) -> Any:
    """The matrix again."""
    name, shape, numbers = fields(node, ("type", "shape", "arrays"), "a sparse matrix")
    n_entries(shape)
    if not isinstance(name, str) or name not in SPARSE or len(shape) != 2:
        raise ValueError("a sparse matrix must have a type and two sizes.")
    data, *indices = (pool.take(number) for number in parts_of(numbers, 3, "a sparse matrix"))
    _check(name[:3], shape, [data, *indices])
    content = (data, tuple(indices)) if name.startswith("coo") else (data, *indices)
    return SPARSE[name](content, shape=tuple(shape))


def _check(form: str, shape: list[int], arrays: list[np.ndarray]) -> None:
    """Compiled code trusts them."""
    data, first, second = arrays
    if any(array.ndim != 1 for array in arrays):
        raise ValueError("the arrays of a sparse matrix must have one dimension.")
    if any(array.dtype.name not in ("int32", "int64") for array in (first, second)):
        raise ValueError("the indices of a sparse matrix must be int32 or int64.")
    if form == "coo":
        _check_indices(first, len(data), shape[0])
        _check_indices(second, len(data), shape[1])
        return
    major, minor = shape if form == "csr" else reversed(shape)
    if len(second) != major + 1 or second[0] != 0 or second[-1] != len(first):
        raise ValueError(
            f"indptr of a sparse matrix must have {major + 1} entries, from 0 to {len(first)}."
        )
    if (second[1:] < second[:-1]).any():
        raise ValueError("indptr of a sparse matrix must not fall.")
    _check_indices(first, len(data), minor)


def _check_indices(indices: np.ndarray, n: int, limit: int) -> None:
    if len(indices) != n:
        raise ValueError(f"a sparse matrix has {n} entries, but {len(indices)} indices.")
    if n and (indices.min() < 0 or indices.max() >= limit):
        raise ValueError(f"an index of a sparse matrix is not in 0 to {limit - 1}.")
