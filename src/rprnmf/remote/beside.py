"""What has a row for each row of X, brought to where these lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.remote.pool import Pool, Remote


def rows_beside(pool: Pool, table: Any, what: str) -> Remote:
    """The blocks of a Dask array with a row for each row of X.

    Parameters
    ----------
    pool : Pool
        With the rows of X.
    table : dask array
    what : str
        Its name, for messages.
    """
    sizes, n = tuple(int(size) for size in pool.sizes), int(pool.bounds[-1])
    if any(np.isnan(size) for size in table.chunks[0]):
        table = table.compute_chunk_sizes()
    if table.shape[0] != n:
        raise ValueError(f"{what} must have one entry for each of {n} rows, got {table.shape[0]}.")
    if table.ndim > 1 or table.chunks[0] != sizes:
        table = table.rechunk({0: sizes, **dict.fromkeys(range(1, table.ndim), -1)})
    return pool.place(table)
