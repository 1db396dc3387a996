"""From a Dask array to blocks in a pool, and from a factor in a pool to a Dask array."""

from __future__ import annotations

import uuid
import warnings
from typing import Any

import numpy as np

from rprnmf.remote.array import RemoteArray
from rprnmf.remote.local import LocalPool
from rprnmf.remote.pool import Pool, Remote


class ChunkWarning(UserWarning):
    """X must be cut otherwise than it is, which costs."""


def is_chunked(X: Any) -> bool:
    """Whether it is a Dask array, or looks like one, without importing Dask."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "chunks")


def lies_in_blocks(F: Any) -> bool:
    """Whether it is an array whose rows are not all here."""
    return isinstance(F, RemoteArray) or is_chunked(F)


def gathered(F: Any, rows: np.ndarray) -> np.ndarray:
    """Some rows of an array whose rows are not all here."""
    return F.gathered(rows) if isinstance(F, RemoteArray) else np.ascontiguousarray(F[rows])


def require_dask(why: str = "X is a Dask array, and to factorise it where it lies") -> None:
    """Refuse to go on without Dask, and say what to install."""
    try:
        import dask.array  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{why} needs Dask: pip install 'rprnmf[dask]'.") from error


class Placed:
    """X in a pool.

    Attributes
    ----------
    pool : Pool
    blocks : Remote
        A block of X in each block of the pool.
    shape : tuple of int
    chunks : tuple of int
        The number of rows of each block.
    """

    def __init__(self, pool: Pool, blocks: Remote, shape: tuple[int, int]):
        self.pool, self.blocks, self.shape = pool, blocks, shape
        self.chunks = tuple(int(size) for size in np.diff(pool.bounds))
        self.ndim = 2
        self.vault: Any = None
        self.T = self  # features are not made of it


def by_rows(X: Any) -> Any:
    """The array in blocks of whole rows; other cuts are changed, with a warning."""
    if X.ndim != 2:
        raise ValueError(f"X must have two axes, got {X.ndim}.")
    if any(np.isnan(size) for sizes in X.chunks for size in sizes):
        raise ValueError(
            "the chunks of X have unknown sizes; call X.compute_chunk_sizes() before the fit."
        )
    rows, columns = X.chunks
    if len(columns) > 1:
        gigabytes = X.nbytes / 1e9
        warnings.warn(
            f"X is cut into {len(columns)} pieces by columns; it is rechunked to whole rows, which "
            f"moves up to {gigabytes:.3g} GB between workers each time that X is read. Write it "
            "in chunks of rows, or call X.rechunk({1: -1}).persist() once.",
            ChunkWarning,
            stacklevel=2,
        )
        X = X.rechunk({1: -1})
    if 0 in rows:
        X = X.rechunk({0: tuple(size for size in rows if size)})
    return X


def placed(X: Any) -> Placed:
    """X in a pool on the Dask scheduler that is active."""
    require_dask()
    X = by_rows(X)
    client = active_client()
    sizes = [int(size) for size in X.chunks[0]]
    if client is None:
        local = LocalPool(sizes)
        return Placed(local, local.place(X), X.shape)
    from rprnmf.remote.cluster import ClusterPool
    from rprnmf.remote.saved import Vault

    pool = ClusterPool(client, sizes)
    here = Placed(pool, pool.place(X), X.shape)
    here.vault = Vault()
    return here


def active_client() -> Any:
    """The client of a cluster, where that is what Dask would use; else None."""
    import dask
    from dask.base import get_scheduler

    chosen = dask.config.get("scheduler", None)
    if isinstance(chosen, str) and chosen not in ("distributed", "dask.distributed"):
        return None
    get = get_scheduler()
    owner = getattr(get, "__self__", None)
    return owner if owner is not None and hasattr(owner, "scheduler_info") else None


def as_dask(W: RemoteArray) -> Any:
    """A factor as a Dask array with the rows where they are."""
    import dask.array as da

    blocks = W.pool.values(W)
    sizes = tuple(int(size) for size in np.diff(W.pool.bounds))
    name = f"rows-{uuid.uuid4().hex}"
    rest = (0,) * len(W.width)
    graph = {(name, place, *rest): block for place, block in enumerate(blocks)}
    return da.Array(graph, name, chunks=(sizes, *((k,) for k in W.width)), dtype=W.dtype)
