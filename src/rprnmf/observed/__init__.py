"""What a loss may ask of X: one view for complete data, one for incomplete data.

``make_view`` reads X and the ``missing`` rule; everything below this room works with
X ~ F G' where ``F`` is (rows, K) and ``G`` (columns, K), and ``view.T`` serves the
other factor with the same code.
"""

from __future__ import annotations

from rprnmf.observed.base import BaseView, Entrywise, Extent
from rprnmf.observed.dense import FullDense
from rprnmf.observed.entries import Entries
from rprnmf.observed.making import make_view
from rprnmf.observed.masked import Masked
from rprnmf.observed.parts import Fold, column_means, filled, hold_out, observed_ones
from rprnmf.observed.remote import RemoteView
from rprnmf.observed.remote_making import Reading, make_remote_view
from rprnmf.observed.sparse import FullSparse
from rprnmf.observed.weighted import Weighted

__all__ = [
    "BaseView",
    "Entries",
    "Entrywise",
    "Extent",
    "Fold",
    "FullDense",
    "FullSparse",
    "Masked",
    "Reading",
    "RemoteView",
    "Weighted",
    "column_means",
    "filled",
    "hold_out",
    "make_remote_view",
    "make_view",
    "observed_ones",
]
