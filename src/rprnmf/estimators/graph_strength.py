"""How strong a graph is if nobody says: it costs three times the error of plain NMF.

A graph's term counts squared distances between neighbours in the factor, the loss counts what the
model leaves of X. What they are beside each other depends on the data: on six sets the best
strength by numbers was 0.02 to 10. In units of the error of plain NMF, both terms taken at its
factors, 1 to 5 are near the best on seven of eight (`benchmarks/results/graph_strength.md`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rprnmf.losses import get_loss
from rprnmf.objective import Objective, Problem, Side
from rprnmf.solvers import Settings, Solver

PLAIN = 30  # iterations of plain NMF
TIMES_ERROR = 3.0  # what a graph costs at their end, over the error
# An error below this fraction of X is none; the graph of data that fit exactly still counts.
EXACT = 1e-3
EQUAL = 1e-9  # of the squares of a factor: smaller squared differences are rounding


def with_graph_strengths(
    solver: Solver, problem: Problem, start: list[np.ndarray], settings: Settings
) -> Problem:
    """The problem with numbers for the strengths of graphs that are automatic."""
    if not any(side.graph is not None and side.graph_automatic for side in problem.sides):
        return problem
    if not solver.automatic:
        return replace(problem, rows=settled(problem.rows), columns=settled(problem.columns))

    def found() -> list[float | None]:
        return strengths_by_error(solver, problem, start, settings)

    rows, columns = (
        side if strength is None else settled(side, strength)
        for side, strength in zip(
            problem.sides, settings.journal.once("strengths of graphs", found), strict=True
        )
    )
    return replace(problem, rows=rows, columns=columns)


def strengths_by_error(
    solver: Solver, problem: Problem, start: list[np.ndarray], settings: Settings
) -> list[float | None]:
    """The strengths of automatic graphs with which they cost as much as the error of plain NMF."""
    rows, columns = (
        Side(l1=s.l1, l2=s.l2, prior=None if s.learning else s.prior) for s in problem.sides
    )
    plain = replace(problem, rows=rows, columns=columns)
    copies = [factor.copy() for factor in start]
    found = solver.solve(plain, copies, settings.aside(PLAIN))
    objective = Objective(problem, found.W.shape[1])
    factors = objective.scale.apply(found.W, found.Ht)
    loss = get_loss(problem.beta_loss)
    error = max(loss.value(problem.view, found.W, found.Ht), EXACT * loss.unit(problem.view), 0.0)
    strengths: list[float | None] = [None, None]
    for index, side in enumerate(problem.sides):
        terms = objective.terms[index]
        if terms.graph is not None and side.graph_automatic:
            unit, F = objective.scale.graph_unit(index), factors[index]
            cost = unit * terms.graph.value(F)
            # neighbours that are equal but for rounding tell nothing of strengths
            apart = cost > EQUAL * unit * terms.graph.attract.weight.sum() * np.mean(F * F)
            strengths[index] = TIMES_ERROR * error / cost if apart else 1.0
    return strengths


def settled(side: Side, strength: float | None = None) -> Side:
    """The side with this strength of its graph; None: with the one that it has."""
    strength = side.graph_strength if strength is None else strength
    return replace(side, graph_strength=strength, graph_automatic=False)
