"""The four estimators."""

from __future__ import annotations

from rprnmf.estimators.gnmf import GNMF
from rprnmf.estimators.lcnmf import LCNMF
from rprnmf.estimators.nmf import NMF
from rprnmf.estimators.rprnmf import RPRNMF

__all__ = ["GNMF", "LCNMF", "NMF", "RPRNMF"]
