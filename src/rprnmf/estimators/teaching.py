"""Triplets that teach, by way of a prior: how strong they are, how likely unseen answers are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from rprnmf.losses import get_loss
from rprnmf.objective import Objective, Problem, Side
from rprnmf.solvers import Result, Settings, Solver
from rprnmf.start import start_factors

# How the chance of an answer goes by its distances. Which one suits, held-out answers tell.
LINKS = ("likelihood", "ratio")
WARM, RANK_ONE = 60, 20  # iterations of plain NMF before triplets teach; of one component
STRENGTH = 7.0  # of triplets that teach, over the root of the errors of rank one and of NMF
LOOSER = 100.0  # than tol, while triplets teach
FOLDS, LEAST = 3, 60  # of the answers, to calibrate chances; with fewer answers they are not
RAISE, RAISES = 5.0, 4  # of the strength, at most so many times,
GAIN = 0.01  # while answers that were held out gain so much, and more than its error
SHORT = 25  # iterations of a fit without one of them
OBEYED_MARGIN = 0.02  # of triplets that are met after they taught: what was learned stays


class HeldOut(NamedTuple):
    """How likely answers are that were held out of short fits.

    ``units`` is what the units of both sides must be multiplied by to make them most likely.
    """

    units: tuple[float, float]
    losses: np.ndarray  # -log of the chance of each answer


class Taught(NamedTuple):
    """A fit whose triplets taught."""

    result: Result
    units: tuple[float, float]  # see `HeldOut`


def teach(
    solver: Solver, problem: Problem, start: list[np.ndarray], settings: Settings, seed: int = 0
) -> Taught:
    """Solve a problem whose triplets teach: from plain NMF on, as strong as answers ask for.

    The first strength goes by what the data leave unexplained. Where the data say something
    else than the answers that is too weak: it grows while answers that were held out become
    clearly more likely. A larger one costs the data, and gains nothing where it is not needed.
    """
    warm, strength = plain_start(solver, problem, start, seed)
    # what is learned does not get better by solving to the last digit
    settings = replace(settings, tol=LOOSER * settings.tol)
    result = solver.solve(at_strength(problem, strength), [warm.W, warm.Ht], settings)
    found = hold_out(solver, result, settings.tol)
    chosen = any(side.learning and side.automatic for side in problem.sides)
    for _ in range(RAISES if chosen and found is not None else 0):
        if result.stopped or found is None:
            break
        strength *= RAISE
        again = [result.W.copy(), result.Ht.copy()]
        trial = solver.solve(at_strength(problem, strength), again, settings)
        after = hold_out(solver, trial, settings.tol)
        assert after is not None
        gained = found.losses - after.losses
        error = gained.std() / np.sqrt(len(gained))
        if gained.mean() <= max(GAIN, error):
            break
        trial.history = result.history + trial.history
        result, found = trial, after
    return Taught(result, (1.0, 1.0) if found is None else found.units)


def at_strength(problem: Problem, strength: float) -> Problem:
    """The problem with the strength of triplets that teach and have no given one."""
    rows, columns = (
        replace(side, strength=strength) if side.learning and side.automatic else side
        for side in problem.sides
    )
    return replace(problem, rows=rows, columns=columns)


def plain_start(
    solver: Solver, problem: Problem, start: list[np.ndarray], seed: int
) -> tuple[Result, float]:
    """Factors of plain NMF, and the first strength of the triplets."""
    plain = replace(problem, rows=Side(), columns=Side())
    if problem.only_rows:
        warm = Result(start[0], start[1])
        errors = [Objective(plain, start[0].shape[1]).values(*start).loss] * 2
    else:
        # a rank-one model tells how much there is to explain
        one = list(start_factors(problem.view, 1, "random", np.random.RandomState(seed)))
        alone = solver.solve(plain, one, Settings(RANK_ONE, 0.0))
        warm = solver.solve(plain, start, Settings(WARM, 0.0))
        errors = [max(result.history[-1][1], 0.0) for result in (alone, warm)]
    unit = get_loss(problem.beta_loss).unit(problem.view) or 1.0
    # an error of nothing would leave nothing to the answers
    return warm, STRENGTH * max(np.sqrt(errors[0] * errors[1]) / unit, 1e-6) / np.log(2.0)


def obey(solver: Solver, problem: Problem, taught: Result, settings: Settings) -> Result:
    """Go on until all triplets are met that can be, the pull as it was learned."""
    assert taught.objective is not None
    sides = []
    for side, terms in zip(problem.sides, taught.objective.terms, strict=True):
        if side.learning and side.prior is not None:
            prior = side.prior.times(terms.prior_weight)
            side = replace(side, prior=prior, learning=False, automatic=True, strength=1.0)
        sides.append(side)
    strict = replace(
        problem,
        rows=sides[0],
        columns=sides[1],
        penalty="squared_hinge",
        margin=OBEYED_MARGIN,
    )
    result = solver.solve(strict, [taught.W, taught.Ht], settings)
    result.history = taught.history + result.history
    return result


def hold_out(solver: Solver, taught: Result, tol: float) -> HeldOut | None:
    """Chances of answers that short fits have not seen; None if there are too few.

    Answers of the fit are met better than others, and the prior makes its unit cautious. So each
    answer is held out of one of a few short fits, and the unit is found that makes them most
    likely there.
    """
    assert taught.objective is not None
    problem = taught.objective.problem
    rng = np.random.default_rng(0)
    folds = [rng.permutation(len(side.triplets)) % FOLDS for side in problem.sides]
    asked = [side.learning and len(side.triplets) >= LEAST for side in problem.sides]
    if not any(asked):
        return None
    gaps = [np.zeros(len(side.triplets)) for side in problem.sides]
    for number in range(FOLDS):
        rows, columns = (
            without(side, fold == number) if ask else side
            for side, fold, ask in zip(problem.sides, folds, asked, strict=True)
        )
        part = replace(problem, rows=rows, columns=columns)
        start = [taught.W.copy(), taught.Ht.copy()]
        short = solver.solve(part, start, Settings(SHORT, tol))
        assert short.objective is not None
        for index, F in enumerate((short.W, short.Ht)):
            if asked[index]:
                out, side = folds[index] == number, problem.sides[index]
                gaps[index][out] = gap(short.objective.terms[index], F, side.triplets[out])
    units, losses = [1.0, 1.0], []
    for index, side in enumerate(problem.sides):
        if asked[index]:
            units[index] = likeliest_unit(gaps[index], side.weight)
            losses.append(np.logaddexp(0.0, gaps[index] / units[index]))
    return HeldOut((units[0], units[1]), np.concatenate(losses))


def without(side: Side, out: np.ndarray) -> Side:
    """A side without some of its triplets."""
    return replace(side, triplets=side.triplets[~out], weight=side.weight[~out])


def gap(terms: Any, F: np.ndarray, items: np.ndarray) -> np.ndarray:
    """near - far of some triplets, in the unit of a side."""
    near, far = (terms.triplets.distance.values(F, items[:, 0], items[:, k]) for k in (1, 2))
    return (near - far) / (terms.triplets.sigma * terms.triplets.margin)


def likeliest_unit(difference: np.ndarray, weight: np.ndarray) -> float:
    """The unit that makes answers with these differences of distances most likely."""

    def cost(log_unit: float) -> float:
        return float(weight @ np.logaddexp(0.0, np.exp(-log_unit) * difference))

    return float(np.exp(minimize_scalar(cost, bounds=(-3.0, 3.0), method="bounded").x))
