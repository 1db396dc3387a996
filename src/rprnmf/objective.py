"""The only room where loss, penalties and tying meet."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from rprnmf.losses import get_loss
from rprnmf.observed import BaseView
from rprnmf.penalties import DISTANCES, PENALTIES, Graph, Norms
from rprnmf.penalties.gathered import Gathered, compact
from rprnmf.penalties.triplet import TripletPenalty
from rprnmf.priors import Prior
from rprnmf.scale import ScaleRule
from rprnmf.split import Split
from rprnmf.tying import RemoteTying, tying_of


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
    graph_automatic : bool
        Whether the strength of the graph is still to be chosen (`estimators/graph_strength.py`);
        ``graph_strength`` is then that of solvers that choose none.
    groups : ndarray of shape (n_rows,), RemoteTying or None
        Rows of the same number are tied.
    l1, l2 : ndarray of shape (n_rows,) or None
    prior : Prior or None
    learning : bool
        Whether triplets and prior are weighed as one: the prior then counts in units of the
        triplets' margin, and the solver chooses that (`solvers/learning.py`).
    obeyed : bool
        Whether triplets that taught are then met one and all.
    """

    triplets: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    weight: np.ndarray = field(default_factory=lambda: np.zeros(0))
    strength: float = 1.0
    automatic: bool = False
    graph: sp.csr_array | None = None
    graph_strength: float = 1.0
    graph_automatic: bool = False
    groups: np.ndarray | RemoteTying | None = None
    l1: np.ndarray | None = None
    l2: np.ndarray | None = None
    prior: Prior | None = None
    learning: bool = False
    obeyed: bool = False

    @property
    def constrained(self) -> bool:
        """Whether distances within the factor matter."""
        by_triplets = len(self.triplets) > 0 and self.strength > 0
        return by_triplets or (self.graph is not None and self.graph_strength > 0)


