"""Recommendations from ratings or clicks, and from what is known of users and items."""

from __future__ import annotations

from rprnmf.recommend.explanation import Explanation
from rprnmf.recommend.recommender import Recommender
from rprnmf.recommend.results import NewUser, Recommendations

__all__ = ["Explanation", "NewUser", "Recommendations", "Recommender"]
