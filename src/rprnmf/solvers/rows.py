"""One factor's rows by coordinate descent, the other factor fixed."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.kernels import descent, triplet_terms
from rprnmf.kernels.triplet_terms import Coupling
from rprnmf.objective import Objective, SideTerms
from rprnmf.observed import BaseView, FullSparse, Masked
from rprnmf.threads import available_threads, map_blocks, row_blocks

#: how the kernels call the penalties and distances of the registries
PENALTY_CODES = {
    "TripletExponential": triplet_terms.EXPONENTIAL,
    "TripletHinge": triplet_terms.HINGE,
    "TripletSquaredHinge": triplet_terms.SQUARED_HINGE,
    "TripletLogistic": triplet_terms.LOGISTIC,
}
DISTANCE_CODES = {
    "SquaredEuclidean": triplet_terms.EUCLIDEAN,
    "SymmetricDivergence": triplet_terms.DIVERGENCE,
}
MOST_SWEEPS = 50


class RowDescent:
    """Lowers the objective in the rows of one factor.

    Parameters
    ----------
    objective : Objective
    index : int
        0: the rows of W, 1: the columns of H.
    n_rows : int or None
        Rows of the factor, if it has more than X: the others are there to be compared with.
    """

    def __init__(self, objective: Objective, index: int, n_rows: int | None = None):
        self.view = objective.views[index]
        self.terms: SideTerms = objective.terms[index]
        self.data = KernelData(self.view, divergence=objective.loss.size_order == 1)
        n = self.view.shape[0]
        self.unit, self.member = units_of(self.terms, n)
        norms = self.terms.norms
        self.l1 = norms.l1 if norms else np.zeros(n)
        self.l2 = norms.l2 if norms else np.zeros(n)
        self.incidence = Incidence(self.terms, n_rows or n)
        # coupled rows are visited in an order that depends on the data, not on their numbers,
        # so that renaming the rows renames the result
        self.rank = self.view.times(np.ones((self.view.shape[1], 1), self.view.dtype))[:, 0]
        self.n_threads = available_threads(self.view.n_jobs)

    def __call__(
        self,
        F: np.ndarray,
        B: np.ndarray,
        m1: np.ndarray | None = None,
        m2: np.ndarray | None = None,
        units: np.ndarray | None = None,
        sweeps: int | None = None,
        share: float = 0.1,
    ) -> np.ndarray:
        """A new factor, lower in objective + sum_ik m1_k F_ik + m2_k F_ik^2.

        Parameters
        ----------
        F : ndarray of shape (n_rows, K)
        B : ndarray of shape (n_columns, K)
        m1, m2 : ndarray of shape (K,) or None
        units : ndarray or None
            Which units to change; None is all.
        sweeps : int or None
            At most this many over each row; None is as many as one product with X pays for.
        share : float
            A row stops when a sweep brings less than this share of its first.
        """
        K = F.shape[1]
        F = np.array(F, order="C")
        none = np.zeros(K)
        m1, m2 = (none if m is None else m for m in (m1, m2))
        sweeps = self.data.sweeps(K) if sweeps is None else sweeps
        coupling = self.incidence.coupling(F, self.terms)
        kernel, arrays, last = self.data.arguments(B)

        def run(units: np.ndarray, coupled: bool) -> None:
            kernel(
                *(units, self.unit, self.member, F, *arrays, self.l1, self.l2, m1, m2),
                *(coupling, coupled, sweeps, share, *last),
            )

        units = np.arange(len(self.unit) - 1) if units is None else units
        linked = self.incidence.linked[self.member[self.unit[units]]]
        free = units[~linked]
        if len(free):
            cost = np.add.reduceat(self.data.cost(K)[self.member], self.unit[:-1])[free]
            blocks = row_blocks(np.concatenate(([0], np.cumsum(cost))))
            map_blocks(lambda a, b: run(free[a:b], False), blocks, self.n_threads)
        if linked.any():
            run(units[linked][np.argsort(self.rank[self.member[self.unit[units[linked]]]])], True)
        return F


class KernelData:
    """Which kernel serves a view and a loss, and the arrays that it reads."""

    def __init__(self, view: BaseView, divergence: bool):
        self.view = view
        self.divergence = divergence
        self.entries = None
        if isinstance(view, Masked) or divergence:
            # the divergence needs the non-zeros one by one, and sums over the rest
            self.entries = view.entries if isinstance(view, FullSparse) else view.stored()

    def arguments(self, B: np.ndarray) -> tuple[Any, tuple, tuple]:
        """The kernel, its own arrays, and its last arguments."""
        if self.entries is None:
            n = self.view.shape[0]
            holes = getattr(self.view, "holes", None)
            gaps = (
                (holes.indptr, holes.indices)
                if holes
                else (np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int32))
            )
            return descent.full_rows, (self.view.times(B), B.T @ B, B, *gaps), ()
        entries = (B, self.entries.indptr, self.entries.indices, self.entries.data)
        if not self.divergence:
            return descent.masked_rows, entries, ()
        sums = np.ascontiguousarray(self.view.ones_times(B))
        return descent.divergence_rows, (*entries, sums), (self.view.floor,)

    def sweeps(self, K: int) -> int:
        """How many sweeps over the rows one product with X pays for (Gillis and Glineur)."""
        if self.divergence:
            return 3  # a sweep costs more than the product, but the first brings it all to hand
        return min(MOST_SWEEPS, int(1.5 + 0.5 * self.view.n_nonzero / (self.view.shape[0] * K)))

    def cost(self, K: int) -> np.ndarray:
        """About the multiply-adds of each row."""
        rows = np.full(self.view.shape[0], 2.0 * K * K)
        if self.entries is not None:
            rows += 4.0 * K * self.entries.row_counts
        return rows


class Incidence:
    """In which triplets and edges each row of a factor stands."""

    def __init__(self, terms: SideTerms, n: int):
        self.n = n
        triplets, graph = terms.triplets, terms.graph
        self.linked = np.zeros(n, dtype=bool)
        self.first, self.triplet, self.role = places(
            n, [] if triplets is None else [triplets.q, triplets.r, triplets.s]
        )
        self.edge, self.neighbour, self.affinity = neighbours(n, graph)
        if triplets is not None and terms.strength > 0:
            self.linked[triplets.rows] = True
        if graph is not None and terms.graph_weight > 0:
            self.linked[graph.rows] = True

    def coupling(self, F: np.ndarray, terms: SideTerms) -> Coupling:
        """All of it with the distances at F and the strengths of now."""
        triplets = terms.triplets
        graph = self.edge, self.neighbour, terms.graph_weight * self.affinity
        if triplets is None:
            none = np.zeros(0, dtype=np.int64)
            empty = none, none, none, np.zeros(0), np.zeros(0), np.zeros(0)
            return Coupling(
                *(self.first, self.triplet, self.role, *empty, 0, 0, 1.0, 0.0, 1.0, 1.0), *graph
            )
        near, far = triplets.near_far(F)
        return Coupling(
            *(self.first, self.triplet, self.role, triplets.q, triplets.r, triplets.s, near, far),
            terms.triplet_weight * triplets.share,
            PENALTY_CODES[type(triplets).__name__],
            DISTANCE_CODES[type(triplets.distance).__name__],
            float(triplets.sigma),
            float(getattr(triplets.distance, "floor", 0.0)),
            float(triplets.margin or 1.0),
            float(getattr(triplets, "cap", 0.0)),
            *graph,
        )


def places(n: int, roles: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every row its places in the triplets: offsets, triplet numbers, roles."""
    if not roles:
        return np.zeros(n + 1, dtype=np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    rows = np.concatenate(roles)
    order = np.argsort(rows, kind="stable")
    numbers = np.tile(np.arange(len(roles[0])), 3)
    role = np.repeat(np.arange(3), len(roles[0]))
    first = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n))))
    return first, numbers[order], role[order]


def neighbours(n: int, graph: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every row its edges: offsets, neighbours, affinities."""
    if graph is None:
        return np.zeros(n + 1, dtype=np.int64), np.zeros(0, np.int64), np.zeros(0)
    i, j, weight = graph.attract
    rows = np.concatenate((i, j))
    order = np.argsort(rows, kind="stable")
    first = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n))))
    return first, np.concatenate((j, i))[order], np.concatenate((weight, weight))[order]


def units_of(terms: SideTerms, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of every unit: one each, or the members of a label."""
    if terms.tying is None:
        return np.arange(n + 1), np.arange(n)
    sizes = terms.tying.sizes
    order = np.argsort(terms.tying.groups, kind="stable")
    return np.concatenate(([0], np.cumsum(sizes))), order
