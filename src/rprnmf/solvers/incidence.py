"""In which triplets, pairs and edges each row of a factor stands."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rprnmf.kernels import triplet
from rprnmf.kernels.coupling import Coupling
from rprnmf.kernels.lists import list_pairs, list_triplets
from rprnmf.kernels.room import LANES
from rprnmf.objective import Look, SideTerms
from rprnmf.penalties.exponential import TripletExponential
from rprnmf.penalties.hinge import TripletHinge, TripletSquaredHinge

#: how the kernels call the penalties and distances of the registries
PENALTY_CODES = {
    "TripletExponential": triplet.EXPONENTIAL,
    "TripletHinge": triplet.HINGE,
    "TripletSquaredHinge": triplet.SQUARED_HINGE,
    "TripletLogistic": triplet.LOGISTIC,
}
_NO_INDEX, _NO_NUMBER = np.zeros(0, dtype=np.int64), np.zeros(0)
_NO_PLACE = np.zeros(0, dtype=np.uint32)
SKIN = 1.0  # margins that are room to spare
FEW_DATA = 0.5  # of a row
MOST, FEW = 0.7, 0.5  # shares of all triplets, of those listed, at which lists change


class Lists(NamedTuple):
    """The number of the pair at every place, and the first fields of a `Coupling`."""

    pair: np.ndarray
    met: np.ndarray
    other: np.ndarray
    mirror: np.ndarray
    first: np.ndarray
    own: np.ndarray
    also: np.ndarray
    share: np.ndarray


class Incidence:
    """For every row its places in the triplets, in their pairs and in a graph.

    Parameters
    ----------
    terms : SideTerms
    n : int
        Rows of the factor.
    seen : ndarray
        The share of each row of X that is observed. Rows without data are where triplets put
        them, met or not.
    """

    def __init__(self, terms: SideTerms, n: int, seen: np.ndarray):
        self.terms, self.n = terms, n
        self.down = np.zeros(n)
        self.down[: len(seen)] = seen < FEW_DATA
        bare = np.flatnonzero(seen == 0)
        self.linked = np.zeros(n, dtype=bool)
        self.edges: tuple[np.ndarray, np.ndarray, np.ndarray]
        self.edges = np.zeros(n + 1, dtype=np.int64), _NO_INDEX, _NO_NUMBER
        graph: Any = terms.graph
        if graph is not None:
            i, j, weight = graph.attract
            first, edge, end = placed(n, (i, j))
            self.edges = first, np.where(end == 0, j[edge], i[edge]), weight[edge]
            if terms.graph_weight > 0:
                self.linked[graph.rows] = True
        self.by_graph = self.linked.copy()
        triplets: Any = terms.triplets
        if triplets is not None:
            self.ends = np.ascontiguousarray((triplets.q, triplets.r, triplets.s))
            self.hinged = isinstance(triplets, (TripletHinge, TripletSquaredHinge))
            self.every = self.listed(np.arange(len(triplets.q)))
            self.is_listed = np.ones(len(triplets.q), dtype=bool)
            self.always = np.isin(self.ends, bare).any(axis=0)
            self.tight_lists = self.every, self.linked
            most_pairs = np.diff(self.every.met).max()
            most_triplets = np.diff(self.every.first[::3]).max()
            pulling = np.zeros(most_pairs, dtype=np.uint32)
            kept = np.zeros((LANES, 2, most_triplets))
            self.room = np.zeros((2, most_pairs)), pulling, kept
            self.bending = np.zeros(most_triplets, dtype=np.uint32)
            if terms.strength > 0:
                self.linked[triplets.rows] = True

    def listed(self, chosen: np.ndarray) -> Lists:
        """Some of the triplets, and their pairs, by row."""
        triplets: Any = self.terms.triplets
        one, two = triplets.pairs
        of_triplets = triplets.near, triplets.far
        wanted = np.zeros(len(one), dtype=bool)
        for pairs in of_triplets:
            wanted[pairs[chosen]] = True
        met = np.zeros(self.n + 2, dtype=np.int64)
        pair, other, mirror = np.empty((3, 2 * np.count_nonzero(wanted)), dtype=np.uint32)
        at = np.empty((2, len(one)), dtype=np.uint32)
        list_pairs(wanted, one, two, met, pair, other, mirror, *at)
        first = np.zeros(3 * self.n + 2, dtype=np.int64)
        own, also = np.empty((2, 3 * len(chosen)), dtype=np.uint32)
        share = np.empty(3 * len(chosen))
        ends = self.ends, *of_triplets, one, *at
        list_triplets(chosen, triplets.share, *ends, met, first, own, also, share)
        return Lists(pair, met[:-1], other, mirror, first[:-1], own, also, share)

    def tight(self, spare: np.ndarray, margin: float) -> tuple[Lists, np.ndarray]:
        """Lists of the triplets that do not keep the margin with room to spare, and their rows.

        They serve from step to step, as lists of neighbours do in molecular dynamics: until a
        triplet that is not in them has lost half of its room, or half of them are not needed.
        """
        close = spare <= (1.0 + 0.5 * SKIN) * margin
        wanted = self.always | (spare <= (1.0 + SKIN) * margin)
        n_wanted = np.count_nonzero(wanted)
        if np.any(close & ~self.is_listed) or n_wanted < FEW * np.count_nonzero(self.is_listed):
            self.is_listed = wanted if n_wanted < MOST * len(wanted) else np.ones_like(wanted)
            if self.is_listed.all():
                self.tight_lists = self.every, self.linked
            else:
                lists = self.listed(np.flatnonzero(self.is_listed))
                self.tight_lists = lists, self.by_graph | (np.diff(lists.first[::3]) > 0)
        return self.tight_lists

    def coupling(
        self, F: np.ndarray, look: Look | None, every: bool = True
    ) -> tuple[tuple[Coupling, float | None, bool | None], np.ndarray]:
        """All of it with the distances at F and the strengths of now, and which rows feel it.

        The first are three arguments of kernels: see `kernels/coupling.py`.

        Parameters
        ----------
        F : ndarray of shape (n, K)
        look : Look or None
            The terms at F, if they are at hand.
        every : bool
            False: triplets that keep the margin, and have room to spare, are left out (by
            Euclidean distance). Nothing
            pulls at them now; the caller looks whether a step has broken any.
        """
        terms = self.terms
        first, neighbour, affinity = self.edges
        graph = first, neighbour, terms.graph_weight * affinity
        triplets: Any = terms.triplets
        rest: tuple[Any, ...]
        if triplets is None:
            none, room = np.zeros(3 * self.n + 1, dtype=np.int64), np.zeros((2, 0))
            kept = np.zeros((LANES, 2, 0))
            of_none = none, *2 * (_NO_PLACE,), none, *2 * (_NO_PLACE,), _NO_NUMBER
            rest = _NO_NUMBER, room, _NO_PLACE, kept, _NO_PLACE, 0.0
            fields: list[Any] = [*of_none, *rest, 0, 1.0, 1.0, 0.0, *graph, self.down]
            return (Coupling(*fields), None, None), self.linked
        look = look or Look(terms, F)
        apart: Any = look.apart
        lists, linked = self.every, self.linked
        floor = getattr(triplets.distance, "floor", None)
        # a divergence jumps where an entry becomes zero: no triplet has room to spare
        if self.hinged and not every and floor is None:
            lists, linked = self.tight(look.far - look.near, triplets.margin)
        rules = (
            PENALTY_CODES[type(triplets).__name__],
            float(triplets.sigma),
            margin_of(triplets),
            float(getattr(triplets, "cap", 0.0)),
        )
        rest = apart[lists.pair], *self.room, self.bending, terms.triplet_weight
        fields = [*lists[1:], *rest, *rules, *graph, self.down]
        return (Coupling(*fields), floor, None if self.hinged else True), linked


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
