"""From a Dask array to blocks in a pool, and from a factor in a pool to a Dask array."""

from __future__ import annotations

import uuid
import warnings
from typing import Any

import numpy as np

from rprnmf.remote.array import RemoteArray
from rprnmf.remote.local import LocalPool
from rprnmf.remote.pool import Remote


class ChunkWarning(UserWarning):
    """X must be cut otherwise than it is, which costs."""


def is_chunked(X: Any) -> bool:
    """Whether it is a Dask array, or looks like one, without importing Dask."""
    return hasattr(X, "__dask_graph__") and getattr(X, "chunks", None) is not None


def dask_array(X: Any) -> Any:
    """The Dask array within what has one, as xarray's; what has none is what it was."""
    if not hasattr(X, "__dask_graph__") or X.__dask_graph__() is None:
        return X
    if is_chunked(X):
        return X.data if hasattr(X, "coords") else X
    how = " Pass its to_dask_array(lengths=True)." if hasattr(X, "to_dask_array") else ""
    raise TypeError(f"X is a {type(X).__name__} of Dask, expected an array.{how}")


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
    weights : Remote or None
        The weights of the entries of the block.
    shape : tuple of int
    chunks : tuple of int
        The number of rows of each block.
    """

    def __init__(self, pool: Any, X: Any, weights: Any = None, missing: str | None = None):
        self.pool, self.shape = pool, X.shape
        self.blocks: Remote = pool.place(X, missing)
        self.weights: Remote | None = None
        if weights is not None:
            self.weights = pool.place(weights, what="entry_weights")
        self.chunks = tuple(int(size) for size in np.diff(pool.bounds))
        self.ndim = 2
        self.vault: Any = None
        self.T = self  # features are not made of it


def by_rows(X: Any, what: str = "X") -> Any:
    """The array in blocks of whole rows; other cuts are changed, with a warning."""
    if X.ndim != 2:
        raise ValueError(f"{what} must have two axes, got {X.ndim}.")
    if any(np.isnan(size) for sizes in X.chunks for size in sizes):
        raise ValueError(
            f"the chunks of {what} have unknown sizes; call {what}.compute_chunk_sizes() before."
        )
    if 0 in X.shape:
        lacking = "sample" if not X.shape[0] else "feature"
        raise ValueError(
            f"Found array with 0 {lacking}(s) (shape={X.shape}) while a minimum of 1 is required."
        )
    rows, columns = X.chunks
    if len(columns) > 1:
        gigabytes = X.nbytes / 1e9
        warnings.warn(
            f"{what} is cut into {len(columns)} pieces by columns; it is rechunked to whole rows, "
            f"which moves up to {gigabytes:.3g} GB between workers each time that {what} is read. "
            f"Write it in chunks of rows, or call {what}.rechunk({{1: -1}}).persist() once.",
            ChunkWarning,
            stacklevel=2,
        )
        X = X.rechunk({1: -1})
    if 0 in rows:
        X = X.rechunk({0: tuple(size for size in rows if size)})
    return X


def placed(X: Any, weights: Any = None, missing: str | None = None) -> Placed:
    """X in a pool on the Dask scheduler that is active, and the weights of its entries."""
    require_dask()
    X = by_rows(X)
    if weights is not None:
        weights = weights_by_rows(weights, X)
    client = active_client()
    sizes = [int(size) for size in X.chunks[0]]
    if client is None:
        return Placed(LocalPool(sizes), X, weights, missing)
    from rprnmf.remote.cluster import ClusterPool
    from rprnmf.remote.saved import Vault

    here = Placed(ClusterPool(client, sizes), X, weights, missing)
    here.vault = Vault()
    return here


def weights_by_rows(weights: Any, X: Any) -> Any:
    """The weights of the entries of X, in the same blocks."""
    if not is_chunked(weights):
        raise TypeError(
            "entry_weights must be a Dask array, as X is, with the same chunks of rows; got "
            f"{type(weights).__name__}."
        )
    if weights.shape != X.shape:
        raise ValueError(
            f"entry_weights must have the shape of X, {X.shape}, got {tuple(weights.shape)}."
        )
    weights = by_rows(weights, "entry_weights")
    if weights.chunks[0] != X.chunks[0]:
        raise ValueError(
            "entry_weights must be cut as X is, which has chunks of "
            f"{shortly(X.chunks[0])} rows; got {shortly(weights.chunks[0])}. Call "
            "entry_weights.rechunk(X.chunks) before the fit."
        )
    return weights


def shortly(sizes: tuple[int, ...]) -> str:
    """The first few sizes."""
    return ", ".join(map(str, sizes[:4])) + (", ..." if len(sizes) > 4 else "")


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


def as_blocks(W: Any, shape: tuple[int, int], chunks: tuple[int, ...]) -> Any:
    """A factor as a Dask array that is cut as X is."""
    import dask.array as da

    if np.shape(W) != shape:
        raise ValueError(f"W must have the shape {shape}, got {np.shape(W)}.")
    if is_chunked(W):
        return W if W.chunks == (chunks, shape[1:]) else W.rechunk((chunks, shape[1:]))
    return da.from_array(np.asarray(W), chunks=(chunks, shape[1]))


def as_dask(W: RemoteArray) -> Any:
    """A factor as a Dask array with the rows where they are."""
    import dask.array as da

    blocks = W.pool.values(W)
    sizes = tuple(int(size) for size in np.diff(W.pool.bounds))
    name = f"rows-{uuid.uuid4().hex}"
    rest = (0,) * len(W.width)
    graph = {(name, place, *rest): block for place, block in enumerate(blocks)}
    return da.Array(graph, name, chunks=(sizes, *((k,) for k in W.width)), dtype=W.dtype)
