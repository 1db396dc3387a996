"""What a factor pays for breaking comparisons, for leaving its neighbours, for its size."""

from __future__ import annotations

from rprnmf.penalties.exponential import TripletExponential
from rprnmf.penalties.graph import Graph
from rprnmf.penalties.hinge import TripletHinge, TripletSquaredHinge
from rprnmf.penalties.likelihood import TripletLikelihood
from rprnmf.penalties.logistic import TripletLogistic
from rprnmf.penalties.norms import Norms
from rprnmf.penalties.pair_distance import DISTANCES, PairDistance, SymmetricDivergence
from rprnmf.penalties.ratio import TripletRatio
from rprnmf.penalties.signed_graph import SignedGraphPenalty
from rprnmf.penalties.triplet import TripletPenalty

PENALTIES: dict[str, type[TripletPenalty]] = {
    "exponential": TripletExponential,
    "hinge": TripletHinge,
    "squared_hinge": TripletSquaredHinge,
    "logistic": TripletLogistic,
    "likelihood": TripletLikelihood,
    "ratio": TripletRatio,
}

__all__ = [
    "DISTANCES",
    "PENALTIES",
    "Graph",
    "Norms",
    "PairDistance",
    "SignedGraphPenalty",
    "SymmetricDivergence",
    "TripletPenalty",
]
