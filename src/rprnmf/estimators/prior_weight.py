"""How strong a prior without triplets is: as strong as entries that were held out ask for.

A row w is pulled to its prior mean with the weight

    level * curvature of the loss * mean squared length of the rows of the other factor,

where ``level`` is the noise of an entry over what the factors explain of its variance: then the
pull is that of a Gaussian prior, whatever the unit of X and the scale of the factors. On
incomplete data the level is searched, in short fits that do not see some of the entries. On data
that are all but complete entries outnumber the factors, and the noise is what a short fit leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rprnmf.losses import Loss, get_loss
from rprnmf.objective import Objective, Problem, Side
from rprnmf.observed import BaseView, Fold, hold_out
from rprnmf.solvers import Settings, Solver

FIRST, SHORT = 15, 10  # iterations of the first short fit, and of each that goes on from another
WIDE = 2  # the level is searched by factors of 2^WIDE first
LOWEST, HIGHEST = -16, 8  # powers of 2
# A fit that goes on for longer than the short ones wants a stronger pull, by these powers of 2: to
# the mean row, and to what features predict. Chosen on ratings: .2 less or more costs .001
# of RMSE, with 10, 20 and 50 components; with more, tables of features lose .004. Fits of so many
# iterations, or more, want all of it.
LONGER, LONGER_WITH_FEATURES, LONG = 0.35, 0.25, 100
GAIN = 0.01  # a wide step that gains less than this fraction of the error is the last
# One tenth of the entries is held out, by turns until so many were held out in all.
TENTH, ENOUGH, MOST_FOLDS = 10, 500, 5
FEWEST = 100  # entries: with fewer, those held out say nothing
COMPLETE = 20  # iterations of a short fit of complete data
FREEDOM = 0.9  # of the entries: the factors take up no more than this, whatever their size

Factors = list[np.ndarray]


def weigh(
    solver: Solver, problem: Problem, start: Factors, settings: Settings
) -> tuple[Problem, Factors]:
    """The problem with the weights of its priors, and the factors that the search ended with.

    The fit goes on from these: with more components than the data need, factors that a strong
    prior has shaped predict better than what a weak one finds from a start at random. Priors
    beside triplets that teach have weights of their own.
    """
    sides = [side.prior is not None and not side.learning for side in problem.sides]
    if not any(sides):
        return problem, start
    alone = replace(problem, rows=only_prior(problem.rows), columns=only_prior(problem.columns))

    def found() -> tuple[float, Factors]:
        search = LevelSearch(solver, alone, start, settings)
        level = search.best(settings.max_iter) if problem.view.gappy else search.by_noise()
        return level, search.factors

    level, factors = settings.journal.once("weights of priors", found)
    return weighed(problem, level, factors), factors


def only_prior(side: Side) -> Side:
    """A side with its prior and what is tied, without triplets and graphs."""
    prior = None if side.learning else side.prior
    return Side(groups=side.groups, l1=side.l1, l2=side.l2, prior=prior)


def weighed(problem: Problem, level: float, factors: Factors) -> Problem:
    """The problem with priors of this level; the factors tell the scale that they will have."""
    W, Ht = Objective(problem, factors[0].shape[1]).scale.apply(factors[0], factors[1])
    unit = level * get_loss(problem.beta_loss).curvature(problem.view)
    rows, columns = (
        replace(side, prior=side.prior.times(unit * mean_square_row(other)))
        if side.prior is not None and not side.learning
        else side
        for side, other in zip(problem.sides, (Ht, W), strict=True)
    )
    return replace(problem, rows=rows, columns=columns)


def mean_square_row(F: np.ndarray) -> float:
    """The mean squared length of the rows of a factor."""
    return float(np.einsum("ik,ik->", F, F, dtype=np.float64)) / len(F) or 1.0


class Trial(NamedTuple):
    """A level that was tried: the error of what was held out, and the factors of each fold."""

    error: float
    factors: list[Factors]


class LevelSearch:
    """Short fits at several levels.

    Parameters
    ----------
    solver : Solver
    problem : Problem
        With priors, without triplets and graphs.
    start : list of ndarray
        W and Ht; stays as it is.
    settings : Settings
        Of the fit.
    """

    def __init__(self, solver: Solver, problem: Problem, start: Factors, settings: Settings):
        self.solver, self.problem, self.settings = solver, problem, settings
        self.loss: Loss = get_loss(problem.beta_loss)
        self.factors = of_the_size_of(problem, start)

    def fit(self, problem: Problem, start: Factors, n_iter: int) -> Factors:
        """A short fit."""
        copies = [factor.copy() for factor in start]
        found = self.solver.solve(problem, copies, self.settings.aside(n_iter))
        return [found.W, found.Ht]

    def by_noise(self) -> float:
        """The level from what a short fit without priors leaves of complete data."""
        view = self.problem.view
        plain = replace(
            self.problem,
            rows=replace(self.problem.rows, prior=None),
            columns=replace(self.problem.columns, prior=None),
        )
        self.factors = self.fit(plain, self.factors, COMPLETE)
        free = min(sum(F.size for F in self.factors) / view.n_observed, FREEDOM)
        left = max(self.loss.value(view, *self.factors), 0.0) / self.loss.curvature(view)
        noise = left / (view.mass * (1.0 - free))
        explained = max(variance(view) - noise, 0.0)
        return float(np.clip(noise / (explained or 1e-300), 2.0**LOWEST, 2.0**HIGHEST))

    def best(self, max_iter: int) -> float:
        """The level with the least error of entries that were held out, for so long a fit."""
        tried: dict[int, Trial] = {}
        folds = held_out(self.problem.view)

        def attempt(power: int) -> float:
            near = min(tried, key=lambda other: abs(other - power), default=None)
            before = None if near is None else tried[near].factors
            tried[power] = self.attempt(2.0**power, folds, before)
            return tried[power].error

        power = bracket(attempt)
        for side in (-1, 1):
            attempt(power + side)
        power = min(tried, key=lambda one: tried[one].error)
        self.factors = tried[power].factors[0]
        errors = {one: trial.error for one, trial in tried.items()}
        priors = [side.prior for side in self.problem.sides if side.prior is not None]
        told = any(prior.features.shape[1] > 0 for prior in priors)
        longer = LONGER_WITH_FEATURES if told else LONGER
        longer *= min(max_iter / LONG, 1.0)
        return float(2.0 ** (power + bend(errors, power) + longer))

    def attempt(
        self, level: float, folds: list[tuple[BaseView, BaseView]], before: list[Factors] | None
    ) -> Trial:
        """Fit every fold at a level, from the factors of another level if there are any."""
        error, n_out, found = 0.0, 0.0, []
        for number, (train, test) in enumerate(folds):
            start = self.factors if before is None else before[number]
            part = replace(weighed(self.problem, level, self.factors), view=train)
            factors = self.fit(part, start, FIRST if before is None else SHORT)
            error += max(self.loss.value(test, *factors), 0.0)
            n_out += test.mass
            found.append(factors)
        return Trial(error / (n_out or 1.0), found)


def bracket(attempt: Callable[[int], float]) -> int:
    """The best of levels that are far apart: down from 1 as long as that helps, or else up."""
    best, least = 0, attempt(0)
    for direction in (-WIDE, WIDE):
        power = direction
        while LOWEST < power < HIGHEST:
            error = attempt(power)
            if not error < least:
                break
            enough = error > (1.0 - GAIN) * least
            best, least = power, error
            if enough:
                break
            power += direction
        if best != 0:
            break
    return best


def bend(errors: dict[int, float], power: int) -> float:
    """Where between its neighbours the least error lies, by a parabola: from -0.5 to 0.5."""
    if power - 1 not in errors or power + 1 not in errors:
        return 0.0
    low, mid, high = (errors[power + step] for step in (-1, 0, 1))
    curvature = low - 2.0 * mid + high
    return float(np.clip(0.5 * (low - high) / curvature, -0.5, 0.5)) if curvature > 0 else 0.0


def of_the_size_of(problem: Problem, start: Factors) -> Factors:
    """Start factors whose model has about the mean of X: custom ones may have any size."""
    if problem.only_rows:
        return start
    mean = float(np.dot(*(F.mean(axis=0, dtype=np.float64) for F in start)))
    size = np.sqrt(problem.view.mean / mean) if mean > 0 else 1.0
    return [(F * size).astype(F.dtype) for F in start]


def variance(view: BaseView) -> float:
    """Of the observed entries."""
    return max(view.mean_square - view.mean**2, 0.0)


def held_out(view: BaseView) -> list[tuple[BaseView, BaseView]]:
    """Some folds of the entries: what is fitted, and what is not."""
    row_ranks, column_ranks = view.ranks(), view.T.ranks()
    n_folds = min(MOST_FOLDS, -(-ENOUGH * TENTH // max(view.n_observed, 1)))
    folds = [
        hold_out(view, Fold(row_ranks, column_ranks, number, TENTH)) for number in range(n_folds)
    ]
    usual = [fold for fold in folds if min(part.n_observed for part in fold) > 0]
    return usual or [(view, view)]  # next to no entries
