"""The rows of W where they lie elsewhere: each block lowers its own.

A row that no triplet and no edge names depends on nothing but H. It is lowered where it lies, by
`RowDescent` on its block. Rows that are named come here and are lowered as one small factor, by
`RowDescent` too, and go back. So do rows that labels tie to rows of other blocks: of these the sums
of X come here, one row per label (`observed/summed.py`).
"""

from __future__ import annotations

import copy
import itertools
from typing import Any, NamedTuple

import numpy as np

from rprnmf.losses import Loss
from rprnmf.objective import Look, Objective, SideTerms
from rprnmf.observed import BaseView
from rprnmf.penalties import Norms
from rprnmf.remote import RemoteArray
from rprnmf.remote.parts import here
from rprnmf.solvers.row_descent import GUARDED, RowDescent, Visit
from rprnmf.solvers.row_problems import Pulls, loss_of_sums, size_multiplier
from rprnmf.tying import BlockTying, SummedTying

_keys = itertools.count()


class OwnTerms:
    """What acts on the rows of a block alone, as `SideTerms` has it.

    Parameters
    ----------
    l1, l2 : ndarray or None
    weights : ndarray or None
        Of the squares of a column's entries in its size.
    tying : Tying or None
    """

    strength = graph_weight = 0.0
    triplets = graph = prior = None

    def __init__(self, l1: Any, l2: Any, weights: Any, tying: Any = None):
        self.norms = None if l1 is None else Norms(l1, l2)
        self.weights, self.tying = weights, tying


class OwnObjective:
    """As much of an `Objective` as `RowDescent` asks for."""

    def __init__(self, view: BaseView, loss: Loss, terms: Any):
        self.views, self.terms, self.loss = (view,), (terms,), loss
        self.scale = OwnScale(terms.weights)


class OwnScale(NamedTuple):
    """As much of a `ScaleRule`."""

    of_squares: Any

    def weights(self, _: int) -> Any:
        """Of the squares of a column's entries in its size."""
        return self.of_squares


class Task(NamedTuple):
    """What all blocks are told: which solve it is, and how to lower their rows."""

    key: int
    loss: Loss
    m: np.ndarray
    visit: Visit


