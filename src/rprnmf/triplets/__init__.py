"""Comparisons: the value, and where they come from."""

from __future__ import annotations

from rprnmf.triplets.from_labels import triplets_from_labels
from rprnmf.triplets.triplets import Triplets, as_triplets

__all__ = ["Triplets", "as_triplets", "triplets_from_labels"]