@dataclass(frozen=True)
class Problem:
    """One factorisation to be done: X, what to minimise, what is known of the factors.

    ``program`` names the algorithm of the paper that `solver="paper"` follows. With
    ``only_rows`` H is given and stays; ``size`` is then about the size of its components, and
    ``spread`` replaces the mean squared distance between the rows of X.
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


class MeasuringUnits(Protocol):
    """What strengths and distances count in; `ScaleRule` is one."""

    @property
    def cap(self) -> float: ...
    def strength_unit(self, view: BaseView) -> float: ...
    def sigma(self, side: int, degree: int, named: BaseView) -> float: ...
    def floor(self, side: int) -> float: ...
    def graph_unit(self, side: int) -> float: ...


class SideTerms:
    """All that acts on one factor beside the loss.

    Attributes
    ----------
    strength : float
        Of the triplets.
    triplets : TripletPenalty or None
    graph : Graph or None
    norms : Norms or None
    prior : Prior or None
    tying : Tying, RemoteTying or None
    size_of_named : float
        The mean size of the rows that triplets name, over that of all rows; at most 1.
    """

    def __init__(self, problem: Problem, units: MeasuringUnits, index: int):
        side = problem.sides[index]
        view = problem.view if index == 0 else problem.view.T
        self.size_of_named = 1.0
        self.tying: Any = None if side.groups is None else tying_of(side.groups)
        self.automatic = side.automatic
        self.strength = side.strength if len(side.triplets) else 0.0
        self.unit = 1.0
        self.triplets: TripletPenalty | None = None
        self.named: np.ndarray | None = None  # the rows that are gathered, where rows lie elsewhere
        if index == 0 and view.remote:
            side, self.named = gathered_side(side)
        if len(side.triplets):
            self.unit = units.strength_unit(problem.view) if problem.view.n_observed else 1.0
            distance = DISTANCES[problem.distance].with_floor(units.floor(index))
            rows = np.unique(side.triplets)
            if self.named is not None:
                rows = self.named[rows]
            rows = rows[rows < view.shape[0]]  # larger numbers are known rows, which are not in X
            named = view.take(rows) if len(rows) else view
            size = units.strength_unit(named) / named.shape[0] * view.shape[0]
            self.size_of_named = min(1.0, size / self.unit) if size > 0 else 1.0
            sigma = units.sigma(index, distance.degree, named)
            self.triplets = PENALTIES[problem.penalty](
                side.triplets, side.weight, distance, sigma, problem.margin, units.cap
            )
        self.graph = None if side.graph is None else Graph(side.graph)
        self.graph_strength = side.graph_strength if side.graph is not None else 0.0
        self.graph_weight = 0.0
        if self.graph is not None:
            self.graph_weight = self.graph_strength * units.graph_unit(index)
        self.norms = None
        if side.l1 is not None and side.l2 is not None:
            self.norms = Norms(side.l1, side.l2)
        if self.named is not None:
            self.triplets = self.triplets and Gathered(self.triplets, self.named)  # type: ignore
            self.graph = self.graph and Gathered(self.graph, self.named)  # type: ignore
        self.prior = side.prior
        self.learning = side.learning and self.triplets is not None and self.prior is not None

    def at_strength(self, strength: float, margin: float | None = None) -> SideTerms:
        """The same terms with another strength, and another margin, of the triplets."""
        same = margin is None or self.triplets is None or margin == self.triplets.margin
        if strength == self.strength and same:
            return self
        terms = copy.copy(self)
        terms.strength = strength
        if not same and margin is not None and self.triplets is not None:
            terms.triplets = self.triplets.with_margin(margin)
        return terms

    @property
    def recorded_strength(self) -> float:
        """The strength of the triplets; if there are none, that of the graph."""
        return self.strength if self.triplets is not None else self.graph_strength

    @property
    def triplet_weight(self) -> float:
        """What multiplies the mean penalty of the triplets."""
        return self.strength * self.unit

    @property
    def prior_weight(self) -> float:
        """What multiplies the prior."""
        if not self.learning:
            return 1.0
        return self.triplet_weight * self.prior_share

    @property
    def prior_share(self) -> float:
        """What the prior is multiplied by beside the mean penalty of the triplets."""
        assert self.triplets is not None
        n, named = len(self.triplets.q), len(self.triplets.rows)
        unit = self.triplets.sigma * (self.triplets.margin or 1.0)
        # 2 lambda / n with lambda = sqrt(n / named): within .005 of what cross-validation finds
        return 2.0 / (unit * np.sqrt(n * named))

    @property
    def terms(self) -> list[tuple[float, Term]]:
        """The penalties with their weights."""
        pairs = (
            (self.triplet_weight, self.triplets),
            (self.graph_weight, self.graph),
            (1.0, self.norms),
            (self.prior_weight, self.prior),
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

    def touched_rows(self) -> np.ndarray:
        """The rows that any term acts on, and those tied to them."""
        found = [term.rows for weight, term in self.terms if weight > 0]
        if any(isinstance(rows, slice) for rows in found):
            return slice(None)  # type: ignore[return-value]
        rows = np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)
        if self.tying is not None and len(rows):
            groups = self.tying.groups
            rows = np.flatnonzero(np.isin(groups, groups[rows]))
        return rows


def gathered_side(side: Side) -> tuple[Side, np.ndarray]:
    """A side that numbers only the rows that triplets and the graph name, and these rows."""
    graph, found = side.graph, [side.triplets.ravel()]
    if graph is not None:
        found += list(sp.coo_array(graph).coords)
    named = np.unique(np.concatenate(found)).astype(np.int64)
    if graph is not None:
        graph = sp.csr_array(graph[named][:, named])
    return replace(side, triplets=compact(side.triplets, named), graph=graph), named


def scale_rule(problem: Problem, n_components: int) -> ScaleRule:
    """The scale rule of a problem."""
    rows, columns = problem.rows, problem.columns
    l2 = None
    if rows.l2 is not None and columns.l2 is not None and rows.l2.any() and columns.l2.any():
        l2 = rows.l2, columns.l2
    # a prior alone would shrink its factor to nothing while the other grows
    alone = (rows.prior is None) != (columns.prior is None)
    free = not (rows.constrained or columns.constrained)
    return ScaleRule(
        problem.view,
        get_loss(problem.beta_loss),
        n_components,
        rows.constrained or (free and alone and rows.prior is not None),
        columns.constrained or (free and alone and columns.prior is not None),
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
    units : MeasuringUnits or None
        What strengths and distances count in; None: those of the scale rule.
    """

    def __init__(self, problem: Problem, n_components: int, units: MeasuringUnits | None = None):
        self.problem = problem
        self.loss = get_loss(problem.beta_loss)
        self.views = (problem.view, problem.view.T)
        self.scale = scale_rule(problem, n_components)
        units = units or self.scale
        self.terms = (SideTerms(problem, units, 0), SideTerms(problem, units, 1))

    @property
    def moving(self) -> tuple[int, ...]:
        """The sides whose factors change."""
        return (0,) if self.problem.only_rows else (0, 1)

    @property
    def strengths(self) -> tuple[float, float]:
        """The strengths of the triplets of both sides."""
        return self.terms[0].strength, self.terms[1].strength

    def at_strengths(
        self, strengths: tuple[float, float], margins: tuple[float | None, ...] = (None, None)
    ) -> Objective:
        """The same objective with other strengths, and margins, of the triplets."""
        rows, columns = (
            terms.at_strength(strength, margin)
            for terms, strength, margin in zip(self.terms, strengths, margins, strict=True)
        )
        if (rows, columns) == self.terms:
            return self
        objective = copy.copy(self)
        objective.terms = rows, columns
        return objective

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
        """The gradient in log c_k when both columns of component k are multiplied by sqrt(c_k)."""
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

    Nothing in it depends on the strengths, or but for what it keeps by margin on margins: it stays
    valid when only these change.
    """

    def __init__(self, terms: SideTerms, F: np.ndarray):
        self.F = F
        self.apart: np.ndarray | None = None
        self.rate = np.nan
        if terms.triplets is not None:
            self.apart = terms.triplets.apart(F)
            self.near, self.far = terms.triplets.of_triplets(self.apart)
            self.rate = float(np.mean(self.near < self.far))
        self._parts: tuple[float, float, float] | None = None
        self._triplets: dict[float | None, float] = {}

    def value(self, terms: SideTerms) -> float:
        """The sum of the terms."""
        triplets = 0.0
        if terms.triplets is not None:
            margin = terms.triplets.margin
            if margin not in self._triplets:
                self._triplets[margin] = terms.triplets.value_at(self.near, self.far)
            triplets = self._triplets[margin]
        graph, norms, prior = self.parts(terms)
        return (
            terms.triplet_weight * triplets
            + terms.graph_weight * graph
            + norms
            + (terms.prior_weight * prior if terms.prior is not None else 0.0)
        )

    def parts(self, terms: SideTerms) -> tuple[float, float, float]:
        """Graph, norms and prior, without their weights."""
        if self._parts is None:
            self._parts = (
                terms.graph.value(self.F) if terms.graph is not None else 0.0,
                terms.norms.value(self.F) if terms.norms is not None else 0.0,
                terms.prior.value(self.F) if terms.prior is not None else 0.0,
            )
        return self._parts

    def gain(self, terms: SideTerms) -> np.ndarray:
        """The derivative of that sum in log c_k when column k of F is multiplied by c_k."""
        gain = np.zeros(self.F.shape[1])
        if terms.triplets is not None and terms.triplet_weight > 0:
            gain += terms.triplet_weight * terms.triplets.gain(self.F, self.near, self.far)
        if terms.graph is not None:
            gain += terms.graph_weight * terms.graph.gain(self.F)
        if terms.norms is not None:
            gain += terms.norms.gain(self.F)
        if terms.prior is not None:
            gain += terms.prior_weight * terms.prior.gain(self.F)
        return gain


class Point:
    """A pair of factors, and what is known of the objective there, whatever the strengths.

    Each value is computed when it is first asked for. The factors may be those of a trial step
    that went too far, where numbers overflow.

    Parameters
    ----------
    objective : Objective
    W, Ht : ndarray
        Not to be changed while the point is in use.
    loss : float or None
        If it is at hand.
    """

    def __init__(
        self, objective: Objective, W: np.ndarray, Ht: np.ndarray, loss: float | None = None
    ):
        self.factors = W, Ht
        self._objective = objective
        self._loss = loss

    @property
    def loss(self) -> float:
        """The loss alone."""
        if self._loss is None:
            objective = self._objective
            with np.errstate(over="ignore", invalid="ignore"):
                self._loss = float(objective.loss.value(objective.problem.view, *self.factors))
        return self._loss

    @cached_property
    def looks(self) -> tuple[Look, Look]:
        """The terms of both sides."""
        rows, columns = self._objective.terms
        with np.errstate(over="ignore", invalid="ignore"):
            return Look(rows, self.factors[0]), Look(columns, self.factors[1])

    def values(self, objective: Objective) -> Values:
        """All parts of the objective, at its strengths."""
        with np.errstate(over="ignore", invalid="ignore"):
            rows, columns = (
                look.value(terms) for look, terms in zip(self.looks, objective.terms, strict=True)
            )
            return Values(self.loss, rows, columns)
