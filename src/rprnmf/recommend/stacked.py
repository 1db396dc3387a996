"""Several starts as one non-negative model: the mean of their predictions.

With S starts the columns of all factors stand side by side, divided by the root of S: the product
of the stacked factors is the mean of the products of the starts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.observed import BaseView, make_view
from rprnmf.recommend.clicks import Clicks, lacking
from rprnmf.recommend.far import FarRows, ScoredRows
from rprnmf.recommend.features import RowFeatures, SideFeatures
from rprnmf.recommend.metadata import Metadata
from rprnmf.recommend.row_model import DataWeights, Lacking, RowModel, Task
from rprnmf.recommend.usual import Usual, beside
from rprnmf.triplets import Triplets

USERS, ITEMS = 0, 1
NO_RATINGS = np.zeros(0)


@dataclass(frozen=True)
class StackedModel:
    """Factors of all starts, and what places new rows.

    Attributes
    ----------
    starts : list of (RowModel, RowModel)
        Users and items of each start.
    features : (SideFeatures, SideFeatures)
    metadata : (Metadata or None, Metadata or None)
    n_fitted : (int, int)
        Users and items of the fit: features of new rows count only these columns.
    weights : DataWeights
    clicks : Clicks or None
        None for ratings.
    n_clicks : ndarray of shape (n_users,)
        Ratings or clicks of each user.
    usual : Usual or None
        Mean ratings; None for clicks.
    n_jobs : int or None
    """

    starts: list[tuple[RowModel, RowModel]]
    features: tuple[SideFeatures, SideFeatures]
    metadata: tuple[Metadata | None, Metadata | None]
    n_fitted: tuple[int, int]
    weights: DataWeights
    clicks: Clicks | None
    n_clicks: np.ndarray
    usual: Usual | None
    n_jobs: int | None

    @property
    def token(self) -> str:
        """Tells one fit from another; new ratings and files do not change it."""
        found = hashlib.sha256(repr(self.n_fitted).encode())
        for model in (model for start in self.starts for model in start):
            found.update(np.asarray(model.by_known.b, dtype=np.float64).tobytes())
        return found.hexdigest()[:16]

    def factor(self, side: int) -> np.ndarray:
        """The stacked factor: one row per user (0) or item (1)."""
        parts = [start[side].F for start in self.starts]
        if isinstance(parts[0], FarRows):
            return self.far_factor()
        found = stacked_row(parts)
        if side == USERS:
            found = found / self.unit_of(self.n_clicks)[:, None]
        return np.ascontiguousarray(found, dtype=parts[0].dtype)

    def far_factor(self) -> Any:
        """The same of users that lie in blocks: a Dask array."""
        import dask.array as da

        parts: Any = [start[USERS].F for start in self.starts]
        blocks, more = [part.blocks for part in parts], [part.more for part in parts]
        unit = self.unit_of(self.n_clicks)[:, None] * np.sqrt(len(parts))
        n = len(blocks[0])
        units = da.from_array(unit[:n], chunks=(blocks[0].chunks[0], 1))
        found = [(da.concatenate(blocks, axis=1) / units).astype(parts[0].dtype)]
        if len(more[0]):
            found.append(da.from_array((np.hstack(more) / unit[n:]).astype(parts[0].dtype)))
        width = sum(part.shape[1] for part in parts)
        return da.concatenate(found).rechunk({1: width})

    def scored_at(self, places: np.ndarray) -> np.ndarray:
        """Scored rows of some users."""
        parts = [start[USERS].F[places] for start in self.starts]
        places = places % len(self.n_clicks)
        F = (stacked_row(parts) / self.unit_of(self.n_clicks[places])[:, None]).astype(
            parts[0].dtype
        )
        if self.usual is None:
            return F
        told = self.usual.told[USERS][places]
        return beside(USERS, F, self.usual.means[USERS][places], self.usual.leans(USERS, told))

    def scored(self, side: int) -> Any:
        """Rows whose products are the predictions: for ratings, with what `usual.py` adds."""
        if isinstance(self.starts[0][side].F, FarRows):
            return ScoredRows(self)
        F = self.factor(side)
        return F if self.usual is None else self.usual.beside(side, F)

    def scored_row(
        self, side: int, row: np.ndarray, ratings: np.ndarray = NO_RATINGS
    ) -> np.ndarray:
        """The same for one row of a user or item that is not among those of the fit."""
        return row if self.usual is None else self.usual.one_beside(side, row, ratings)

    def lean(self, user: sp.csr_array, place: int, j: int) -> float:
        """How much of the prediction for a user and item j is of means.

        The user stands at a place, or is new: -1, and has these ratings.
        """
        if self.usual is None:
            return 0.0
        told = self.usual.told[USERS][place] if place >= 0 else user.nnz
        one = self.usual.leans(USERS, np.array([told]))[0]
        item = self.usual.leans(ITEMS, self.usual.told[ITEMS][j : j + 1])[0]
        return float(1.0 - (1.0 - one) * (1.0 - item))

    def knowing(self, X: sp.csr_array, triplets: tuple[Triplets, Triplets]) -> StackedModel:
        """The model that counts these ratings, users by items; the factors stay as they are."""
        usual = self.usual
        if usual is not None:
            named = triplets[USERS].items, triplets[ITEMS].items
            usual = Usual.of(X, usual.most, named)
        return replace(self, n_clicks=np.diff(X.indptr), usual=usual)

    def with_metadata(self, side: int, metadata: Metadata | None) -> StackedModel:
        """The model that knows other facts."""
        pair = list(self.metadata)
        pair[side] = metadata
        return replace(self, metadata=(pair[0], pair[1]))

    def unit_of(self, n_clicks: np.ndarray) -> np.ndarray:
        """What the rows of users were multiplied by, see `clicks.py`; 1 for ratings."""
        if self.clicks is None:
            return np.ones(len(n_clicks))
        return np.sqrt(self.clicks.busy(n_clicks))

    def view(self, side: int, rows: sp.csr_array, places: np.ndarray | None = None) -> BaseView:
        """What is observed of some rows, at these places or new."""
        if self.clicks is None:
            values = rows if self.usual is None else self.usual.apart(side, rows, places)
            return self.weights.view(values, None, self.n_jobs)
        if rows.nnz == 0:  # nothing is known of these: no click is no dislike
            return make_view(rows, "zero", self.n_jobs)
        if side == USERS:
            lengths = np.diff(rows.indptr)
            busy = np.repeat(self.clicks.busy(lengths), lengths)
        else:
            busy = self.clicks.busy(self.n_clicks)[rows.indices]
        values, weights = self.clicks.weighed(rows, busy)
        return self.weights.view(values, weights, self.n_jobs)

    def row_features(
        self, side: int, rows: sp.csr_array, ids: Iterable[Any], metadata: Metadata | None
    ) -> RowFeatures:
        """Features of some rows, new or not."""
        seen = sp.csr_array(rows[:, : self.n_fitted[1 - side]])
        return self.features[side].new(metadata, ids, self.view(side, seen), seen)

    def task(
        self,
        side: int,
        rows: sp.csr_array,
        ids: Iterable[Any],
        places: np.ndarray | None = None,
    ) -> Task:
        """What is known of some rows, at these places or new."""
        features = self.row_features(side, rows, ids, self.metadata[side])
        counts = np.diff(rows.indptr)
        task = Task(self.view(side, rows, places), counts, features)
        if side == USERS and self.clicks is not None:
            task = task._replace(lacking=Lacking(lacking(counts), self.unit_of(counts)))
        return task

    def solve(self, side: int, task: Task) -> list[np.ndarray]:
        """Rows of every start for given ratings, the other side as it is."""
        others = [start[1 - side].F for start in self.starts]
        if isinstance(others[0], FarRows):  # of users those come here that rated these items
            seen = np.unique(task.view.nonzeros().indices).astype(np.int64)
            seen = seen if len(seen) else np.zeros(1, dtype=np.int64)
            task = task._replace(view=task.view.T.take(seen).T)
            others = [F[seen] for F in others]
        return [
            start[side].solve(task, other, self.weights)
            for start, other in zip(self.starts, others, strict=True)
        ]

    def with_rows(self, side: int, places: np.ndarray, found: list[np.ndarray]) -> StackedModel:
        """The model with some rows replaced; positions beyond the last are new rows."""
        n = max(len(self.starts[0][side].F), int(places.max(initial=-1)) + 1)
        starts = []
        for start, F in zip(self.starts, found, strict=True):
            old: Any = start[side].F
            if isinstance(old, FarRows):
                pair = list(start)
                pair[side] = replace(start[side], F=old.with_rows(places, F, n))  # type: ignore
                starts.append((pair[0], pair[1]))
                continue
            new = np.zeros((n, old.shape[1]), dtype=old.dtype)
            new[: len(old)] = old
            new[places] = F
            pair = list(start)
            pair[side] = replace(start[side], F=new)
            starts.append((pair[0], pair[1]))
        more = n - len(self.n_clicks) if side == USERS else 0
        n_clicks = np.concatenate((self.n_clicks, np.zeros(more, dtype=self.n_clicks.dtype)))
        return replace(self, starts=starts, n_clicks=n_clicks)


def mean_row(model: StackedModel, side: int) -> np.ndarray:
    """The row of a user (0) or item (1) of which nothing is known."""
    rows: Any = model.features[side].rows.known
    center = np.asarray(rows.mean(axis=0)).ravel()
    return stacked_row(
        [np.maximum(start[side].by_known.means(center), 0.0) for start in model.starts]
    )


def stacked_row(rows: list[np.ndarray]) -> np.ndarray:
    """One row from the rows of all starts."""
    return np.hstack(rows) / np.sqrt(len(rows))
