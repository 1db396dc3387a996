"""Features of users or items: what is known of them, and what they rated (or who rated them)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.observed import BaseView
from rprnmf.priors import make_features
from rprnmf.priors.features import Part, beside
from rprnmf.recommend.metadata import Metadata


class RowFeatures(NamedTuple):
    """Features of some rows: those of the metadata alone, and all."""

    known: Any
    all: Any


class SideFeatures:
    """Features of one side, for the rows of the fit and for new ones.

    Parameters
    ----------
    metadata : Metadata or None
    ids : iterable
        Of the rows.
    view : BaseView
        With one row per id.
    matrix : sparse array
        The same data.
    by_data : bool
        Whether to use which entries were observed.
    """

    def __init__(
        self,
        metadata: Metadata | None,
        ids: Iterable[Any],
        view: BaseView,
        matrix: sp.csr_array,
        by_data: bool,
    ):
        self.n_known = 0
        self.parts: list[Part] = []
        if metadata is not None and metadata.columns:
            part = make_features(metadata.table(ids), view, matrix, metadata.what)
            if part.phi.shape[1]:
                self.parts.append(part)
                self.n_known = 1
        if by_data:
            self.parts.append(make_features("data", view, matrix, "row"))
        self.join_rows(view.shape[0])

    def join_rows(self, n: int) -> None:
        """Set what follows from the parts: names, and the features of the n rows of the fit."""
        self.names = [name for part in self.parts for name in part.names]
        self.rows = self._joined([part.phi for part in self.parts], n)

    @property
    def prior(self) -> Any:
        """What the estimators take as the prior of this side."""
        return [part.phi for part in self.parts] or "mean"

    def new(
        self, metadata: Metadata | None, ids: Iterable[Any], view: BaseView, matrix: sp.csr_array
    ) -> RowFeatures:
        """Features of other rows."""
        tables = []
        if self.n_known:
            assert metadata is not None
            tables.append(metadata.table(ids))
        return self._joined([p.new(view, matrix, tables) for p in self.parts], view.shape[0])

    def _joined(self, tables: list[Any], n: int) -> RowFeatures:
        nothing = np.zeros((n, 0))
        known = tables[0] if self.n_known else nothing
        return RowFeatures(known, beside(tables) if tables else nothing)
