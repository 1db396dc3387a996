"""`cd`: alternating coordinate descent, monotone at fixed strengths.

The rows of a factor are lowered one coordinate at a time on the exact objective
(`kernels/descent.py`), triplets, graphs and L1/L2 terms included.

The scale rule (`scale.py`) fixes the sizes of a factor's columns, which a step by rows does
not keep. At a minimum the multiplier of that constraint is known without solving for it: the
loss does not change when scale moves from one factor to the other, so it equals what the
penalties of the two sides would gain by that move. The step takes it along as a linear or
quadratic term, the columns are then brought to size exactly, and in the rare case that the
objective is higher after all, the multiplicative step, which keeps the sizes by itself,
replaces it.
"""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Objective, Problem, Values
from rprnmf.solvers.loop import Result, Settings, Step, alternate
from rprnmf.solvers.multiplicative import Factors, Multiplicative
from rprnmf.solvers.rows import RowDescent
from rprnmf.solvers.sphere import sphere_step

SHORTENINGS = 4


def solve(problem: Problem, W: np.ndarray, Ht: np.ndarray, settings: Settings) -> Result:
    """Minimise the objective from the start (W, Ht).

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.objective import Problem
    >>> from rprnmf.observed import make_view
    >>> from rprnmf.solvers.coordinate_descent import solve
    >>> from rprnmf.solvers.loop import Settings
    >>> X = np.outer([1.0, 2.0, 3.0], [1.0, 4.0])
    >>> result = solve(Problem(make_view(X)), np.ones((3, 1)), np.ones((2, 1)), Settings())
    >>> np.allclose(result.W @ result.Ht.T, X)
    True
    """
    objective = Objective(problem, W.shape[1])
    W, Ht = objective.start(W.copy(), Ht.copy())
    return alternate(CoordinateDescent(objective), W, Ht, objective.loss, settings)


class CoordinateDescent(Multiplicative):
    """One iteration: W with H fixed, then H with the new W, then their common scale."""

    def __init__(self, objective: Objective):
        super().__init__(objective)
        self.sides = RowDescent(objective, 0), RowDescent(objective, 1)
        self.iteration = 0

    def __call__(self, W: np.ndarray, Ht: np.ndarray) -> Step:
        self.iteration += 1
        return super().__call__(W, Ht)

    def descend(self, index: int, F: np.ndarray, B: np.ndarray, **multipliers) -> np.ndarray:
        """New rows; first few sweeps, then as many as pay.

        Far from the minimum the other factor is not worth being followed to the end: starts
        that do so end in worse minima more often.
        """
        sweeps = min(self.sides[index].data.sweeps(F.shape[1]), 1 + self.iteration // 3)
        return self.sides[index](F, B, sweeps=sweeps, **multipliers)

    def half_step(self, index: int, factors: Factors, before: Values) -> tuple[Factors, Values]:
        """Change one factor."""
        old, B = factors[index], factors[1 - index]
        if not self.scale.fixed(index):
            new = in_place(factors, index, self.descend(index, old, B))
            return new, self.objective.values(*new)
        m = self.multiplier(index, factors)
        linear = self.objective.loss.size_order == 1
        F = self.descend(index, old, B, m1=m if linear else None, m2=None if linear else m)
        gone = ~F.any(axis=0)
        F[:, gone] = old[:, gone]  # a component that vanished would carry distances for nothing
        new = self.scale.apply(*in_place(factors, index, F))
        values = self.look(new)
        if values.objective <= before.objective:
            return new, values
        if self.scale.balanced:
            return self.shortened(index, factors, F, before)
        new = in_place(factors, index, sphere_step(self.objective, index, old, B))
        values = self.look(new)
        if values.objective <= before.objective:
            return new, values
        return super().half_step(index, factors, before)

    def shortened(
        self, index: int, factors: Factors, F: np.ndarray, before: Values
    ) -> tuple[Factors, Values]:
        """A part of the way to F; as the last resort the multiplicative step."""
        old = factors[index]
        for halving in range(1, SHORTENINGS):
            part = old + (F - old) * old.dtype.type(0.25**halving)
            new = self.scale.apply(*in_place(factors, index, part))
            values = self.look(new)
            if values.objective <= before.objective:
                return new, values
        return super().half_step(index, factors, before)

    def multiplier(self, index: int, factors: Factors) -> np.ndarray:
        """The multiplier of the sizes of this factor's columns, from the penalties alone."""
        loss, terms = self.objective.loss, self.objective.terms
        gains = [
            np.einsum("ik,ik->k", factor, side.split(factor).gradient, dtype=np.float64)
            for factor, side in zip(factors, terms, strict=True)
        ]
        gain = gains[1 - index] - gains[index]
        if self.scale.balanced:
            gain = 0.5 * gain
        order = loss.size_order
        size = np.sum(factors[index].astype(np.float64) ** order, axis=0) * order
        return np.divide(gain, size, out=np.zeros_like(gain), where=size > 0)


def in_place(factors: Factors, index: int, F: np.ndarray) -> Factors:
    """The pair with one factor replaced."""
    return (F, factors[1]) if index == 0 else (factors[0], F)
