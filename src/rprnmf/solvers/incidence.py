"""In which triplets, pairs and edges each row of a factor stands."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.kernels import coupling
from rprnmf.kernels.coupling import Coupling
from rprnmf.objective import SideTerms
from rprnmf.penalties.exponential import TripletExponential

#: how the kernels call the penalties and distances of the registries
PENALTY_CODES = {
    "TripletExponential": coupling.EXPONENTIAL,
    "TripletHinge": coupling.HINGE,
    "TripletSquaredHinge": coupling.SQUARED_HINGE,
    "TripletLogistic": coupling.LOGISTIC,
}
DISTANCE_CODES = {
    "SquaredEuclidean": coupling.EUCLIDEAN,
    "SymmetricDivergence": coupling.DIVERGENCE,
}
_NO_INDEX, _NO_NUMBER = np.zeros(0, dtype=np.int64), np.zeros(0)


class Incidence:
    """For every row its places in the triplets, in their pairs and in a graph.

    Parameters
    ----------
    terms : SideTerms
    n : int
        Rows of the factor.
    """

    def __init__(self, terms: SideTerms, n: int):
        triplets, graph = terms.triplets, terms.graph
        self.linked = np.zeros(n, dtype=bool)
        none = np.zeros(n + 1, dtype=np.int64), _NO_INDEX, _NO_INDEX
        self.places = np.zeros(3 * n + 1, dtype=np.int64), _NO_INDEX, _NO_INDEX
        self.share, self.pairs = _NO_NUMBER, none
        if triplets is not None:
            by_role = tuple(
                3 * end + role for role, end in enumerate((triplets.q, triplets.r, triplets.s))
            )
            first, triplet, _ = placed(3 * n, by_role)
            self.places = first, triplets.near[triplet], triplets.far[triplet]
            self.share = triplets.share[triplet]
            i, j = triplets.pairs
            met, pair, end = placed(n, (i, j))
            self.pairs = met, pair, np.where(end == 0, j[pair], i[pair])
            if terms.strength > 0:
                self.linked[triplets.rows] = True
        self.edges: tuple[np.ndarray, np.ndarray, np.ndarray] = (*none[:2], _NO_NUMBER)
        if graph is not None:
            i, j, weight = graph.attract
            first, edge, end = placed(n, (i, j))
            self.edges = first, np.where(end == 0, j[edge], i[edge]), weight[edge]
            if terms.graph_weight > 0:
                self.linked[graph.rows] = True
        self.bending = np.zeros(len(self.share), dtype=np.int64)
        self.room = np.zeros((2, 0 if triplets is None else len(triplets.pairs[0])))

    def coupling(self, F: np.ndarray, terms: SideTerms, apart: np.ndarray | None) -> Coupling:
        """All of it with the distances at F and the strengths of now."""
        triplets: Any = terms.triplets
        first, neighbour, affinity = self.edges
        graph = first, neighbour, terms.graph_weight * affinity
        rules: list[Any] = [0, 0, 1.0, 0.0, 1.0, 0.0]
        distances: list[Any] = [_NO_NUMBER, _NO_NUMBER, _NO_NUMBER, _NO_INDEX]
        if triplets is not None:
            apart = triplets.apart(F) if apart is None else apart.copy()
            distances = [apart, *self.room, self.bending]
            rules = [
                PENALTY_CODES[type(triplets).__name__],
                DISTANCE_CODES[type(triplets.distance).__name__],
                float(triplets.sigma),
                float(getattr(triplets.distance, "floor", 0.0)),
                margin_of(triplets),
                float(getattr(triplets, "cap", 0.0)),
            ]
        weight = terms.triplet_weight * self.share
        fields: list[Any] = [*self.places, weight, *self.pairs, *distances, *rules, *graph]
        return Coupling(*fields)


def margin_of(triplets: Any) -> float:
    """The margin as the kernels want it."""
    if triplets.margin is not None:
        return float(triplets.margin)
    if not isinstance(triplets, TripletExponential):
        raise ValueError("solver 'cd' needs a margin for penalties that have one, got None.")
    return 1.0


def placed(n: int, ends: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every row its places in a list of things with several ends.

    Returns offsets by row, the numbers of the things in rising order, and which end it is.
    """
    rows = np.concatenate(ends)
    size = len(ends[0])
    order = np.lexsort((np.tile(np.arange(size), len(ends)), rows))
    first = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n))))
    return first, order % max(size, 1), order // max(size, 1)
