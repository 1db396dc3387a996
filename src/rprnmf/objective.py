"""The only room where loss, penalties and tying meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from rprnmf.losses import get_loss
from rprnmf.observed import BaseView
from rprnmf.penalties import DISTANCES, PENALTIES, Graph, Norms, SymmetricDivergence
from rprnmf.penalties.triplet import TripletPenalty
from rprnmf.scale import ScaleRule
from rprnmf.split import Split
from rprnmf.tying import Tying


@dataclass(frozen=True)
class Side:
    """What is known about the rows of one factor, as clean arrays.

    Parameters
    ----------
    triplets : ndarray of shape (n_triplets, 3)
    weight : ndarray of shape (n_triplets,)
    strength : float
        Multiplies the weighted mean of the triplets' penalties.
    automatic : bool
        Whether the solver chooses the strength; ``strength`` is then the largest.
    graph : sparse array or None
    graph_strength : float
    groups : ndarray of shape (n_rows,) or None
        Rows of the same number are tied.
    l1, l2 : ndarray of shape (n_rows,) or None
    """

    triplets: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    weight: np.ndarray = field(default_factory=lambda: np.zeros(0))
    strength: float = 1.0
    automatic: bool = False
    graph: sp.csr_array | None = None
    graph_strength: float = 1.0
    groups: np.ndarray | None = None
    l1: np.ndarray | None = None
    l2: np.ndarray | None = None

    @property
    def constrained(self) -> bool:
        """Whether distances within the factor matter."""
        by_triplets = len(self.triplets) > 0 and self.strength > 0
        return by_triplets or (self.graph is not None and self.graph_strength > 0)


@dataclass(frozen=True)
class Problem:
    """One factorisation to be done: X, what to minimise, what is known of the factors.

    ``program`` names the algorithm of the paper that `solver="paper"` follows. With
    ``only_rows`` H is given and stays; ``size`` is then about that of its components, and
    ``spread`` replaces the mean squared distance between rows that X has by itself.
    """

    view: BaseView
    beta_loss: str | float = "frobenius"
    penalty: str = "squared_hinge"
    distance: str = "euclidean"
    margin: float | None = 0.35
    rows: Side = field(default_factory=Side)
    columns: Side = field(default_factory=Side)
    program: str = "nmf"
    only_rows: bool = False
    spread: float | None = None
    size: float = 1.0

    @property
    def sides(self) -> tuple[Side, Side]:
        """Rows first, then columns."""
        return self.rows, self.columns


class Term(Protocol):
    """A penalty on one factor."""

    @property
    def rows(self) -> np.ndarray: ...
    def value(self, F: np.ndarray) -> float: ...
    def split(self, F: np.ndarray) -> Split: ...


class Values(NamedTuple):
    """The objective at one point, part by part; penalties with their strengths."""

    loss: float
    row_penalty: float
    column_penalty: float

    @property
    def objective(self) -> float:
        """The sum."""
        return self.loss + self.row_penalty + self.column_penalty


class SideTerms:
    """All that acts on one factor beside the loss.

    Attributes
    ----------
    strength : float
        Of the triplets; a solver may change it.
    triplets : TripletPenalty or None
    graph : Graph or None
    norms : Norms or None
    tying : Tying or None
    """

    def __init__(self, problem: Problem, scale: ScaleRule, index: int):
        side = problem.sides[index]
        view = problem.view if index == 0 else problem.view.T
        self.size_of_named = 1.0
        self.tying = None if side.groups is None else Tying(side.groups)
        self.automatic = side.automatic
        self.strength = side.strength if len(side.triplets) else 0.0
        self.unit = scale.loss.unit(problem.view) if problem.view.n_observed else 1.0
        self.triplets: TripletPenalty | None = None
        if len(side.triplets):
            distance = DISTANCES[problem.distance]()
            if isinstance(distance, SymmetricDivergence):
                distance = SymmetricDivergence(scale.floor(index))
            rows = np.unique(side.triplets)
            rows = rows[rows < view.shape[0]]  # beyond X stand rows that are known already
            named = view.take(rows) if len(rows) else view
            # the size of a row that triplets name, next to that of any row
            size = scale.loss.unit(named) / named.shape[0] * view.shape[0]
            self.size_of_named = min(1.0, size / self.unit) if size > 0 else 1.0
            sigma = scale.sigma(index, distance.degree, named)
            self.triplets = PENALTIES[problem.penalty](
                side.triplets, side.weight, distance, sigma, problem.margin
            )
        self.graph = None if side.graph is None else Graph(side.graph)
        self.graph_strength = side.graph_strength if side.graph is not None else 0.0
        self.graph_weight = self.graph_strength * scale.graph_unit(index)
        self.norms = None
        if side.l1 is not None and side.l2 is not None:
            self.norms = Norms(side.l1, side.l2)

    @property
    def recorded_strength(self) -> float:
        """That of the triplets, without any that of the graph."""
        return self.strength if self.triplets is not None else self.graph_strength

    @property
    def triplet_weight(self) -> float:
        """What multiplies the mean penalty of the triplets."""
        return self.strength * self.unit

    @property
    def terms(self) -> list[tuple[float, Term]]:
        """The penalties with their weights."""
        pairs = (
            (self.triplet_weight, self.triplets),
            (self.graph_weight, self.graph),
            (1.0, self.norms),
        )
        return [(weight, term) for weight, term in pairs if term is not None]

    def value(self, F: np.ndarray) -> float:
        """The sum of the terms."""
        return sum(weight * term.value(F) for weight, term in self.terms)

    def split(self, F: np.ndarray) -> Split:
        """The gradient of the terms' sum."""
        parts = Split(np.zeros_like(F), np.zeros_like(F))
        for weight, term in self.terms:
            parts = parts.plus(term.split(F).times(weight))
        return parts

    def rows(self) -> np.ndarray:
        """The rows that any term touches, and those tied to them."""
        found = [term.rows for weight, term in self.terms if weight > 0]
        rows = np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)
        if self.tying is not None:
            groups = self.tying.groups
            rows = np.flatnonzero(np.isin(groups, groups[rows]))
        return rows

    def satisfied_rate(self, F: np.ndarray) -> float:
        """The share of the triplets that hold; NaN without triplets."""
        return self.triplets.satisfied_rate(F) if self.triplets else np.nan


