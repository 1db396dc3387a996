"""Sizes of whole components, where both factors carry a part of the scale.

The steps of either factor then keep the sizes of its columns. A step of its own lets components
grow and shrink, equally in both factors.
"""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Objective, Point
from rprnmf.solvers.fixed_norm import update_ratio

HALVINGS = 30  # of a step's exponent: if 2^-30, 1e-9 of the step, does not help, nothing does
# A step must bring this fraction of what the gradient promises (Armijo's rule). If it only had to
# be no rise, steps would jump to and fro across a valley, where rounding decides the path.
SUFFICIENT_DECREASE = 0.1


class ComponentScale:
    """Grows and shrinks components; remembers how far it may go."""

    def __init__(self) -> None:
        self.exponent = 1.0

    def __call__(self, objective: Objective, point: Point) -> Point:
        """A point that is not higher."""
        factors, before = point.factors, point.values(objective).objective
        parts = objective.component_split(*factors)
        ratio = update_ratio(*parts)
        exponent = min(1.0, 2.0 * self.exponent)
        for _ in range(HALVINGS):
            growth = (ratio ** (0.5 * exponent)).astype(factors[0].dtype)
            new = Point(objective, factors[0] * growth, factors[1] * growth)
            promised = np.dot(parts.gradient, ratio**exponent - 1)
            if new.values(objective).objective <= before + SUFFICIENT_DECREASE * min(promised, 0):
                self.exponent = exponent
                return new
            exponent /= 2.0
        return point
