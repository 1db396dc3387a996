"""Entries in any order to a sparse matrix, block by block, without a copy of them all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.kernels.from_entries import close_gaps, count_rows, order_rows, scatter
from rprnmf.threads import available_threads, map_blocks, row_blocks

SORTING = 10.0  # what an entry costs, in multiply-adds


class Entries(NamedTuple):
    """Some entries: codes of rows and columns, values, and which row (column) a code is."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    row_of: np.ndarray
    column_of: np.ndarray


def sparse_from_entries(
    blocks: list[Entries], shape: tuple[int, int], n_jobs: int | None, mean: bool = True
) -> tuple[Any, int]:
    """A CSR array, and how many entries were joined because they stood twice.

    The blocks are used up.

    Parameters
    ----------
    blocks : list of Entries
    shape : tuple (n_rows, n_columns)
    n_jobs : int or None
    mean : bool, default=True
        What stands more than once becomes its mean; False: its sum.
    """
    n_rows, n_columns = shape
    total = sum(len(block.values) for block in blocks)
    kind = np.int32 if max(total, n_columns, n_rows) < 2**31 else np.int64
    counts = np.zeros(n_rows + 1, dtype=np.int64)
    for block in blocks:
        count_rows(block.rows, block.row_of, counts[1:])
    indptr = np.cumsum(counts)
    following = indptr[:-1].copy()
    indices, data = np.empty(total, dtype=kind), np.empty(total)
    blocks.reverse()
    while blocks:
        block = blocks.pop()
        scatter(block[:3], block.row_of, block.column_of, following, (indices, data))
        del block
    lengths = np.empty(n_rows, dtype=np.int64)
    longest = int(counts.max())

    def order(start: int, stop: int) -> None:
        work = np.empty(longest, dtype=kind), np.empty(longest)
        order_rows((indptr, indices, data), start, stop, work, lengths, mean)

    map_blocks(order, row_blocks(indptr * SORTING), available_threads(n_jobs))
    left = int(lengths.sum())
    if left < total:
        close_gaps((indptr, indices, data), lengths)
        indices, data = indices[:left].copy(), data[:left].copy()
    X = sp.csr_array((data, indices, indptr.astype(kind)), shape=shape)
    X.has_canonical_format = True
    return X, total - left
