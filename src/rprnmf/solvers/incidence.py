"""In which triplets, pairs and edges each row of a factor stands."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rprnmf.kernels.coupling import Coupling, EdgeLists, PairLists, Rule, Scratch, TripletLists
from rprnmf.kernels.row_lists import PairEnds, TripletEnds, pairs_by_row, triplets_by_row
from rprnmf.kernels.workspace import LANES
from rprnmf.objective import Look, SideTerms
from rprnmf.penalties import DISTANCES, PENALTIES, TripletPenalty

SKIN = 1.0  # a triplet has room to spare if it keeps its margin and this many margins more
FEW_DATA = 0.5  # a row of which a smaller fraction is observed has few data
# Lists are for fewer than MOST of all triplets (making them must pay), and made anew when less than
# FEW of those listed are still wanted.
MOST, FEW = 0.7, 0.5


class Lists(NamedTuple):
    """Some triplets and their pairs by row."""

    pairs: PairLists
    number: np.ndarray  # the number of the pair at every place
    triplets: TripletLists


class Incidence:
    """For every row its places in the triplets, in their pairs and in a graph.

    Parameters
    ----------
    terms : SideTerms
    n : int
        Rows of the factor.
    observed : ndarray
        The fraction of each row of X that is observed. A row without data is placed by its
        triplets alone, so these are always listed.
    """

    def __init__(self, terms: SideTerms, n: int, observed: np.ndarray):
        self.n = n
        self.down = np.zeros(n)
        self.down[: len(observed)] = observed < FEW_DATA
        self.linked = np.zeros(n, dtype=bool)
        self.edges = edge_lists(terms, n)
        if terms.graph is not None and terms.graph_weight > 0:
            self.linked[terms.graph.rows] = True
        self.by_graph = self.linked.copy()
        self.triplets = terms.triplets or no_triplets()
        triplets = self.triplets
        one, two = triplets.pairs
        places = np.empty((2, len(one)), dtype=np.uint32)
        self.pair_ends = PairEnds(one, two, *places)
        rows = np.ascontiguousarray((triplets.q, triplets.r, triplets.s))
        self.triplet_ends = TripletEnds(rows, triplets.near, triplets.far, triplets.weight)
        self.every = self.listed(np.arange(len(triplets.q)))
        self.is_listed = np.ones(len(triplets.q), dtype=bool)
        self.always = np.isin(rows, np.flatnonzero(observed == 0)).any(axis=0)
        self.tight_lists = self.every, self.linked
        self.scratch = make_scratch(self.every)
        if terms.strength > 0:
            self.linked[triplets.rows] = True

    def listed(self, chosen: np.ndarray) -> Lists:
        """Some of the triplets, and their pairs, by row."""
        ends = self.triplet_ends
        wanted = np.zeros(len(self.pair_ends.one), dtype=bool)
        for number in (ends.near, ends.far):
            wanted[number[chosen]] = True
        pairs, number = pairs_by_row(wanted, self.pair_ends, self.n)
        return Lists(pairs, number, triplets_by_row(chosen, ends, self.pair_ends, pairs))

    def tight(self, spare: np.ndarray, margin: float) -> tuple[Lists, np.ndarray]:
        """Lists of the triplets without room to spare, and which rows they or a graph act on.

        They are used for several steps, as lists of neighbours are in molecular dynamics: until
        a triplet that is not listed has lost half of its room, or half of those listed have room.
        """
        close = spare <= (1.0 + 0.5 * SKIN) * margin
        wanted = self.always | (spare <= (1.0 + SKIN) * margin)
        n_wanted = np.count_nonzero(wanted)
        if np.any(close & ~self.is_listed) or n_wanted < FEW * np.count_nonzero(self.is_listed):
            self.list_tight(wanted if n_wanted < MOST * len(wanted) else np.ones_like(wanted))
        return self.tight_lists

    def list_tight(self, is_listed: np.ndarray) -> None:
        """Make lists of these triplets."""
        self.is_listed = is_listed
        if is_listed.all():
            self.tight_lists = self.every, self.linked
        else:
            lists = self.listed(np.flatnonzero(is_listed))
            by_triplets = np.diff(lists.triplets.first[::3]) > 0
            self.tight_lists = lists, self.by_graph | by_triplets

    def coupling(
        self, terms: SideTerms, look: Look, every: bool = True
    ) -> tuple[Coupling, np.ndarray]:
        """All of it at a factor and at the strengths of ``terms``, and which rows it acts on.

        Parameters
        ----------
        terms : SideTerms
        look : Look
            The terms at the factor.
        every : bool
            False: triplets with room to spare are left out if the penalty is zero where the
            margin is kept. They do not act on the factor; the caller checks that no step breaks
            one.
        """
        triplets, edges = terms.triplets or self.triplets, self.edges
        lists, linked = self.every, self.linked
        # a divergence jumps where an entry becomes zero: no triplet has room to spare
        spares = triplets.ends_at_margin and triplets.distance.smooth_at_zero
        if spares and triplets.margin is not None and not every and terms.triplets is not None:
            lists, linked = self.tight(look.far - look.near, triplets.margin)
        rule = Rule(
            triplets.shape,
            triplets.of_difference,
            triplets.distance.tagged,
            float(triplets.sigma),
            float(terms.triplet_weight),
        )
        apart = np.zeros(0) if look.apart is None else look.apart[lists.number]
        weighed = edges._replace(weight=terms.graph_weight * edges.weight)
        fields = lists.pairs, lists.triplets, weighed, rule, apart, self.down, self.scratch
        return Coupling(*fields), linked


def no_triplets() -> TripletPenalty:
    """An empty penalty, for sides that have a graph and no triplets."""
    penalty, distance = next(iter(PENALTIES.values())), next(iter(DISTANCES.values()))
    return penalty(np.zeros((0, 3), dtype=np.int64), np.ones(0), distance())


def make_scratch(lists: Lists) -> Scratch:
    """Arrays to work in, for lists of all triplets."""
    most_pairs = np.diff(lists.pairs.first).max(initial=0)
    most_triplets = np.diff(lists.triplets.first[::3]).max(initial=0)
    return Scratch(
        np.zeros(most_pairs),
        np.zeros(most_pairs),
        np.zeros(most_pairs, dtype=np.uint32),
        np.zeros((LANES, 2, most_triplets)),
        np.zeros((2, most_triplets)),
        np.zeros(most_triplets + 1, dtype=np.uint32),
    )


def edge_lists(terms: SideTerms, n: int) -> EdgeLists:
    """The neighbours of every row, with the weights of the graph itself."""
    graph: Any = terms.graph
    if graph is None:
        none = np.zeros(0, dtype=np.int64)
        return EdgeLists(np.zeros(n + 1, dtype=np.int64), none, np.zeros(0))
    i, j, weight = graph.attract
    rows, others = np.concatenate((i, j)), np.concatenate((j, i))
    size = len(i)
    order = np.lexsort((np.tile(np.arange(size), 2), rows))
    first = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n))))
    return EdgeLists(first, others[order], np.concatenate((weight, weight))[order])
