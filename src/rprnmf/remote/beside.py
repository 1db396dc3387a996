"""What has a row for each row of X, brought to where these lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.remote.pool import Pool, Remote


def is_lazy(table: Any) -> bool:
    """Whether it is a Dask array or DataFrame, or looks like one, without importing Dask."""
    return hasattr(table, "__dask_graph__")


def rows_beside(pool: Pool, table: Any, what: str) -> Remote:
    """The blocks of a Dask array or DataFrame with a row for each row of X.

    Parameters
    ----------
    pool : Pool
        With the rows of X.
    table : dask array or DataFrame
    what : str
        Its name, for messages.
    """
    if not hasattr(table, "chunks"):
        return pool.place_parts(parts_beside(pool, table, what))
    sizes, n = tuple(int(size) for size in pool.sizes), int(pool.bounds[-1])
    if any(np.isnan(size) for size in table.chunks[0]):
        table = table.compute_chunk_sizes()
    if table.shape[0] != n:
        raise ValueError(f"{what} must have one entry for each of {n} rows, got {table.shape[0]}.")
    if table.ndim > 1 or table.chunks[0] != sizes:
        table = table.rechunk({0: sizes, **dict.fromkeys(range(1, table.ndim), -1)})
    return pool.place(table, what=what)


def parts_beside(pool: Pool, frame: Any, what: str) -> list[Any]:
    """The rows of a DataFrame for each block."""
    import dask

    parts = frame.to_delayed()
    (lengths,) = dask.compute([dask.delayed(len)(part) for part in parts])
    n, sizes = int(pool.bounds[-1]), pool.sizes.tolist()
    if sum(lengths) != n:
        raise ValueError(f"{what} must have one row for each of {n} rows, got {sum(lengths)}.")
    if lengths == sizes:
        return list(parts)
    edges = np.concatenate(([0], np.cumsum(lengths)))
    found = []
    for begin, end in zip(pool.bounds[:-1], pool.bounds[1:], strict=True):
        overlaps = np.flatnonzero((edges[:-1] < end) & (edges[1:] > begin))
        cuts = [(max(begin - edges[p], 0), min(end, edges[p + 1]) - edges[p]) for p in overlaps]
        found.append(dask.delayed(glued)(cuts, *(parts[p] for p in overlaps)))
    return found


def glued(cuts: list[tuple[int, int]], *parts: Any) -> Any:
    """Some rows of several DataFrames, one below the other."""
    import pandas as pd

    return pd.concat([part.iloc[a:b] for part, (a, b) in zip(parts, cuts, strict=True)])
