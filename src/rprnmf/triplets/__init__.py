"""Comparisons: the value, where they come from, what is wrong with them, what they turn into."""

from __future__ import annotations

from rprnmf.triplets.asking import Asked, ask
from rprnmf.triplets.consistency import Consistency, check_consistency, resolve
from rprnmf.triplets.conversions import triplets_to_graph, triplets_to_labels
from rprnmf.triplets.files import TripletFileError
from rprnmf.triplets.from_features import (
    triplets_from_distances,
    triplets_from_features,
    triplets_from_rankings,
)
from rprnmf.triplets.from_labels import triplets_from_labels
from rprnmf.triplets.from_links import (
    triplets_from_chains,
    triplets_from_links,
    triplets_from_survey,
)
from rprnmf.triplets.from_metadata import triplets_from_metadata
from rprnmf.triplets.queries import next_queries, propose_queries
from rprnmf.triplets.triplets import Triplets, as_triplets

__all__ = [
    "Asked",
    "Consistency",
    "TripletFileError",
    "Triplets",
    "as_triplets",
    "ask",
    "check_consistency",
    "next_queries",
    "propose_queries",
    "resolve",
    "triplets_from_chains",
    "triplets_from_distances",
    "triplets_from_features",
    "triplets_from_labels",
    "triplets_from_links",
    "triplets_from_metadata",
    "triplets_from_rankings",
    "triplets_from_survey",
    "triplets_to_graph",
    "triplets_to_labels",
]
