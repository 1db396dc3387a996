"""Fits that follow each other: what was found at one strength is the start of the next.

To fit anew for every fold and strength takes as many times as long as one fit. Here one whole
fit tells what "auto" comes to and how many iterations are needed. Then each fold starts at the
same factors, of plain NMF, and goes from the weakest strength to the strongest in a few
iterations each. All of X is seen in every fold; only answers are held out.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from rprnmf.losses import get_loss
from rprnmf.model_selection.answers import SIDES, Answers
from rprnmf.objective import Problem, Side
from rprnmf.solvers import Result, Settings, Solver
from rprnmf.threads import blas_threads

PLAIN = 60  # iterations of plain NMF, at most
LEAST = 5  # iterations at one strength
TOL = 1e-2  # while following: to predict answers the last digits of a minimum do not matter

Factors = tuple[np.ndarray, np.ndarray]


class Posed(NamedTuple):
    """A whole fit, and the problem that it solved.

    ``model`` is fitted, ``start`` is where it began, and ``auto`` is the strength of both sides
    that it ended at.
    """

    model: Any
    problem: Problem
    start: Factors
    auto: tuple[float, float]

    @property
    def solver(self) -> Solver:
        """Of the model."""
        solver: Solver = self.model._solver
        return solver

    def resolved(self, strength: Any) -> tuple[float, float]:
        """A strength of both sides, as numbers."""
        return self.auto if strength == "auto" else (float(strength), float(strength))

    def loss(self, factors: Factors) -> float:
        """Mean loss of an entry of X."""
        view = self.problem.view
        return float(get_loss(self.problem.beta_loss).value(view, *factors)) / view.n_observed


def pose(estimator: Any, X: Any, answers: Answers, fit_params: dict[str, Any]) -> Posed:
    """Fit with all answers, and keep the problem."""
    model = clone(estimator)
    solve, kept = model._solve, []

    def keep(problem: Problem, start: list[np.ndarray], settings: Settings) -> Result:
        kept.append((problem, (start[0].copy(), start[1].copy())))
        result: Result = solve(problem, start, settings)
        return result

    model._solve = keep
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, **answers.known, **fit_params)
    problem, start = kept[0]
    strengths = [0.0, 0.0]
    for index, (name, side) in enumerate(zip(SIDES, problem.sides, strict=True)):
        if name in answers.triplets:
            ended = float(model.history_[f"{name}_strength"][-1])
            strengths[index] = ended if side.automatic else side.strength
    return Posed(model, problem, start, (strengths[0], strengths[1]))


def plain_start(posed: Posed) -> Factors:
    """Factors of NMF, which no answer has shaped: every fold begins there."""
    plain = replace(posed.problem, rows=Side(), columns=Side())
    settings = Settings(min(PLAIN, posed.model.max_iter), 0.0)
    with blas_threads(posed.model.n_jobs):
        start = [posed.start[0].copy(), posed.start[1].copy()]
        result = posed.solver.solve(plain, start, settings)
    return result.W, result.Ht


def follow(
    posed: Posed,
    start: Factors,
    answers: Answers,
    fold: int,
    strengths: Sequence[Any],
    n_iter: int,
) -> Iterator[tuple[int, Factors]]:
    """The factors at every strength without the answers of a fold.

    Yields the place of a strength among ``strengths``, from the weakest on, and the factors.
    """
    W, Ht = start
    order = sorted(range(len(strengths)), key=lambda at: max(posed.resolved(strengths[at])))
    for place in order:
        rows, columns = (
            at_strength(side, strength, answers.folds.get(name), fold)
            for name, side, strength in zip(
                SIDES, posed.problem.sides, posed.resolved(strengths[place]), strict=True
            )
        )
        part = replace(posed.problem, rows=rows, columns=columns)
        with blas_threads(posed.model.n_jobs), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            settings = Settings(n_iter, max(TOL, posed.model.tol))
            result = posed.solver.solve(part, [W.copy(), Ht.copy()], settings)
        W, Ht = result.W, result.Ht
        yield place, (W, Ht)


def at_strength(side: Side, strength: float, folds: np.ndarray | None, fold: int) -> Side:
    """A side at a strength, without the triplets of a fold."""
    if folds is None:
        return side
    kept = folds != fold
    return replace(
        side,
        triplets=side.triplets[kept],
        weight=side.weight[kept],
        strength=strength,
        automatic=False,
    )


def iterations(n_whole: int, share: float, n_points: int) -> int:
    """How many each of so many points may have, if all may have a share of whole fits."""
    return min(n_whole, max(LEAST, int(share * n_whole / n_points)))
