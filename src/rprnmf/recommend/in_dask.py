"""Ratings, or clicks, that lie in blocks: a Dask DataFrame, or a Dask array of sparse blocks.

What has an entry per rating stays where Dask computes. Here come the ids of all users and items,
and a few numbers for each of them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.recommend.ids import Ids, encoded
from rprnmf.recommend.rating_scale import check_counts, check_in_scale, checked_scale
from rprnmf.recommend.ratings import (
    MOST_STARS,
    check_long,
    checked_values,
    columns_note,
    guessed_columns,
    looks_like,
    merged_cells,
)
from rprnmf.remote import is_chunked
from rprnmf.remote.placing import by_rows, require_dask

PRECISION = np.float32  # as in memory


def is_dask(given: Any) -> bool:
    """Whether it is something of Dask, without importing it."""
    return hasattr(given, "__dask_graph__")


class Raw(NamedTuple):
    """Ratings of some users."""

    user: np.ndarray  # the place of each rating among them
    item: np.ndarray
    values: np.ndarray | None
    n_users: int


class Stats(NamedTuple):
    """Of values: how many, their sum, and the ends of their range."""

    n: int
    total: float
    low: float
    high: float


class BlockRatings(NamedTuple):
    """Who rated what, and how.

    Attributes
    ----------
    users, items : Ids
    bounds : ndarray
        Where the users of each block begin, and their number.
    raw : list
        Delayed `Raw` for each block.
    stats : Stats or None
        None: that they happened is all that is known.
    notes : tuple of str
        How they were read.
    """

    users: Ids
    items: Ids
    bounds: np.ndarray
    raw: list[Any]
    stats: Stats | None
    notes: tuple[str, ...] = ()

    def kind(self) -> str:
        """What they look like: "explicit" (ratings) or "implicit" (clicks, counts)."""
        if self.stats is None:
            return "implicit"
        low, high, total = self.stats.low, self.stats.high, self.stats.total
        if low == 0 and high > MOST_STARS and total.is_integer():
            low = 1.0  # counts with zeros among them, which the blocks refuse
        return looks_like(low, high, total / self.stats.n)


def read_blocks(users: Any, items: Any, ratings: Any) -> BlockRatings:
    """Ratings from a Dask DataFrame or a Dask array of sparse blocks."""
    require_dask("the ratings are in blocks of Dask, and to fit them")
    if items is not None or ratings is not None:
        raise TypeError(
            "users has the items and ratings in it, as a Dask DataFrame or array: pass no items "
            "and no ratings beside it."
        )
    if is_chunked(users):
        return _from_array(users)
    if not hasattr(users, "columns") or not hasattr(users, "to_delayed"):
        raise TypeError(
            "users must be a Dask DataFrame with columns user and item, or a Dask array of users "
            f"x items in sparse blocks; got {type(users).__name__}."
        )
    return _from_frame(users)


def _from_array(X: Any) -> BlockRatings:
    import dask

    X = by_rows(X, "users")
    bounds = np.concatenate(([0], np.cumsum(X.chunks[0]))).astype(np.int64)
    blocks = X.to_delayed().ravel()
    raw = [
        dask.delayed(raw_of_block)(block, int(first))
        for block, first in zip(blocks, bounds, strict=False)
    ]
    n, m = X.shape
    names = Ids(list(range(n)), "user"), Ids(list(range(m)), "item")
    return BlockRatings(*names, bounds, raw, stats_of_all(raw))


def _from_frame(frame: Any) -> BlockRatings:
    """The ratings of each user in one block, users in the order in which they appear."""
    import dask

    check_long(frame)
    where = guessed_columns(list(frame.columns))
    parts = dask.persist(*[dask.delayed(coded_part)(p, where) for p in frame.to_delayed()])
    told = dask.compute(*[dask.delayed(ids_of_part)(part) for part in parts])
    names: tuple[dict[Any, int], dict[Any, int]] = ({}, {})
    codes = [
        [
            np.array([known.setdefault(one, len(known)) for one in part[side]], dtype=np.int64)
            for part in told
        ]
        for side, known in enumerate(names)
    ]
    n = len(names[0])
    if n == 0:
        raise ValueError("there are no ratings: the DataFrame is empty.")
    count = np.zeros(n)
    for place, part in zip(codes[0], told, strict=True):
        count[place] += part[2]
    n_blocks = min(sum(len(part[0]) > 0 for part in told), n)
    ends = np.cumsum(count)
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, n_blocks) / n_blocks) + 1
    bounds = np.unique(np.concatenate(([0], cuts, [n])))
    pieces = [
        dask.delayed(split_part, nout=len(bounds) - 1)(part, *both, bounds)
        for part, *both in zip(parts, *codes, strict=True)
    ]
    raw = [
        dask.delayed(joined)([each[block] for each in pieces], int(stop - start))
        for block, (start, stop) in enumerate(pairwise(bounds))
    ]
    raw = list(dask.persist(*raw))
    ids = Ids(list(names[0]), "user"), Ids(list(names[1]), "item")
    return BlockRatings(*ids, bounds, raw, stats_of_all(raw), (columns_note(where),))


def stats_of_all(raw: list[Any]) -> Stats | None:
    """Those of all blocks."""
    import dask

    found = [one for one in dask.compute(*[dask.delayed(stats_of)(r) for r in raw]) if one]
    if not found:
        raise ValueError("there are no ratings: all blocks are empty.")
    if any(one.low != one.low for one in found):  # nothing but pairs
        return None
    return Stats(
        sum(one.n for one in found),
        float(sum(one.total for one in found)),
        min(one.low for one in found),
        max(one.high for one in found),
    )


def raw_of_block(X: Any, first: int) -> Raw:
    """The entries of a sparse block."""
    if not sp.issparse(X):
        raise TypeError(
            f"the block of users from {first} on is not sparse: where ratings are a Dask array, "
            "what is stored is a rating; pass X.map_blocks(scipy.sparse.csr_array)."
        )
    entries = sp.coo_array(X)
    user, item = (index.astype(np.int64) for index in entries.coords)
    try:
        values = checked_values(entries.data, entries.nnz)
    except ValueError as error:
        raise ValueError(f"in the block of users from {first} on: {error}") from None
    return Raw(user, item, values, entries.shape[0])


class CodedPart(NamedTuple):
    """A part of a DataFrame, its users and items numbered as they appear in it."""

    names: tuple[list[Any], list[Any]]
    codes: tuple[np.ndarray, np.ndarray]
    values: np.ndarray | None


def coded_part(frame: Any, where: dict[str, Any]) -> CodedPart:
    """Of a part of a DataFrame."""
    (users, user), (items, item) = (encoded(frame[where[one]], one) for one in ("user", "item"))
    values = None
    if "rating" in where:
        values = checked_values(frame[where["rating"]], len(user))
    return CodedPart((users.names, items.names), (user, item), values)


def ids_of_part(part: CodedPart) -> tuple[list[Any], list[Any], np.ndarray]:
    """The users and items, and how many ratings each user has."""
    users, items = part.names
    return users, items, np.bincount(part.codes[0], minlength=len(users))


def split_part(
    part: CodedPart, users: np.ndarray, items: np.ndarray, bounds: np.ndarray
) -> list[tuple[Any, ...]]:
    """The ratings by the block of their user; ``users`` and ``items`` are the numbers of all."""
    user, item = users[part.codes[0]], items[part.codes[1]]
    block = np.searchsorted(bounds, user, side="right") - 1
    found = []
    for number in range(len(bounds) - 1):
        chosen = np.flatnonzero(block == number)
        values = None if part.values is None else part.values[chosen]
        found.append((user[chosen] - bounds[number], item[chosen], values))
    return found


def joined(pieces: list[tuple[Any, ...]], n_users: int) -> Raw:
    """The ratings of a block, from all parts."""
    users, items, values = zip(*pieces, strict=True)
    valued = None if values[0] is None else np.concatenate(values)
    return Raw(np.concatenate(users), np.concatenate(items), valued, n_users)


def stats_of(raw: Raw) -> Stats | None:
    """Those of a block; None for one without ratings."""
    if len(raw.user) == 0:
        return None
    if raw.values is None:
        return Stats(len(raw.user), 0.0, np.nan, np.nan)
    v = raw.values
    return Stats(len(v), float(v.sum()), float(v.min()), float(v.max()))


def scale_of_blocks(
    data: BlockRatings, kind: str, given: Any
) -> tuple[tuple[float, float] | None, float]:
    """The range of ratings, and what is subtracted to have none below zero; see `scale_of`."""
    if kind == "implicit":
        return None, 0.0
    if data.stats is None:
        raise ValueError("kind='explicit' needs ratings, got None; kind='implicit' does not.")
    low, high = (data.stats.low, data.stats.high) if given is None else checked_scale(given)
    return (low, high), min(low, 0.0)


class Matrix(NamedTuple):
    """Ratings in blocks of users, those without ratings left out.

    Attributes
    ----------
    X : dask array
        In sparse blocks.
    blocks : list
        These, each delayed.
    rated : (ndarray, ndarray)
        The places of users and items with ratings, among all.
    repeated : int
        How many pairs of user and item occur more than once.
    """

    X: Any
    blocks: list[Any]
    rated: tuple[np.ndarray, np.ndarray]
    repeated: int


def matrix_in_blocks(data: BlockRatings, kind: str, scale: Any, offset: float) -> Matrix:
    """The matrix of ratings, on the workers."""
    import dask

    m = len(data.items)
    merged = [dask.delayed(matrix_of_block)(raw, kind, scale, m) for raw in data.raw]
    merged = list(dask.persist(*merged))
    lengths = dask.compute(*[dask.delayed(lengths_of)(each) for each in merged])
    items = np.flatnonzero(sum(of_items for _, of_items, _ in lengths))
    users = np.flatnonzero(np.concatenate([of_users for of_users, _, _ in lengths]))
    blocks, sizes = [], []
    for each, (of_users, _, _) in zip(merged, lengths, strict=True):
        size = int(np.count_nonzero(of_users))
        if size:
            blocks.append(dask.delayed(rated_part)(each, items, offset, PRECISION))
            sizes.append(size)
    blocks = list(dask.persist(*blocks))
    X = as_array(blocks, sizes, len(items), PRECISION)
    return Matrix(X, blocks, (users, items), sum(repeated for _, _, repeated in lengths))


def as_array(blocks: list[Any], sizes: list[int], width: int, dtype: Any) -> Any:
    """Delayed sparse blocks as a Dask array."""
    import dask.array as da

    like = sp.csr_array((0, width), dtype=dtype)
    parts = [
        da.from_delayed(block, (size, width), dtype, meta=like)
        for block, size in zip(blocks, sizes, strict=True)
    ]
    return da.concatenate(parts)


def matrix_of_block(raw: Raw, kind: str, scale: Any, n_items: int) -> tuple[sp.csr_array, int]:
    """The matrix of a block, and how many pairs occur more than once."""
    if kind == "implicit":
        check_counts(raw.values)
    elif raw.values is not None:
        check_in_scale(raw.values, scale)
    values = np.ones(len(raw.user)) if raw.values is None else raw.values
    return merged_cells(raw.user, raw.item, values, (raw.n_users, n_items), kind)


def lengths_of(found: tuple[sp.csr_array, int]) -> tuple[np.ndarray, np.ndarray, int]:
    """How many ratings users and items have, and how many pairs occur more than once."""
    X, repeated = found
    return np.diff(X.indptr), np.bincount(X.indices, minlength=X.shape[1]), repeated


def rated_part(
    found: tuple[sp.csr_array, int], items: np.ndarray, offset: float, dtype: Any
) -> sp.csr_array:
    """The ratings of a block, of users and items that have any."""
    X = found[0].copy()
    X.data -= offset
    rated = np.flatnonzero(np.diff(X.indptr))
    return sp.csr_array(X[rated][:, items], dtype=dtype)
