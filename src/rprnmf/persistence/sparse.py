"""Sparse matrices: their type, shape and three arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.array_file.layout import n_entries
from rprnmf.persistence.pool import Pool, fields

SPARSE: dict[str, type] = {
    f"{form}_{kind}": getattr(sp, f"{form}_{kind}")
    for form in ("csr", "csc", "coo")
    for kind in ("array", "matrix")
}


def is_sparse(value: Any) -> bool:
    """Whether it is of one of the types that can be saved."""
    return type(value) in SPARSE.values() and value.ndim == 2


def sparse_node(matrix: Any, pool: Pool) -> dict[str, Any]:
    """Its arrays as they are: sums over entries in another order have other last digits."""
    if matrix.format == "coo":
        arrays = [matrix.data, matrix.row, matrix.col]
    else:
        arrays = [matrix.data, matrix.indices, matrix.indptr]
    return {
        "type": type(matrix).__name__,
        "shape": [int(n) for n in matrix.shape],
        "arrays": [pool.put(array) for array in arrays],
    }


def read_sparse(node: Any, pool: Pool) -> Any:
    """The matrix again."""
    name, shape, numbers = fields(node, ("type", "shape", "arrays"), "a sparse matrix")
    n_entries(shape)
    if name not in SPARSE or len(shape) != 2 or not isinstance(numbers, list) or len(numbers) != 3:
        raise ValueError("a sparse matrix must have a type, two sizes and three arrays.")
    data, first, second = (pool.take(number) for number in numbers)
    if name.startswith("coo"):
        _check_parts(data, first, second)
        _check_indices(first, len(data), shape[0])
        _check_indices(second, len(data), shape[1])
        return SPARSE[name]((data, (first, second)), shape=tuple(shape))
    major, minor = shape if name.startswith("csr") else reversed(shape)
    _check_parts(data, first, second)
    if len(second) != major + 1 or second[0] != 0 or second[-1] != len(first):
        raise ValueError(
            f"indptr of a sparse matrix must have {major + 1} entries, from 0 to {len(first)}."
        )
    if (second[1:] < second[:-1]).any():
        raise ValueError("indptr of a sparse matrix must not fall.")
    _check_indices(first, len(data), minor)
    return SPARSE[name]((data, first, second), shape=tuple(shape))


def _check_parts(data: np.ndarray, *indices: np.ndarray) -> None:
    if any(array.ndim != 1 for array in (data, *indices)):
        raise ValueError("the arrays of a sparse matrix must have one dimension.")
    if any(array.dtype.name not in ("int32", "int64") for array in indices):
        raise ValueError("the indices of a sparse matrix must be int32 or int64.")


def _check_indices(indices: np.ndarray, n: int, limit: int) -> None:
    """Compiled code trusts them."""
    if len(indices) != n:
        raise ValueError(f"a sparse matrix has {n} entries, but {len(indices)} indices.")
    if n and (indices.min() < 0 or indices.max() >= limit):
        raise ValueError(f"an index of a sparse matrix is not in 0 to {limit - 1}.")
