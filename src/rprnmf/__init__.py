"""Non-negative matrix factorisation that respects relative comparisons."""

from __future__ import annotations

from rprnmf.estimators import GNMF, LCNMF, NMF, RPRNMF
from rprnmf.persistence import load, save
from rprnmf.triplets import Triplets

__version__ = "0.1.0"

__all__ = ["GNMF", "LCNMF", "NMF", "RPRNMF", "Triplets", "__version__", "load", "save"]
