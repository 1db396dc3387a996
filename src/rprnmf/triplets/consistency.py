"""Do triplets agree with each other, which do not, and what to leave out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rprnmf.checks import summable
from rprnmf.kernels.feedback_arc import NodeEdges, Search, readmit, sift
from rprnmf.triplets.pairs import Pairs, distinct, numbered_pairs, questions, rising
from rprnmf.triplets.triplets import Triplets, as_triplets

METHODS = ("majority", "drop", "feedback-arc")
SWEEPS = 30  # of sifting, at most
VISITS = 100  # of every edge, on average, while those left out are tried again
SHOWN = 5  # conflicts, and triplets of each, that a report names


@dataclass(frozen=True, eq=False)
class Consistency:
    """Which triplets contradict each other.

    Attributes
    ----------
    triplets : Triplets
        What was looked at.
    opposite : ndarray of shape (n_triplets,)
        For (q, r, s) the number of a triplet (q, s, r), -1 if there is none.
    conflict : ndarray of shape (n_triplets,)
        The number of the conflict that a triplet is part of, -1 if it is in none. Triplets of
        one conflict lie on common cycles: a is closer than b, b than c, c than a.
    """

    triplets: Triplets
    opposite: np.ndarray
    conflict: np.ndarray

    @cached_property
    def excess(self) -> np.ndarray:
        """Whether ``resolve(method="feedback-arc")`` leaves a triplet out."""
        out = np.zeros(len(self.conflict), dtype=bool)
        inside = np.flatnonzero(self.conflict >= 0)
        if len(inside):
            pairs = numbered_pairs(self.triplets.numbers())
            out[inside] = feedback_arcs(pairs, summable(self.triplets.weights), inside)
        return out

    @cached_property
    def _by_conflict(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.conflict, kind="stable")
        return order, np.searchsorted(self.conflict[order], np.arange(self.n_conflicts + 1))

    @property
    def consistent(self) -> bool:
        """Whether some distance meets all of them."""
        return not (self.conflict >= 0).any()

    @property
    def n_conflicts(self) -> int:
        """How many separate conflicts there are."""
        return int(self.conflict.max(initial=-1)) + 1

    def members(self, conflict: int) -> np.ndarray:
        """The numbers of the triplets of one conflict."""
        order, begin = self._by_conflict
        return order[begin[conflict] : begin[conflict + 1]]

    @property
    def satisfiable(self) -> tuple[float, float]:
        """Bounds of the largest fraction of the weight that any distance can meet.

        The lower bound is reached by leaving out ``excess``; the upper one leaves out the lighter
        of any two opposite statements. To know it exactly is an NP-hard problem.
        """
        weights = summable(self.triplets.weights)
        total = float(weights.sum())
        if total == 0.0:
            return 1.0, 1.0
        lower = 1.0 - float(weights[self.excess].sum()) / total
        mine, other = votes(self.triplets).T  # of statements and of their opposites
        lighter = np.where(mine < other, 1.0, np.where(mine == other, 0.5, 0.0))
        return lower, max(lower, 1.0 - float(weights @ lighter) / total)

    def __str__(self) -> str:
        n = self.triplets.n_triplets
        if self.consistent:
            return f"{n} triplets, no contradiction: some distance meets all of them."
        inside = self.conflict >= 0
        low, high = (100 * bound for bound in self.satisfiable)
        lines = [
            f"{n} triplets, {int(inside.sum())} of them in {self.n_conflicts} conflicts; "
            f"{int((self.opposite >= 0).sum())} have an opposite.",
            f"Any distance meets at most {high:.1f} % of their weight; {low:.1f} % can be met.",
        ]
        sizes = np.bincount(self.conflict[inside])
        for conflict in np.argsort(-sizes, kind="stable")[:SHOWN]:
            members = self.members(int(conflict))
            named = ", ".join(
                f"{t}: {tuple(self.triplets.items[t].tolist())}" for t in members[:SHOWN]
            )
            more = ", ..." if len(members) > SHOWN else ""
            lines.append(f"  conflict {conflict}, {len(members)} triplets: {named}{more}")
        if len(sizes) > SHOWN:
            lines.append(f"  and {len(sizes) - SHOWN} more conflicts")
        return "\n".join(lines)


def check_consistency(triplets: Any) -> Consistency:
    """Find contradictions: a triplet and its opposite, and cycles through several pairs.

    The pairs that triplets compare are the nodes of a directed graph with an edge from q-r to q-s
    for each. A distance that meets all triplets exists if and only if it has no cycle. Takes time
    linear in the number of triplets.

    Parameters
    ----------
    triplets : Triplets or array-like of shape (n_triplets, 3)

    Returns
    -------
    found : Consistency
        ``print`` it for a report.

    Examples
    --------
    >>> from rprnmf.triplets import check_consistency
    >>> found = check_consistency([[0, 1, 2], [0, 2, 1], [3, 4, 5]])
    >>> found.conflict
    array([ 0,  0, -1])
    >>> found.satisfiable
    (0.666..., 0.666...)
    """
    known = as_triplets(triplets)
    n = known.n_triplets
    if n == 0:
        none = np.zeros(0, dtype=np.int64)
        return Consistency(known, none, none)
    pairs = numbered_pairs(known.numbers())
    component = pairs.strong_components()
    inside = component[pairs.near] == component[pairs.far]
    conflict = np.full(n, -1)
    conflict[inside] = distinct(component[pairs.near[inside]])[1]
    answer = questions(known.numbers())
    one_of = np.full(answer.max() + 2, -1)
    one_of[answer[::-1]] = np.arange(n)[::-1]
    return Consistency(known, one_of[answer ^ 1], conflict)


def votes(triplets: Triplets) -> np.ndarray:
    """The weight of every triplet's statement and of its opposite, of shape (n_triplets, 2)."""
    answer = questions(triplets.numbers())
    weight = np.bincount(answer, summable(triplets.weights), answer.max(initial=0) + 2)
    return np.column_stack((weight[answer], weight[answer ^ 1]))


