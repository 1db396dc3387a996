"""X in blocks of rows that lie elsewhere: the same questions, answered by the blocks.

An answer with one row per row of X stays with the blocks; one with a row per column, or a number,
is summed over them. So F is a `RemoteArray` and G an array here, and the other way round for the
transpose.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.observed import remote_parts as blocks
from rprnmf.observed.base import BaseView, Entrywise, Extent, places_in_order
from rprnmf.observed.entries import Entries
from rprnmf.observed.summed import SummedRows, Sums, sums_of_groups
from rprnmf.observed.weighted import few, mean_weight
from rprnmf.remote import Pool, Remote, RemoteArray


class Kind(NamedTuple):
    """What the blocks are, all alike."""

    dtype: np.dtype
    n_jobs: int | None
    one_gram: bool
    zeros_implied: bool
    weighted: bool = False
    rest: float = 0.0
    weak_zeros: bool = False


class InBlocks(BaseView):
    """What both sides of X have in common."""

    remote = True
    pool: Pool
    views: Remote
    kind: Kind
    n_holes: int
    n_stored: int  # where entries have weights
    _mass: float
    _entry_weight: float

    def of_kind(self, kind: Kind) -> None:
        """Take over what the blocks are."""
        self.kind, self.dtype, self.n_jobs = kind, np.dtype(kind.dtype), kind.n_jobs
        self.one_gram, self.zeros_implied = kind.one_gram, kind.zeros_implied
        self.weighted, self.weak_zeros = kind.weighted, kind.weak_zeros

    @property
    def mass(self) -> float:
        return self._mass

    @property
    def entry_weight(self) -> float:
        return self._entry_weight

    @property
    def complete(self) -> bool:
        return not self.weighted and super().complete

    @property
    def incomplete(self) -> bool:
        return self.gappy or (self.weak_zeros and few(self.n_stored, self.shape))


class RemoteView(InBlocks):
    """The view of all rows.

    Parameters
    ----------
    pool : Pool
    views : Remote
        The view of each block.
    n_columns : int
    kind : Kind
    """

    _summed: tuple[Any, SummedRows] | None = None
    _near: tuple[np.ndarray, BaseView | None] = np.zeros(0, dtype=np.int64), None

    def __init__(self, pool: Pool, views: Remote, n_columns: int, kind: Kind):
        self.pool, self.shape = pool, (int(pool.bounds[-1]), n_columns)
        self.of_kind(kind)
        counts, sums, self._extremes, self.n_holes = pool.total(blocks.summary, views)
        self._extremes = (
            min(low for low, _ in self._extremes),
            max(high for _, high in self._extremes),
        )
        self.n_observed, self._n_nonzero, self.n_stored, n_weights = map(int, counts)
        self._total, self._squares, self._mass, weights = map(float, sums)
        self._entry_weight = mean_weight(weights, n_weights, kind.rest) if kind.weighted else 1.0
        amounts = self.n_observed, self._n_nonzero, self._total, self._mass, self._entry_weight
        # blocks decide by what there is in all rows
        self.extent_of_blocks = Extent(self.shape, *amounts)
        self.views = pool.map(blocks.lazily(blocks.with_extent), views, self.extent_of_blocks)

    @property
    def total(self) -> float:
        return self._total

    @property
    def squares(self) -> float:
        return self._squares

    @property
    def n_nonzero(self) -> int:
        return self._n_nonzero

    def extremes(self) -> tuple[float, float]:
        return self._extremes

    def _transposed(self) -> RemoteTransposed:
        return RemoteTransposed(self)

    def rows(self, question: str, width: tuple[int, ...], *arguments: Any) -> RemoteArray:
        """An answer with a row per row of X."""
        dtype = np.float64 if question == "row_counts" else self.dtype
        found = self.pool.map(blocks.Asked(question), self.views, *arguments)
        return RemoteArray.of(found, width, dtype)

    def number(self, question: str, *arguments: Any) -> Any:
        """A sum over all rows."""
        return self.pool.total(blocks.Asked(question), self.views, *arguments)

    @cached_property
    def row_counts(self) -> RemoteArray:  # type: ignore[override]
        return self.rows("row_counts", ())

    def row_sums(self) -> RemoteArray:  # type: ignore[override]
        return self.rows("row_sums", ())

    def ranks(self) -> RemoteArray:  # type: ignore[override]
        # the order of all rows: two numbers for each row come here, once
        columns = np.ascontiguousarray(self.T.row_sums()[:, None])
        keys = self.pool.each(blocks.keys_of_rows, self.views, columns)
        found = places_in_order(*np.concatenate(keys, axis=1))
        return self.with_rows(found)

    def with_rows(self, table):
        table = table.toarray() if sp.issparse(table) else np.asarray(table)
        cuts = np.split(table, self.pool.bounds[1:-1])
        return RemoteArray.of(self.pool.scatter(cuts), table.shape[1:], table.dtype)

    def times(self, G):
        return self.rows("times", (G.shape[1],), G)

    def ones_times(self, G):
        return self.rows("ones_times", (G.shape[1],), G)

    def model_times(self, F, G):
        return self.rows("model_times", (G.shape[1],), F, G)

    def model_times_column(self, F, G, k):
        return self.rows("model_times_column", (), F, G, k)

    def ratio_times(self, F, G):
        return self.rows("ratio_times", (G.shape[1],), F, G)

    def squared_error(self, F, G):
        return float(self.number("squared_error", F, G))

    def divergence(self, F, G):
        return float(self.number("divergence", F, G))

    def power_sum(self, power):
        return float(self.number("power_sum", power))

    def entrywise_sum(self, function: Entrywise, F, G):
        return float(self.number("entrywise_sum", function, F, G))

    def entrywise_times(self, function: Entrywise, F, G):
        both = self.pool.map(blocks.Asked("entrywise_times"), self.views, function, F, G)
        one, two = (self.pool.map(blocks.item, both, place) for place in (0, 1))
        width = (G.shape[1],)
        return RemoteArray.of(one, width, self.dtype), RemoteArray.of(two, width, self.dtype)

    def column_moments(self):
        return self.number("column_moments")

    def scaled(self, factor):
        return self.changed(blocks.Asked("scaled"), factor)

    def without_zeros(self, value):
        return self.changed(blocks.Asked("without_zeros"), value)

    def changed(self, function: Callable[..., Any], *arguments: Any) -> RemoteView:
        """Other blocks of the same kind."""
        views = self.pool.map(blocks.lazily(function), self.views, *arguments)
        return RemoteView(self.pool, views, self.shape[1], self.kind)

    def parted(self, chosen: Any) -> tuple[RemoteView, RemoteView]:
        """Without some of its entries, and these (`parts.Fold`)."""
        apart = self.pool.map(
            blocks.lazily(blocks.held_out), self.views, chosen.row_ranks, *chosen[1:]
        )
        kept, out = (self.pool.map(blocks.lazily(blocks.item), apart, place) for place in (0, 1))
        test = self.kind._replace(one_gram=False, zeros_implied=False, rest=0.0, weak_zeros=False)
        whole = self.zeros_implied or self.weighted
        return (
            RemoteView(self.pool, kept, self.shape[1], self.kind if whole else test),
            RemoteView(self.pool, out, self.shape[1], test),
        )

    def take(self, rows: np.ndarray) -> BaseView:
        """The view of some rows, here; a row comes once, whoever asks for it."""
        known, near = self._near
        new = np.setdiff1d(rows, known)
        if len(new):
            every, parts = np.union1d(known, new), [(new, self.fetched(new))]
            if near is not None:
                parts.append((known, near))
            near = blocks.joined(parts, self.shape[1], self.n_jobs)
            self._near = known, near = every, near
        assert near is not None
        return near.take(np.searchsorted(known, rows))

    def fetched(self, rows: np.ndarray) -> BaseView:
        """The view of some rows, here, which nobody will ask for again."""
        found = self.pool.total(blocks.rows_of_view, self.views, self.pool.first, rows)
        return blocks.joined(found, self.shape[1], self.n_jobs)

    def summed(self, tying: Any) -> SummedRows:
        """The sums over tied rows in several blocks, here; kept for those who ask again."""
        if self._summed is None or self._summed[0] is not tying:
            sums = Sums(*self.pool.total(sums_of_groups, self.views, tying))
            self._summed = tying, SummedRows(sums, tying.sizes, self)
        return self._summed[1]

    def stored(self) -> Entries:
        raise ValueError("the entries of X lie in blocks and are not gathered.")

    def complete_matrix(self) -> Any:
        return None


class RemoteTransposed(InBlocks):
    """The same for the columns of X: answers come here, summed over the blocks."""

    def __init__(self, rows: RemoteView):
        self.rows = rows
        self.pool, self.views, self.shape = rows.pool, rows.views, rows.shape[::-1]
        self.of_kind(rows.kind)
        self.n_observed, self.n_holes, self.n_stored = rows.n_observed, rows.n_holes, rows.n_stored
        self._mass, self._entry_weight = rows.mass, rows.entry_weight

    @property
    def total(self) -> float:
        return self.rows.total

    @property
    def squares(self) -> float:
        return self.rows.squares

    @property
    def n_nonzero(self) -> int:
        return self.rows.n_nonzero

    def extremes(self) -> tuple[float, float]:
        return self.rows.extremes()

    def _transposed(self) -> RemoteView:
        return self.rows

    def asked(self, question: str, *arguments: Any) -> Any:
        """The sum over the blocks of what the transposes of their views say."""
        return self.pool.total(blocks.Asked(question, transposed=True), self.views, *arguments)

    @cached_property
    def row_counts(self) -> np.ndarray:
        return self.rows.column_moments()[0]

    @property
    def row_observed(self) -> np.ndarray:
        return self.asked("row_observed") if self.weighted else self.row_counts

    def row_sums(self) -> np.ndarray:
        return self.asked("row_sums")

    def times(self, G):
        return self.asked("times", G)

    def ones_times(self, G):
        if self.complete:
            return np.broadcast_to(G.sum(axis=0), (self.shape[0], G.shape[1]))
        return self.asked("ones_times", G)

    def model_times(self, F, G):
        if self.one_gram and not self.n_holes:
            return F @ (G.T @ G)
        return self.asked("model_times", F, G)

    def model_times_column(self, F, G, k):
        return self.asked("model_times_column", F, G, k)

    def ratio_times(self, F, G):
        return self.asked("ratio_times", F, G)

    def squared_error(self, F, G):
        return self.rows.squared_error(G, F)

    def divergence(self, F, G):
        return self.rows.divergence(G, F)

    def power_sum(self, power):
        return self.rows.power_sum(power)

    def entrywise_sum(self, function, F, G):
        return self.rows.entrywise_sum(function, G, F)

    def entrywise_times(self, function, F, G):
        return self.asked("entrywise_times", function, F, G)

    def column_moments(self):
        moments = self.pool.map(blocks.moments_of_rows, self.views)
        return tuple(
            RemoteArray.of(self.pool.map(blocks.item, moments, place), (), np.float64)
            for place in range(3)
        )

    def spread(self) -> float:
        variance, length = self.pool.total(blocks.spread_of_rows, self.views)
        if variance > 1e-12 * length:
            return float(2.0 * variance)
        return float(length) or 1.0

    def scaled(self, factor):
        return self.rows.scaled(factor).T

    def take(self, rows: np.ndarray) -> BaseView:
        """The view of some columns; their entries stay with the blocks."""
        views = self.pool.map(blocks.lazily(blocks.columns_of_view), self.views, rows)
        return RemoteView(self.pool, views, len(rows), self.rows.kind).T

    def stored(self) -> Entries:
        raise ValueError("the entries of X lie in blocks and are not gathered.")
