"""Choosing: how many components, how strong the triplets, and what stands beside them."""

from __future__ import annotations

from rprnmf.model_selection.folds import HeldOut, MaskedKFold
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
    "choose_rank",
    "choose_settings",
    "choose_strength",
    "triplet_scorer",
]
