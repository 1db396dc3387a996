"""Choosing: how many components, how strong the triplets, what beside them; how many answers."""

from __future__ import annotations

from rprnmf.model_selection.folds import HeldOut, MaskedKFold
from rprnmf.model_selection.learning import TripletLearningCurve, triplet_learning_curve
from rprnmf.model_selection.rank import RankCurve, choose_rank
from rprnmf.model_selection.scorer import triplet_scorer
from rprnmf.model_selection.settings import choose_settings
from rprnmf.model_selection.settings_table import SettingsTable
from rprnmf.model_selection.strength import StrengthCurve, choose_strength

__all__ = [
    "HeldOut",
    "MaskedKFold",
    "RankCurve",
    "SettingsTable",
    "StrengthCurve",
    "TripletLearningCurve",
    "choose_rank",
    "choose_settings",
    "choose_strength",
    "triplet_learning_curve",
    "triplet_scorer",
]