def scale_rule(problem: Problem, n_components: int) -> ScaleRule:
    """The scale rule of a problem."""
    rows, columns = problem.rows, problem.columns
    l2 = None
    if rows.l2 is not None and columns.l2 is not None and rows.l2.any() and columns.l2.any():
        l2 = rows.l2, columns.l2
    return ScaleRule(
        problem.view,
        get_loss(problem.beta_loss),
        n_components,
        rows.constrained,
        columns.constrained,
        frozen=problem.only_rows,
        spread=problem.spread,
        size=problem.size,
        l2=l2,
    )


class Objective:
    """F(W, H) = loss + the terms of both sides, and the split of its gradient.

    Parameters
    ----------
    problem : Problem
    n_components : int
    """

    def __init__(self, problem: Problem, n_components: int):
        self.problem = problem
        self.loss = get_loss(problem.beta_loss)
        self.views = (problem.view, problem.view.T)
        self.scale = scale_rule(problem, n_components)
        self.terms = (SideTerms(problem, self.scale, 0), SideTerms(problem, self.scale, 1))

    def values(self, W: np.ndarray, Ht: np.ndarray) -> Values:
        """All parts at (W, H)."""
        loss = self.loss.value(self.problem.view, W, Ht)
        return Values(loss, self.terms[0].value(W), self.terms[1].value(Ht))

    def split(self, index: int, F: np.ndarray, B: np.ndarray) -> Split:
        """The gradient in the factor of side ``index`` (0: W, 1: H) with the other fixed."""
        terms = self.terms[index]
        parts = self.loss.split(self.views[index], F, B)
        if terms.terms:
            parts = parts.plus(terms.split(F))
        return parts

    def tied(self, index: int, parts: Split) -> Split:
        """The gradient with respect to what tied rows share: sums over their members."""
        tying = self.terms[index].tying
        if tying is None:
            return parts
        return Split(tying.sum(parts.positive), tying.sum(parts.negative))

    def component_split(self, W: np.ndarray, Ht: np.ndarray) -> Split:
        """The gradient in log c_k when component k of both factors grows by the root of c_k."""
        # the loss sees both roots, the terms of a side its own only
        parts = self.loss.split(self.views[0], W, Ht).times(2.0).plus(self.terms[0].split(W))
        other = self.terms[1].split(Ht)
        return Split(
            *(
                0.5 * (np.einsum("ik,ik->k", W, a) + np.einsum("ik,ik->k", Ht, b))
                for a, b in zip(parts, other, strict=True)
            )
        )

    def start(self, W: np.ndarray, Ht: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Start factors that keep the ties and the scale rule."""
        for factor, terms in zip((W, Ht), self.terms, strict=True):
            if terms.tying is not None:
                factor[:] = terms.tying.mean(factor)
        return self.scale.apply(W, Ht)


class Look:
    """The terms of one side at a factor, with its distances computed once.

    The values follow the strengths of now.
    """

    def __init__(self, terms: SideTerms, F: np.ndarray):
        self.terms = terms
        self.F = F
        self.apart: np.ndarray | None = None
        self.rate = np.nan
        if terms.triplets is not None:
            self.apart = terms.triplets.apart(F)
            self.near, self.far = terms.triplets.of_triplets(self.apart)
            self.rate = float(np.mean(self.near < self.far))

    @cached_property
    def _parts(self) -> tuple[float, float, float]:
        triplets, graph, norms = self.terms.triplets, self.terms.graph, self.terms.norms
        return (
            triplets.value_at(self.near, self.far) if triplets is not None else 0.0,
            graph.value(self.F) if graph is not None else 0.0,
            norms.value(self.F) if norms is not None else 0.0,
        )

    @property
    def value(self) -> float:
        """The sum of the terms."""
        triplets, graph, norms = self._parts
        return self.terms.triplet_weight * triplets + self.terms.graph_weight * graph + norms

    def gain(self) -> np.ndarray:
        """The derivative of that sum in log c_k when column k of F grows by c_k."""
        terms, gain = self.terms, np.zeros(self.F.shape[1])
        if terms.triplets is not None and terms.triplet_weight > 0:
            gain += terms.triplet_weight * terms.triplets.gain(self.F, self.near, self.far)
        if terms.graph is not None:
            gain += terms.graph_weight * terms.graph.gain(self.F)
        if terms.norms is not None:
            gain += terms.norms.gain(self.F)
        return gain


class Point:
    """A pair of factors, and what is known of the objective there.

    Parameters
    ----------
    objective : Objective
    W, Ht : ndarray
        Not to be changed while the point is in use.
    loss : float or None
        If it is at hand.
    """

    def __init__(self, objective: Objective, W: np.ndarray, Ht: np.ndarray, loss=None):
        self.factors = W, Ht
        if loss is None:
            loss = objective.loss.value(objective.problem.view, W, Ht)
        self.loss = float(loss)
        rows, columns = objective.terms
        self.looks = Look(rows, W), Look(columns, Ht)

    @property
    def values(self) -> Values:
        """All parts of the objective."""
        return Values(self.loss, self.looks[0].value, self.looks[1].value)
