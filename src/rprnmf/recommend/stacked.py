"""Several starts as one non-negative model: the mean of their predictions.

With S starts the columns of all factors stand side by side, divided by the root of S: the product
of the stacked factors is the mean of the products of the starts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.observed import BaseView
from rprnmf.recommend.clicks import Clicks
from rprnmf.recommend.features import RowFeatures, SideFeatures
from rprnmf.recommend.metadata import Metadata
from rprnmf.recommend.row_model import DataWeights, RowModel

USERS, ITEMS = 0, 1


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
    n_jobs : int or None
    """

    starts: list[tuple[RowModel, RowModel]]
    features: tuple[SideFeatures, SideFeatures]
    metadata: tuple[Metadata | None, Metadata | None]
    n_fitted: tuple[int, int]
    weights: DataWeights
    clicks: Clicks | None
    n_clicks: np.ndarray
    n_jobs: int | None

    def factor(self, side: int) -> np.ndarray:
        """The stacked factor: one row per user (0) or item (1)."""
        parts = [start[side].F for start in self.starts]
        found = stacked_row(parts)
        if side == USERS:
            found = found / self.unit_of(self.n_clicks)[:, None]
        return np.ascontiguousarray(found, dtype=parts[0].dtype)

    def unit_of(self, n_clicks: np.ndarray) -> np.ndarray:
        """What the rows of users were multiplied by, see `clicks.py`; 1 for ratings."""
        if self.clicks is None:
            return np.ones(len(n_clicks))
        return np.sqrt(self.clicks.busy(n_clicks))

    def view(self, side: int, rows: sp.csr_array) -> BaseView:
        """What is observed of some rows."""
        if self.clicks is None:
            return self.weights.view(rows, None, self.n_jobs)
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

    def solve(
        self,
        side: int,
        rows: sp.csr_array,
        ids: Iterable[Any],
        metadata: Metadata | None = None,
    ) -> list[np.ndarray]:
        """Rows of every start for given ratings, the other side as it is."""
        metadata = self.metadata[side] if metadata is None else metadata
        features = self.row_features(side, rows, ids, metadata)
        view = self.view(side, rows)
        return [
            start[side].solve(view, features, start[1 - side].F, self.weights)
            for start in self.starts
        ]

    def with_rows(self, side: int, places: np.ndarray, found: list[np.ndarray]) -> StackedModel:
        """The model with some rows replaced; positions beyond the last are new rows."""
        n = max(len(self.starts[0][side].F), int(places.max(initial=-1)) + 1)
        starts = []
        for start, F in zip(self.starts, found, strict=True):
            old = start[side].F
            new = np.zeros((n, old.shape[1]), dtype=old.dtype)
            new[: len(old)] = old
            new[places] = F
            pair = list(start)
            pair[side] = replace(start[side], F=new)
            starts.append((pair[0], pair[1]))
        more = n - len(self.n_clicks) if side == USERS else 0
        n_clicks = np.concatenate((self.n_clicks, np.zeros(more, dtype=self.n_clicks.dtype)))
        return replace(self, starts=starts, n_clicks=n_clicks)


def stacked_row(rows: list[np.ndarray]) -> np.ndarray:
    """One row from the rows of all starts."""
    return np.hstack(rows) / np.sqrt(len(rows))