class RemoteRowDescent:
    """As `RowDescent`, for the rows of W.

    Parameters
    ----------
    objective : Objective
    """

    def __init__(self, objective: Objective):
        view: Any = objective.views[0]
        self.objective, self.view = objective, view
        self.loss, terms = objective.loss, objective.terms[0]
        pool, self.tying = self.view.pool, terms.tying
        norms, weights = terms.norms, objective.scale.weights(0)
        self.weights = weights
        pair = (None, None) if norms is None else (norms.l1, norms.l2)
        self.own = pool.map(OwnTerms, *pair, weights, self.tying)
        self.key = next(_keys)
        if self.tying is not None:
            self.by_label(pair)
            return
        assert terms.named is not None
        named = terms.named if terms.triplets is not None or terms.graph is not None else None
        if named is None or not len(named):
            named = np.zeros(0, dtype=np.int64)
        small: Any = self.view.take(named) if len(named) else Nothing(self.view)
        small.extent = self.view.extent_of_blocks
        of_named = OwnTerms(*(part if part is None else part[named] for part in (*pair, weights)))
        self.norms = of_named.norms
        inner = self.inner(terms)
        if len(named):
            own = OwnObjective(small, self.loss, inner)
            self.near: Any = RowDescent(own, 0)  # type: ignore[arg-type]
            self.incidence: Any = self.near.incidence
            linked = self.incidence.linked
        else:
            self.near, linked = None, np.zeros(0, dtype=bool)
            self.incidence = NoIncidence()
        self.linked = named[linked]
        self.named = named if len(self.linked) else named[:0]
        self.free = pool.map(free_rows, pool.first, pool.rows, self.named)

    def by_label(self, pair: tuple[Any, Any]) -> None:
        """Labels: blocks lower the groups that have no rows elsewhere."""
        tying, self.near, self.incidence = self.tying, None, NoIncidence()
        self.linked = self.named = np.zeros(0, dtype=np.int64)
        self.free = self.view.pool.map(groups_alone, tying)
        if tying.n_split:
            l1, l2 = (None if part is None else tying.split_total(part) for part in pair)
            weights = None if self.weights is None else l2
            own = OwnTerms(l1, l2, weights, SummedTying(tying.sizes))
            small = OwnObjective(self.view.summed(tying), self.loss, own)  # type: ignore[arg-type]
            self.near_terms = own
            self.near = RowDescent(small, 0)  # type: ignore[arg-type]

    def inner(self, terms: SideTerms) -> Any:
        """The terms as the rows have them that are named, which count from 0."""
        small = copy.copy(terms)
        small.triplets = getattr(terms.triplets, "inner", None)
        small.graph = getattr(terms.graph, "inner", None)
        small.norms, small.prior, small.named = self.norms, None, None
        small.weights = None if self.weights is None else self.norms.l2  # type: ignore
        return small

    def pulls(self, terms: SideTerms, F: Any) -> Pulls | None:
        """The prior of the rows; None if there is none."""
        if terms.prior is None:
            return None
        times = terms.prior_weight
        pull = (terms.prior.pull(F) * times).astype(F.dtype)
        return Pulls(times * terms.prior.weights, pull)

    def __call__(
        self,
        F: Any,
        B: np.ndarray,
        terms: SideTerms,
        m: np.ndarray | None = None,
        look: Look | None = None,
        visit: Visit = GUARDED,
    ) -> tuple[RemoteArray, float | None]:
        """A new factor and its loss; see `RowDescent`."""
        pool, K = self.view.pool, F.shape[1]
        pulls = self.pulls(terms, F)
        if m is None and visit.keeps_sizes:
            order = 2 if self.weights is not None else self.loss.size_order
            gradient = self.loss.split(self.view, F, B).gradient
            m = size_multiplier(F, gradient, order, self.weights)
        m = np.zeros(K) if m is None else np.asarray(m, dtype=np.float64)
        task = Task(self.key, self.loss, m, visit)
        both = () if pulls is None else pulls
        found = pool.map(lowered, self.view.views, self.own, self.free, task, F, B, *both)
        new = RemoteArray.of(pool.map(factor_of, found), (K,), F.dtype)
        total, pulled = pool.total(sums_of, found)
        if len(self.named):
            near, some, part = self.lower_named(F, B, terms, m, look, visit, pulls)
            new[self.named] = near
            total, pulled = total + some, pulled + part
        if self.tying is not None:
            if self.near is not None:
                near, some, part = self.lower_labels(F, B, m, visit, pulls)
                new = self.tying.with_split_rows(new, near)
                total, pulled = total + some, pulled + part
            if self.loss.row_problem != "quadratic":  # sums over members have lost it
                return new, None
        return new, loss_of_sums(self.view, self.loss, total, pulled)

    def lower_labels(self, F, B, m, visit, pulls) -> tuple[np.ndarray, float, float]:
        """The rows of labels that have rows in several blocks, lowered here."""
        if pulls is None:
            pulls = Pulls(0.0, np.zeros((0, F.shape[1]), F.dtype))
        else:
            pulls = Pulls(*(self.tying.split_total(part) for part in pulls))
        terms = self.near_terms
        return self.near.lower(self.tying.split_rows(F), B, terms, m, None, visit, pulls)

    def lower_named(self, F, B, terms, m, look, visit, pulls) -> tuple[np.ndarray, float, float]:
        """The rows that are named, lowered here."""
        rows = self.named
        if pulls is not None:
            pulls = Pulls(*(part[rows] for part in pulls))
        else:
            pulls = Pulls(0.0, np.zeros((0, F.shape[1]), F.dtype))
        return self.near.lower(F.kept(rows), B, self.inner(terms), m, look, visit, pulls)


class Nothing:
    """In place of a view without rows."""

    def __init__(self, view: BaseView):
        self.extent = None


class NoIncidence:
    """In place of an `Incidence` where nothing is named."""

    is_listed = np.zeros(0, dtype=bool)

    def list_tight(self, is_listed: np.ndarray) -> None:
        """Nothing is listed."""


def free_rows(first: int, n_rows: int, named: np.ndarray) -> np.ndarray:
    """The rows of a block that are not named."""
    free = np.ones(n_rows, dtype=bool)
    free[named[here(first, n_rows, named)] - first] = False
    return np.flatnonzero(free)


def groups_alone(tying: BlockTying) -> np.ndarray:
    """The groups of a block that have no rows elsewhere."""
    return tying.alone


def lowered(
    view: BaseView, own: OwnTerms, free: np.ndarray, task: Task, F: np.ndarray, B: np.ndarray, *both
) -> tuple[np.ndarray, float, float]:
    """A block lowers its rows; see `RowDescent.lower`."""
    kept = view.__dict__.setdefault("_descent", {})
    if task.key not in kept:
        kept.clear()
        kept[task.key] = RowDescent(OwnObjective(view, task.loss, own), 0)  # type: ignore[arg-type]
    descent = kept[task.key]
    if len(free) != len(descent.free):
        descent.free, descent.blocks = free, {}
    pulls = Pulls(0.0, np.zeros((0, F.shape[1]), F.dtype))
    if both:
        weight, pull = (descent.problem.units.sum(part) for part in both)
        if len(free) < len(pull):  # the rows that are named count where they are lowered
            pull, every = np.zeros_like(pull), pull
            pull[free] = every[free]
        pulls = Pulls(weight, pull)
    return descent.lower(F, B, own, task.m, None, task.visit, pulls)


def factor_of(found: tuple[np.ndarray, float, float]) -> np.ndarray:
    """The rows."""
    return found[0]


def sums_of(found: tuple[np.ndarray, float, float]) -> tuple[float, float]:
    """What gives the loss."""
    return found[1:]
