"""`cd`: alternating coordinate descent with momentum, monotone at fixed strengths.

The rows of a factor are lowered one coordinate at a time (`row_descent.py`), triplets, graphs
and L1/L2 terms included, and the factor then moves on a little in the direction of its last moves
(`momentum.py`). An iteration that ends higher is repeated without that momentum.

The scale rule (`scale.py`) fixes the sizes of a factor's columns, which a step by rows does
not keep. At a minimum the multiplier of that constraint is known without solving for it: the
loss does not change when scale moves from one factor to the other, so it equals what the
penalties of the two sides would gain by that move. The step takes it along as a linear or
quadratic term, and the columns are then brought to size exactly. Where penalties are so strong
that this raises the objective, the multiplier is taken that keeps the sizes as they are. Where
even that is higher, as in first steps from a poor start, the multiplicative step is taken, after
parts of the step where both factors carry a part of the scale. Components that such a start lets
die get a new direction (`dead_components.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.losses import get_loss
from rprnmf.objective import Look, Objective, Point, Problem
from rprnmf.solvers.base import Solver
from rprnmf.solvers.component_scale import ComponentScale
from rprnmf.solvers.dead_components import DeadComponents
from rprnmf.solvers.loop import Settings, Step, alternate
from rprnmf.solvers.momentum import Momentum
from rprnmf.solvers.multiplicative import Factors, HalfStep
from rprnmf.solvers.ramp import Ramps
from rprnmf.solvers.recording import like
from rprnmf.solvers.remote_rows import RemoteRowDescent
from rprnmf.solvers.result import Result
from rprnmf.solvers.row_descent import CHECKED, GUARDED, RowDescent, Visit
from rprnmf.solvers.row_problems import ROW_PROBLEMS, power_sums

# How many shorter steps (a quarter each) are tried where both factors carry the scale.
SHORTENINGS = 3
# The first momentum. Where a row sees few columns, or triplets pull at it, the factors turn
# more from step to step: there too much of it costs the first twenty iterations.
STEADY, TURNING = 0.7, 0.3


class CoordinateDescentSolver(Solver):
    """Coordinate descent: for losses with a row problem, and all penalties.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.objective import Problem
    >>> from rprnmf.observed import make_view
    >>> from rprnmf.solvers import SOLVERS, Settings
    >>> X = np.outer([1.0, 2.0, 3.0], [1.0, 4.0])
    >>> start = [np.ones((3, 1)), np.ones((2, 1))]
    >>> result = SOLVERS["cd"].solve(Problem(make_view(X)), start, Settings())
    >>> np.allclose(result.W @ result.Ht.T, X)
    True
    """

    name = "cd"

    def check(self, problem: Problem) -> None:
        self.check_row_problem(problem, list(ROW_PROBLEMS))
        self.check_margin(problem)
        view: Any = problem.view
        quadratic = get_loss(problem.beta_loss).row_problem == "quadratic"
        if view.remote and view.n_holes and quadratic:
            raise ValueError(
                "X lies in blocks of sparse rows with stored NaN, whose Gram matrices solver='cd' "
                "does not sum; use solver='mu', or missing='zero' where only stored entries count."
            )

    def solve(self, problem: Problem, start: list[np.ndarray], settings: Settings) -> Result:
        self.check(problem)
        objective = Objective(problem, start[0].shape[1])
        result = Result(*objective.start(start.pop(0), start.pop()))
        iteration = CoordinateDescent(objective)
        result = alternate(iteration, result, objective.loss, settings)
        result.objective = iteration.objective
        return result


class CoordinateDescent:
    """One iteration: W with H fixed, then H with the new W, then their common scale."""

    def __init__(self, objective: Objective):
        self.objective = objective
        self.scale = objective.scale
        self.ramps = Ramps(objective)
        self.sides = {index: descent_of(objective, index) for index in objective.moving}
        self.component_scale = ComponentScale()
        self.dead = DeadComponents(objective)
        coupled = any(len(side.linked) > 0 for side in self.sides.values())
        turning = coupled or objective.problem.view.gappy
        self.momentum = Momentum(TURNING if turning else STEADY)
        self.point: Point | None = None
        # Sides on which sizes moved too far at once: their steps keep them, and sizes change
        # with the other factor only. That is slower where the penalties are weak.
        self.stiff = {0: False, 1: False}
        self.fallback: dict[int, HalfStep] = {}

    def __call__(self, W: np.ndarray, Ht: np.ndarray) -> Step:
        point = self.point or Point(self.objective, W, Ht)
        rising = self.ramps.rise(point.looks, point.loss)
        self.objective = self.ramps.apply(self.objective)
        new = self.leap(point) if self.momentum.last is not None else None
        if new is None:
            new = self.walk(point)
        new = self.revive(new)
        if not self.price(new) <= self.price(point):  # rounding, near the minimum
            new = point
            self.momentum.forget()
        self.point = new
        return Step.at(self.objective, new, settled=not rising)

    def state(self) -> dict[str, Any]:
        """All that later iterations depend on, beside the factors."""
        sides, fallback = self.sides.items(), self.fallback.items()
        return {
            "loss": None if self.point is None else self.point.loss,
            "ramps": self.ramps.state(),
            "momentum": self.momentum.state(),
            "listed": {str(index): side.incidence.is_listed for index, side in sides},
            "component_scale": self.component_scale.exponent,
            "attempts": self.dead.left,
            "stiff": [self.stiff[0], self.stiff[1]],
            "fallback": {str(index): half_step.exponent for index, half_step in fallback},
        }

    def restore(self, state: dict[str, Any], W: np.ndarray, Ht: np.ndarray) -> None:
        """Go on from a state, and the factors that it was at."""
        self.ramps.restore(state["ramps"])
        self.objective = self.ramps.apply(self.objective)
        self.point = Point(self.objective, W, Ht, state["loss"])
        self.momentum.restore(state["momentum"], (W, Ht))
        for index, side in self.sides.items():
            listed = like(state["listed"][str(index)], side.incidence.is_listed)
            side.incidence.list_tight(listed)
        self.component_scale.exponent = state["component_scale"]
        self.dead.left = state["attempts"]
        self.stiff = dict(enumerate(state["stiff"]))
        for index, exponent in state["fallback"].items():
            self.fallback[int(index)] = HalfStep(self.objective, int(index))
            self.fallback[int(index)].exponent = exponent

    def price(self, point: Point) -> float:
        """The objective at a point."""
        return point.values(self.objective).objective

    def leap(self, point: Point) -> Point | None:
        """Both factors with momentum; None if that went up."""
        momentum, scale = self.momentum, self.scale
        W, Ht = point.factors
        # This changes the sizes of H's columns a little. They are restored at the end: to do it
        # here too takes time and changed no result that was looked at.
        with np.errstate(over="ignore", invalid="ignore"):  # it may go too far and overflow
            Ht = momentum.ahead(1, Ht)
            (W, _), _ = self.row_step(0, (W, Ht), point, CHECKED)
            if scale.fixed(0):
                W, Ht = scale.apply(W, Ht)
            ahead = momentum.ahead(0, W)
            if scale.fixed(0):
                ahead, Ht = scale.apply(ahead, Ht)
            (_, Ht), loss = self.row_step(1, (ahead, Ht), point, CHECKED)
            if scale.fixed(1):  # W takes over what the columns of H lose
                shift = scale.shift(ahead, Ht)
                W = W * shift[0]
                ahead, Ht = scale.apply(ahead, Ht, shift)
        new = Point(self.objective, ahead, Ht, loss)
        if not self.price(new) <= self.price(point):
            momentum.reject()
            return None
        momentum.accept()
        momentum.count_from(W, point.factors[1])
        return new

    def walk(self, point: Point) -> Point:
        """Both factors, with a check after each half step that might raise the objective."""
        new = point
        for index in self.sides:
            new = self.half_step(index, new)
        if self.scale.balanced:
            new = self.component_scale(self.objective, new)
        if len(self.sides) == 2:
            self.momentum.count_from(new.factors[0], point.factors[1])
        return new

    def revive(self, point: Point) -> Point:
        """With a new direction for components that died, if there are any."""
        B = self.dead(point.factors)
        if B is None:
            return point
        free = self.dead.free
        self.momentum.forget()
        new = self.half_step(1 - free, Point(self.objective, *replaced(point.factors, free, B)))
        return Point(self.objective, *self.scale.apply(*new.factors))

    def row_step(
        self, index: int, factors: Factors, point: Point, visit: Visit = GUARDED
    ) -> tuple[Factors, float | None]:
        """Both factors after a step by rows in one of them, and the loss if it is known.

        ``point`` is where the iteration, or the step, began.
        """
        F, B = factors[index], factors[1 - index]
        look = point.looks[index] if point.factors[index] is F else None
        fixed = self.scale.fixed(index)
        m = None
        if fixed and self.stiff[index]:
            visit = visit._replace(keeps_sizes=True)
        elif fixed:
            m = self.multiplier(index, factors, point)
        new, loss = self.sides[index](F, B, self.objective.terms[index], m, look, visit)
        if fixed:
            gone = ~new.any(axis=0)
            # under the rule by cost a component may vanish from both factors, but not all of them
            if gone.all() or (gone.any() and not self.scale.by_cost):
                # a component that vanished would carry distances for nothing
                new[:, gone] = F[:, gone]
                loss = None
        return replaced(factors, index, new), loss

    def half_step(self, index: int, point: Point) -> Point:
        """Change one factor."""
        factors, loss = self.row_step(index, point.factors, point)
        if not self.scale.fixed(index):
            return Point(self.objective, *factors, loss)
        before = self.price(point)
        new = Point(self.objective, *self.scale.apply(*factors), loss)
        if self.price(new) <= before:
            return new
        if not self.stiff[index]:
            self.stiff[index] = True
            return self.half_step(index, point)
        old, F = point.factors[index], factors[index]
        for shortening in range(SHORTENINGS if self.scale.balanced else 0):
            part = old + (F - old) * old.dtype.type(0.25 ** (shortening + 1))
            shorter = replaced(point.factors, index, part)
            new = Point(self.objective, *self.scale.apply(*shorter))
            if self.price(new) <= before:
                return new
        if index not in self.fallback:
            self.fallback[index] = HalfStep(self.objective, index)
        return self.fallback[index](self.objective, point)

    def multiplier(self, index: int, factors: Factors, point: Point) -> np.ndarray:
        """The multiplier of the sizes of this factor's columns, from the penalties alone.

        The penalties are computed at the present factors: triplets that were unmet in the last
        iteration may be met by now, and the step would go too far.
        """
        F, terms = factors[index], self.objective.terms
        here, there = (
            (
                point.looks[side]
                if factors[side] is point.factors[side]
                else Look(terms[side], factors[side])
            ).gain(terms[side])
            for side in (index, 1 - index)
        )
        gain = there - here
        if self.scale.balanced:
            gain = 0.5 * gain
        order = self.scale.order
        size = order * power_sums(F, order, self.scale.weights(index))
        return np.divide(gain, size, out=np.zeros_like(gain), where=size > 0)


def descent_of(objective: Objective, index: int) -> Any:
    """The steps in one factor, by where its rows lie."""
    if index == 0 and objective.problem.view.remote:
        return RemoteRowDescent(objective)
    return RowDescent(objective, index)


def replaced(factors: Factors, index: int, F: np.ndarray) -> Factors:
    """The pair with one factor replaced."""
    return (F, factors[1]) if index == 0 else (factors[0], F)
