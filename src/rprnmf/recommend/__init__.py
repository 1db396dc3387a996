"""Recommendations from ratings or clicks, and from what is known of users and items."""

from __future__ import annotations

from rprnmf.recommend.evaluation import Evaluation, evaluate
from rprnmf.recommend.explanation import Explanation
from rprnmf.recommend.recommender import Recommender
from rprnmf.recommend.results import NewUser, Recommendations
from rprnmf.recommend.tuning import Tuning, tune

__all__ = [
    "Evaluation",
    "Explanation",
    "NewUser",
    "Recommendations",
    "Recommender",
    "Tuning",
    "evaluate",
    "tune",
]
