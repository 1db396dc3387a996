"""Features of rows, for the rows of the fit and for new rows.

All features of one part are brought to a mean squared length of 1 per row, so that a ridge of one
size serves them all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from rprnmf.observed import BaseView, column_means, filled, observed_ones
from rprnmf.priors.encoding import FrameEncoder, is_frame
from rprnmf.priors.kernel import KernelFeatures
from rprnmf.priors.mask import MaskFeatures
from rprnmf.remote import RemoteArray, as_dask

SPARSE = 0.1  # of the entries: tables with fewer are multiplied faster without their zeros


def is_part(given: Any) -> bool:
    """Whether it is features by itself, and not one row of numbers."""
    return isinstance(given, str) or is_frame(given) or np.ndim(given) == 2 or sp.issparse(given)


class Part:
    """Features of one origin.

    Attributes
    ----------
    phi : {ndarray, sparse array} of shape (n_rows, n_features)
    names : list of str
    wants : int
        How many tables new rows must bring.
    """

    phi: Any
    names: list[str]
    wants: int

    def new(self, view: BaseView, matrix: Any, tables: list[Any]) -> Any:
        """The features of new rows."""
        raise NotImplementedError

    def here(self) -> Part:
        """The same after the fit, when the rows of X may be elsewhere no more."""
        return self


class MeanPart(Part):
    """No features: rows are pulled to their mean."""

    wants = 0

    def __init__(self, view: BaseView):
        self.phi, self.names = view.with_rows(np.zeros((view.shape[0], 0))), []

    def new(self, view, matrix, tables):
        return np.zeros((view.shape[0], 0))

    def here(self):
        self.phi = np.zeros(self.phi.shape)
        return self


class DataPart(Part):
    """Features of X itself: alike rows, or, where much is missing, which entries are observed."""

    wants = 0

    def __init__(self, view: BaseView, matrix: Any):
        self.by_mask = view.incomplete
        self.fill = column_means(view)
        data = self.data_of(view, matrix)
        self.map: Any = MaskFeatures(data) if self.by_mask else KernelFeatures(data)
        self.phi = self.map(data)
        self.names = [f"data{number}" for number in range(self.phi.shape[1])]

    def data_of(self, view: BaseView, matrix: Any) -> Any:
        """What the features are made of."""
        if self.by_mask:
            return observed_ones(view)
        return matrix if view.complete else filled(view, self.fill)

    def new(self, view, matrix, tables):
        return self.map(self.data_of(view, matrix))


class GivenPart(Part):
    """Features that a user knows."""

    wants = 1

    def __init__(self, given: Any, n: int, side: str):
        self.encoder = FrameEncoder(given) if is_frame(given) else None
        self.side = side
        phi = self.table(given, n)
        center = np.asarray(phi.mean(axis=0)).ravel()
        squares = phi.multiply(phi) if sp.issparse(phi) else phi * phi
        spread = float(squares.sum()) / max(n, 1) - float(center @ center)
        self.unit = np.sqrt(spread) if spread > 0 else 1.0
        self.phi = phi / self.unit
        self.names = self.names_of(phi.shape[1])

    def names_of(self, width: int) -> list[str]:
        """The names of so many features."""
        if self.encoder is not None:
            return self.encoder.names
        return [f"x{number}" for number in range(width)]

    def table(self, given: Any, n: int) -> Any:
        """Numbers, one row per row."""
        what = f"{self.side}_prior"
        if self.encoder is not None:
            found = self.encoder(given)
        else:
            found = check_array(given, accept_sparse="csr", dtype=np.float64, input_name=what)
        if found.shape[0] != n:
            raise ValueError(
                f"{what} must have features for each of {n} {self.side}s, got {found.shape[0]}."
            )
        return found

    def new(self, view, matrix, tables):
        found = self.table(tables.pop(0), view.shape[0])
        if found.shape[1] != self.phi.shape[1]:
            raise ValueError(
                f"{self.side}_features have {found.shape[1]} columns, but those of the fit had "
                f"{self.phi.shape[1]}."
            )
        return found / self.unit


class Joined(Part):
    """Several parts side by side."""

    def __init__(self, parts: list[Part]):
        self.parts = parts
        self.phi = beside([part.phi for part in parts])
        self.names = [name for part in parts for name in part.names]
        self.wants = sum(part.wants for part in parts)

    def new(self, view, matrix, tables):
        return beside([part.new(view, matrix, tables) for part in self.parts])

    def here(self):
        self.parts = [part.here() for part in self.parts]
        if isinstance(self.phi, RemoteArray):
            self.phi = as_dask(self.phi)
        return self


def beside(tables: list[Any]) -> Any:
    """Columns side by side; sparse if all are, or if next to all entries are zeros."""
    if isinstance(tables[0], RemoteArray):
        return tables[0].map(side_by_side, *tables)
    n_stored = sum(table.nnz if sp.issparse(table) else table.size for table in tables)
    size = sum(table.shape[0] * table.shape[1] for table in tables)
    if all(sp.issparse(table) for table in tables) or n_stored < SPARSE * size:
        return sp.csr_array(sp.hstack([sp.csr_array(table) for table in tables]))
    return np.hstack([t.toarray() if sp.issparse(t) else t for t in tables])


def side_by_side(*tables: np.ndarray) -> np.ndarray:
    """Columns side by side."""
    return np.hstack(tables)
