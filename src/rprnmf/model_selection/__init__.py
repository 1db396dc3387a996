"""Choosing: how many components, how strong the triplets."""

from __future__ import annotations

from rprnmf.model_selection.folds import HeldOut, MaskedKFold
from rprnmf.model_selection.rank import RankCurve, choose_rank
from rprnmf.model_selection.strength import StrengthCurve, choose_strength, triplet_scorer

__all__ = [
    "HeldOut",
    "MaskedKFold",
    "RankCurve",
    "StrengthCurve",
    "choose_rank",
    "choose_strength",
    "triplet_scorer",
]
