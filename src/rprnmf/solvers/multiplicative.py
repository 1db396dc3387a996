"""`mu`: block multiplicative updates that never let the objective rise.

A plain step is ``F *= (negative / positive) ** e`` with the exponent e of the loss, 1 for most.
It lowers the loss alone, but with a strong penalty it overshoots. Rows with a penalty then take
the root of the ratio, the root of that, and so on until the objective does not rise; if no root
helps they stay as they are.

Where the scale rule fixes the sizes of a factor's columns, the step keeps them
(`fixed_norm.py`). Where both factors carry a part of the scale, a third step changes the sizes
of the components (`component_scale.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.objective import Objective, Point, Problem
from rprnmf.solvers.base import Solver
from rprnmf.solvers.component_scale import HALVINGS, SUFFICIENT_DECREASE, ComponentScale
from rprnmf.solvers.fixed_norm import FixedSizes, update_ratio
from rprnmf.solvers.loop import Settings, Step, alternate
from rprnmf.solvers.ramp import Ramps
from rprnmf.solvers.result import Result

Factors = tuple[np.ndarray, np.ndarray]


class MultiplicativeSolver(Solver):
    """Multiplicative updates: for every loss and penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.objective import Problem
    >>> from rprnmf.observed import make_view
    >>> from rprnmf.solvers import SOLVERS, Settings
    >>> X = np.outer([1.0, 2.0, 3.0], [1.0, 4.0])
    >>> start = [np.ones((3, 1)), np.ones((2, 1))]
    >>> result = SOLVERS["mu"].solve(Problem(make_view(X)), start, Settings())
    >>> np.allclose(result.W @ result.Ht.T, X)
    True
    """

    name = "mu"
    needs_nonzero_start = True

    def check(self, problem: Problem) -> None:
        self.check_margin(problem)

    def solve(self, problem: Problem, start: list[np.ndarray], settings: Settings) -> Result:
        self.check(problem)
        objective = Objective(problem, start[0].shape[1])
        result = Result(*objective.start(start.pop(0), start.pop()))
        iteration = Multiplicative(objective)
        result = alternate(iteration, result, objective.loss, settings)
        result.objective = iteration.objective
        return result


class Multiplicative:
    """One iteration: W with H fixed, then H with the new W, then their common scale."""

    def __init__(self, objective: Objective):
        self.objective = objective
        self.half_steps = {index: HalfStep(objective, index) for index in objective.moving}
        self.component_scale = ComponentScale()
        self.ramps = Ramps(objective)
        self.point: Point | None = None

    def __call__(self, W: np.ndarray, Ht: np.ndarray) -> Step:
        point = self.point or Point(self.objective, W, Ht)
        rising = self.ramps.rise(point.looks, point.loss)
        self.objective = objective = self.ramps.apply(self.objective)
        before = point.values(objective).objective
        new = point
        for half_step in self.half_steps.values():
            new = half_step(objective, new)
        if objective.scale.balanced:
            new = self.component_scale(objective, new)
        if not new.values(objective).objective <= before:  # rounding, near the minimum
            new = point
        self.point = new
        return Step.at(objective, new, settled=not rising)

    def state(self) -> dict[str, Any]:
        """All that later iterations depend on, beside the factors."""
        half_steps = self.half_steps.items()
        return {
            "loss": None if self.point is None else self.point.loss,
            "ramps": self.ramps.state(),
            "half_steps": {str(index): half_step.exponent for index, half_step in half_steps},
            "component_scale": self.component_scale.exponent,
        }

    def restore(self, state: dict[str, Any], W: np.ndarray, Ht: np.ndarray) -> None:
        """Go on from a state, and the factors that it was at."""
        self.ramps.restore(state["ramps"])
        self.objective = self.ramps.apply(self.objective)
        self.point = Point(self.objective, W, Ht, state["loss"])
        for index, half_step in self.half_steps.items():
            half_step.exponent = state["half_steps"][str(index)]
        self.component_scale.exponent = state["component_scale"]


class HalfStep:
    """Changes one factor; rows with a penalty only as far as the objective allows."""

    def __init__(self, objective: Objective, index: int):
        scale, terms = objective.scale, objective.terms[index]
        exponent = objective.loss.step_exponent
        fixed = scale.fixed(index)
        self.index = index
        #: the plain step that never raises the loss, where one is known
        self.power = 1.0 if exponent is None else exponent
        # the step that keeps the sizes of columns was derived for losses with a row problem
        unsure = exponent is None or (objective.loss.row_problem is None and fixed)
        #: the rows whose steps are checked against the objective
        every = slice(None)
        self.guarded = every if scale.balanced or unsure else terms.touched_rows()
        self.unguarded = not isinstance(self.guarded, slice) and not len(self.guarded)
        self.sizes = FixedSizes(scale, index, terms.tying) if fixed else None
        self.exponent = 1.0

    def __call__(self, objective: Objective, point: Point) -> Point:
        """A point that is not higher."""
        index, sizes, guarded = self.index, self.sizes, self.guarded
        F, B = point.factors[index], point.factors[1 - index]
        untied = objective.split(index, F, B)
        parts = objective.tied(index, untied)
        ratio = update_ratio(*parts) if sizes is None else sizes.ratio(F, parts)
        if self.power != 1.0:
            ratio **= self.power

        def trial(exponent: float) -> Point:
            scaled = ratio
            if exponent < 1.0:
                scaled = ratio.copy()
                scaled[guarded] **= exponent
            new = F * scaled
            if sizes is not None:
                new = sizes.resized(new, F)
            return Point(objective, *((new, B) if index == 0 else (B, new)))

        if self.unguarded:  # no row needs a check: this step cannot raise the objective
            return trial(1.0)
        before = point.values(objective).objective
        exponent = min(1.0, 2.0 * self.exponent)
        for halving in range(HALVINGS):
            if halving == 1 and sizes is not None:
                # along this ratio even the shortest step goes down
                ratio = sizes.tangent_ratio(F, parts)
            new = trial(exponent)
            moved = new.factors[index] - F
            promised = np.einsum("ik,ik->", untied.gradient, moved, dtype=np.float64)
            if new.values(objective).objective <= before + SUFFICIENT_DECREASE * min(promised, 0):
                self.exponent = exponent
                return new
            exponent /= 2.0
        ratio[guarded] = 1.0
        return trial(1.0)
