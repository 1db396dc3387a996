"""Rows of users that lie in blocks elsewhere; rows of users without ratings, which are here."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.recommend.top_n import top_n
from rprnmf.remote import RemoteArray


class FarRows:
    """A table with a row per user, of which rows come here that are asked for.

    Parameters
    ----------
    blocks : {RemoteArray, dask array}
        Of users with ratings.
    more : {ndarray, sparse array}
        Of the users after these.
    """

    def __init__(self, blocks: Any, more: Any):
        self.blocks, self.more = blocks, more
        self.shape = blocks.shape[0] + more.shape[0], blocks.shape[1]
        self.dtype, self.ndim = np.dtype(blocks.dtype), 2

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self.at(np.arange(len(self))[key])
        if np.ndim(key) == 0:
            return self.at(np.array([key]))[0]
        return self.at(np.asarray(key, dtype=np.int64))

    def at(self, places: np.ndarray) -> Any:
        """Some rows; places below zero count from the end."""
        places = places % len(self)
        n = self.blocks.shape[0]
        near, far = np.flatnonzero(places >= n), np.flatnonzero(places < n)
        parts, order = [self.more[places[near] - n]], [near]
        if len(far):
            wanted, back = np.unique(places[far], return_inverse=True)
            parts.append(rows_of(self.blocks, wanted)[back])
            order.append(far)
        stack = sp.vstack if sp.issparse(parts[0]) else np.concatenate
        found = stack(parts)[np.argsort(np.concatenate(order), kind="stable")]
        return sp.csr_array(found) if sp.issparse(found) else found

    def with_rows(self, places: np.ndarray, values: np.ndarray, n: int) -> FarRows:
        """With other rows at some places, of n in all; new ones are zeros."""
        first = self.blocks.shape[0]
        more = np.zeros((n - first, self.shape[1]), self.dtype)
        more[: len(self.more)] = self.more
        more[places[places >= first] - first] = values[places >= first]
        blocks = self.blocks.copy()
        if (places < first).any():
            blocks[places[places < first]] = values[places < first].astype(self.dtype)
        return FarRows(blocks, more)

    def mean(self, axis: int, dtype: Any = np.float64) -> np.ndarray:
        """Of the columns."""
        total = self.blocks.astype(dtype).sum(axis=axis) + self.more.sum(axis=axis, dtype=dtype)
        return np.asarray(total) / len(self)

    def var(self, axis: int, dtype: Any = np.float64) -> np.ndarray:
        """The same."""
        mean = self.mean(axis, dtype)
        apart = self.blocks.astype(dtype) - mean
        squares = (apart * apart).sum(axis=axis) + ((self.more - mean) ** 2).sum(axis=axis)
        return np.asarray(squares) / len(self)


class Blocks:
    """Delayed blocks of rows; as much of a Dask array as is needed to take rows from them."""

    def __init__(self, parts: list[Any], sizes: tuple[int, ...], width: int, dtype: Any):
        self.parts, self.chunks = parts, (sizes, (width,))
        self.shape, self.dtype = (sum(sizes), width), dtype


class ScoredRows:
    """Rows of users whose products with those of items are the predictions."""

    def __init__(self, model: Any):
        self.model = model

    def __getitem__(self, key: Any) -> np.ndarray:
        if np.ndim(key) == 0:
            return self.model.scored_at(np.array([key]))[0]
        return self.model.scored_at(np.asarray(key, dtype=np.int64))


class Ratings(FarRows):
    """All ratings; ``column_counts`` says how many each item has."""

    def __init__(self, blocks: Any, n_more: int, column_counts: np.ndarray):
        super().__init__(blocks, sp.csr_array((n_more, blocks.shape[1]), dtype=blocks.dtype))
        self.column_counts = column_counts


def n_rated(X: Any) -> np.ndarray:
    """How many ratings each item has."""
    return (
        X.column_counts if isinstance(X, Ratings) else np.bincount(X.indices, minlength=X.shape[1])
    )


def rows_of(blocks: Any, wanted: np.ndarray) -> Any:
    """Rows of a `RemoteArray` or a Dask array, in order."""
    if isinstance(blocks, RemoteArray):
        return blocks.gathered(wanted)
    import dask

    bounds = np.concatenate(([0], np.cumsum(blocks.chunks[0])))
    parts = blocks.parts if isinstance(blocks, Blocks) else blocks.to_delayed().ravel()
    block = np.searchsorted(bounds, wanted, side="right") - 1
    found = dask.compute(
        *[
            dask.delayed(taken)(parts[number], wanted[block == number] - bounds[number])
            for number in np.unique(block)
        ]
    )
    return sp.csr_array(sp.vstack(found)) if sp.issparse(found[0]) else np.concatenate(found)


def taken(block: Any, rows: np.ndarray) -> Any:
    """Some rows of a block."""
    return block[rows]


def similar_rows(factor: Any, place: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a Dask array that are most like one, and their cosines, apart from the mean."""
    import dask

    mean, row = dask.compute(factor.mean(axis=0), factor[place])
    apart = row - mean
    length = float(np.sqrt(apart @ apart))
    unit = apart / (length if length > 0 else 1.0)
    bounds = np.concatenate(([0], np.cumsum(factor.chunks[0])))
    parts = dask.compute(
        *[
            dask.delayed(best_of_block)(block, int(first), mean, unit, (place, n))
            for block, first in zip(factor.to_delayed().ravel(), bounds, strict=False)
        ]
    )
    places, scores = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((places, -scores))[:n]
    return places[order], scores[order]


def best_of_block(
    block: np.ndarray, first: int, mean: np.ndarray, unit: np.ndarray, of: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """The same of a block."""
    place, n = of
    apart = block - mean
    length = np.sqrt(np.einsum("ik,ik->i", apart, apart))
    apart = apart / np.where(length > 0, length, 1.0)[:, None]
    allowed = np.arange(len(block)) + first != place
    best, scores = top_n(unit[None, :], apart, n, None, allowed)
    there = best[0] >= 0
    return best[0][there] + first, scores[0][there]
