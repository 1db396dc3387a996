"""Triplets that teach, by way of a prior: how strong they are, how likely unseen answers are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from rprnmf.losses import get_loss
from rprnmf.objective import Objective, Problem, Side, SideTerms
from rprnmf.penalties import PENALTIES
from rprnmf.remote import gathered, lies_in_blocks
from rprnmf.solvers import Result, Settings, Solver
from rprnmf.start import start_factors

# Penalties that are chances of answers. The first is taken beside a prior: of unseen answers of two
# crowds it predicted up to .03 more than the other.
LINKS = ("ratio", "likelihood")
WARM, RANK_ONE = 60, 20  # iterations of plain NMF before triplets teach; of one component
STRENGTH = 7.0  # of triplets that teach, over the root of the errors of rank one and of NMF
LOOSER = 100.0  # than tol, while triplets teach
FOLDS, LEAST = 3, 60  # of the answers; with fewer answers none are held out
MANY = 3000  # answers of which one fold is enough to choose a strength
RAISE, RAISES = 5.0, 4  # of the strength, at most so many times,
GAIN = 0.01  # while answers that were held out gain so much, and more than its error
SHORT = 25  # iterations of a fit without some of the answers
OBEYED_MARGIN = 0.02  # of triplets that are met after they taught: what was learned stays

Factors = list[np.ndarray]


class Chances(NamedTuple):
    """How the chance of an answer goes by its distances.

    Attributes
    ----------
    penalty : str
        Whose log-odds are taken.
    unit : float
        Of the distances.
    sharpness : float
        What the log-odds are multiplied by.
    """

    penalty: str
    unit: float
    sharpness: float

    def __call__(self, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        """The chances."""
        return expit(self.sharpness * PENALTIES[self.penalty].log_odds(near, far, self.unit))


def teach(
    solver: Solver, problem: Problem, start: Factors, settings: Settings, seed: int = 0
) -> Result:
    """Solve a problem whose triplets teach: from plain NMF on, as strong as answers ask for."""
    # what is learned does not get better by solving to the last digit
    settings = replace(settings, tol=LOOSER * settings.tol)
    folds = Folds(solver, problem, settings)

    def warmed() -> tuple[Factors, float]:
        warm, strength = plain_start(solver, problem, start, settings, seed)
        if any(side.learning and side.automatic for side in problem.sides) and folds.held_out:
            strength = raised(folds, warm, strength)
        return warm, strength

    warm, strength = settings.journal.once("strength of triplets that teach", warmed)
    result = solver.solve(at_strength(problem, strength), warm, settings)
    sharpness = 1.0, 1.0
    if folds.held_out and not result.interrupted:

        def sharpened() -> tuple[float, float]:
            _, odds = folds.fit(strength, [[result.W, result.Ht]] * FOLDS)
            return folds.sharpness(odds)

        try:
            sharpness = settings.journal.once("sharpness of chances", sharpened)
        except KeyboardInterrupt:  # the factors are done
            result.stopped = result.interrupted = True
    assert result.objective is not None
    both = zip(result.objective.terms, sharpness, strict=True)
    result.chances = [chances_of(problem.penalty, terms, sharp) for terms, sharp in both]
    return result


def chances_of(penalty: str, terms: SideTerms, sharpness: float = 1.0) -> Chances | None:
    """The chances of answers on a side; None if it has no triplets."""
    if terms.triplets is None:
        return None
    return Chances(penalty, terms.triplets.sigma * (terms.triplets.margin or 1.0), sharpness)


def raised(folds: Folds, warm: Factors, strength: float) -> float:
    """The strength at which answers that were held out are most likely.

    The first one goes by what the data leave unexplained. Where the data say something else than
    the answers that is too weak: it grows while answers that were held out become clearly more
    likely. A larger one costs the data, and gains nothing where it is not needed.
    """
    some = 1 if folds.n_held_out >= MANY else FOLDS
    ends, odds = folds.fit(strength, [warm] * some)
    losses = folds.losses(odds)
    for _ in range(RAISES):
        ends, odds = folds.fit(RAISE * strength, ends)
        after = folds.losses(odds)
        gained = losses - after
        if gained.mean() <= max(GAIN, gained.std() / np.sqrt(len(gained))):
            break
        strength, losses = RAISE * strength, after
    return strength


class Folds:
    """Short fits, each without a part of the answers.

    Parameters
    ----------
    solver : Solver
    problem : Problem
    settings : Settings
        Of the fit.

    Attributes
    ----------
    held_out : list of int
        The sides whose answers are held out: those that teach and have enough of them.
    """

    def __init__(self, solver: Solver, problem: Problem, settings: Settings):
        self.solver, self.problem = solver, problem
        self.settings = settings.aside(SHORT, settings.tol)
        rng = np.random.default_rng(0)
        self.fold = [rng.permutation(len(side.triplets)) % FOLDS for side in problem.sides]
        self.held_out = [
            index
            for index, side in enumerate(problem.sides)
            if side.learning and len(side.triplets) >= LEAST
        ]

    @property
    def n_held_out(self) -> int:
        """Answers, on both sides."""
        return sum(len(self.problem.sides[index].triplets) for index in self.held_out)

    def fit(self, strength: float, starts: list[Factors]) -> tuple[list[Factors], list[np.ndarray]]:
        """Factors of the first folds, and the log-odds of answers held out; else NaN."""
        problem = at_strength(self.problem, strength)
        odds = [np.full(len(side.triplets), np.nan) for side in problem.sides]
        ends = []
        for number, start in enumerate(starts):
            rows, columns = (
                without(side, self.fold[index] == number) if index in self.held_out else side
                for index, side in enumerate(problem.sides)
            )
            part = replace(problem, rows=rows, columns=columns)
            copies = [factor.copy() for factor in start]
            short = self.solver.solve(part, copies, self.settings)
            assert short.objective is not None
            ends.append([short.W, short.Ht])
            for index in self.held_out:
                out = self.fold[index] == number
                items = problem.sides[index].triplets[out]
                odds[index][out] = log_odds(short.objective.terms[index], ends[-1][index], items)
        return ends, odds

    def losses(self, odds: list[np.ndarray]) -> np.ndarray:
        """-log of the chance of each answer that was held out, at the best sharpness."""
        found, sharpness = [], self.sharpness(odds)
        for index in self.held_out:
            known = odds[index][~np.isnan(odds[index])]
            found.append(np.logaddexp(0.0, -sharpness[index] * known))
        return np.concatenate(found)

    def sharpness(self, odds: list[np.ndarray]) -> tuple[float, float]:
        """What makes the answers most likely that were held out.

        Answers of the fit are met better than others, so that the fit itself is too sure.
        """
        found = [1.0, 1.0]
        for index in self.held_out:
            known = ~np.isnan(odds[index])
            weight = self.problem.sides[index].weight[known]
            found[index] = likeliest_sharpness(odds[index][known], weight)
        return found[0], found[1]


def at_strength(problem: Problem, strength: float) -> Problem:
    """The problem with the strength of triplets that teach and have no given one."""
    rows, columns = (
        replace(side, strength=strength) if side.learning and side.automatic else side
        for side in problem.sides
    )
    return replace(problem, rows=rows, columns=columns)


def plain_start(
    solver: Solver, problem: Problem, start: Factors, settings: Settings, seed: int
) -> tuple[Factors, float]:
    """Factors of plain NMF, and the first strength of the triplets."""
    plain = replace(problem, rows=Side(), columns=Side())
    if problem.only_rows:
        warm = start
        errors = [Objective(plain, start[0].shape[1]).values(*start).loss] * 2
    else:
        # a rank-one model tells how much there is to explain
        one = list(start_factors(problem.view, 1, "random", np.random.RandomState(seed)))
        alone = solver.solve(plain, one, settings.aside(RANK_ONE))
        found = solver.solve(plain, start, settings.aside(WARM))
        warm = [found.W, found.Ht]
        errors = [max(result.history[-1][1], 0.0) for result in (alone, found)]
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
            side = replace(side, prior=prior, learning=False, automatic=side.obeyed)
            # where the other side alone is to be obeyed, what taught stays as strong as it was
            side = replace(side, strength=1.0 if side.obeyed else terms.strength)
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
    result.chances = taught.chances
    return result


def without(side: Side, out: np.ndarray) -> Side:
    """A side without some of its triplets."""
    return replace(side, triplets=side.triplets[~out], weight=side.weight[~out])


def log_odds(terms: Any, F: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Of some triplets, by the penalty of a side."""
    triplets = terms.triplets
    if lies_in_blocks(F):
        named, places = np.unique(items, return_inverse=True)
        F, items = gathered(F, named), places.reshape(items.shape)
    near, far = (triplets.distance.values(F, items[:, 0], items[:, k]) for k in (1, 2))
    return triplets.log_odds(near, far, triplets.sigma * (triplets.margin or 1.0))


def likeliest_sharpness(odds: np.ndarray, weight: np.ndarray) -> float:
    """What log-odds must be multiplied by to make the answers most likely."""

    def cost(log_sharpness: float) -> float:
        return float(weight @ np.logaddexp(0.0, -np.exp(log_sharpness) * odds))

    return float(np.exp(minimize_scalar(cost, bounds=(-3.0, 3.0), method="bounded").x))
