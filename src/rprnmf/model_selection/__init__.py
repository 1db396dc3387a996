"""Choosing: how many components, how strong the triplets, how many more answers."""

from __future__ import annotations

from rprnmf.model_selection.folds import HeldOut, MaskedKFold
from rprnmf.model_selection.learning import TripletLearningCurve, triplet_learning_curve
from rprnmf.model_selection.rank import RankCurve, choose_rank
from rprnmf.model_selection.strength import StrengthCurve, choose_strength, triplet_scorer

__all__ = [
    "HeldOut",
    "MaskedKFold",
    "RankCurve",
    "StrengthCurve",
    "TripletLearningCurve",
    "choose_rank",
    "choose_strength",
    "triplet_learning_curve",
    "triplet_scorer",
]
