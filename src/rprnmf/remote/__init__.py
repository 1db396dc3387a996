"""Rows that lie elsewhere: arrays in blocks, on threads, in processes or on a cluster.

A `Pool` keeps the blocks and runs functions where they are. A `RemoteArray` is an array of it that
numpy can compute with: what has one row per row of X stays in its blocks, and only sums over the
rows come back.
"""

from rprnmf.remote.array import RemoteArray, rows_where
from rprnmf.remote.beside import is_lazy, rows_beside
from rprnmf.remote.placing import (
    ChunkWarning,
    Placed,
    as_blocks,
    as_dask,
    dask_array,
    gathered,
    is_chunked,
    lies_in_blocks,
    placed,
)
from rprnmf.remote.pool import Pool, Remote, spans_of
from rprnmf.remote.program import BlocksLostError, Lazy

__all__ = [
    "BlocksLostError",
    "ChunkWarning",
    "Lazy",
    "Placed",
    "Pool",
    "Remote",
    "RemoteArray",
    "as_blocks",
    "as_dask",
    "dask_array",
    "gathered",
    "is_chunked",
    "is_lazy",
    "lies_in_blocks",
    "placed",
    "rows_beside",
    "rows_where",
    "spans_of",
]