def feedback_arcs(pairs: Pairs, weights: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Which of the chosen triplets run against an order of the pairs that few run against.

    The pairs are put in the order of how much more they are called near than far, and then
    moved one by one to where less weight runs against the order, until none moves. What then runs
    against it is taken back, heaviest first, where it closes no cycle.
    """
    nodes, place = distinct(np.concatenate((pairs.near[chosen], pairs.far[chosen])))
    near, far = place.reshape(2, -1)
    n = len(nodes)
    one, number = distinct(near, far)
    weight = np.bincount(number, weights[chosen])
    near, far = near[one], far[one]
    edges = node_edges(near, far, weight, n)
    position = little_against(near, far, weight, edges, n)
    kept = position[near] < position[far]
    left = np.flatnonzero(~kept)
    left = left[np.argsort(-weight[left], kind="stable")]
    search = Search(*np.zeros((4, n), dtype=np.int64))
    readmit(left, near, far, kept, position, edges, search, VISITS * len(near))
    return ~kept[number]


def node_edges(near: np.ndarray, far: np.ndarray, weight: np.ndarray, n: int) -> NodeEdges:
    """The edges from near to far, listed at both of their nodes."""
    ends = np.concatenate((near, far))
    order = rising(ends)
    return NodeEdges(
        first=np.concatenate(([0], np.cumsum(np.bincount(ends, minlength=n)))),
        end=np.concatenate((far, near))[order],
        outward=(np.arange(2 * len(near)) < len(near))[order],
        weight=np.concatenate((weight, weight))[order],
        number=np.tile(np.arange(len(near)), 2)[order],
    )


def little_against(
    near: np.ndarray, far: np.ndarray, weight: np.ndarray, edges: NodeEdges, n: int
) -> np.ndarray:
    """Positions of the nodes in an order that little weight runs against."""
    out, into = np.bincount(near, weight, n), np.bincount(far, weight, n)
    position = np.empty(n)
    position[np.argsort((into - out) / (into + out), kind="stable")] = np.arange(n)
    most = int(np.diff(edges.first).max())
    places, order = np.empty(most), np.empty(most, dtype=np.int64)
    best, least = position, backward_weight(position, near, far, weight)
    for _ in range(SWEEPS):
        position = position.copy()
        fallen = sift(position, np.argsort(position), edges, places, order)
        position[np.argsort(position, kind="stable")] = np.arange(n)
        weight_against = backward_weight(position, near, far, weight)
        if weight_against < least:
            best, least = position, weight_against
        if fallen <= 0.0:
            break
    return best.astype(np.int64)


def backward_weight(position, near, far, weight) -> float:
    """The weight that runs against an order."""
    return float(weight[position[near] > position[far]].sum())


def resolve(triplets: Any, method: str = "feedback-arc") -> Triplets:
    """Leave out what contradicts the rest.

    Parameters
    ----------
    triplets : Triplets or array-like of shape (n_triplets, 3)
    method : {"feedback-arc", "majority", "drop"}, default="feedback-arc"
        - "feedback-arc": as little weight as can be found such that no conflict is left. What
          was asked several times counts with the sum of its answers.
        - "majority": of two opposite statements the lighter one, both if they weigh the same.
          Conflicts of three and more pairs stay.
        - "drop": every triplet that is part of a conflict.

    Returns
    -------
    triplets : Triplets
        In the order given.

    Examples
    --------
    >>> from rprnmf import Triplets
    >>> from rprnmf.triplets import resolve
    >>> answers = Triplets([[0, 1, 2], [0, 2, 1], [3, 4, 5]], weights=[3, 1, 1])
    >>> resolve(answers).items
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, got {method!r}.")
    found = check_consistency(triplets)
    known = found.triplets
    if method == "drop":
        return known.take(found.conflict < 0)
    if method == "feedback-arc":
        return known.take(~found.excess)
    mine, other = votes(known).T
    return known.take(mine > other)
