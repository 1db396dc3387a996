"""`cd`: alternating coordinate descent with momentum, monotone at fixed strengths.

The rows of a factor are lowered one coordinate at a time (`kernels/descent.py`,
`kernels/divergence.py`), triplets, graphs and L1/L2 terms included, and the factor then goes
on a little in the direction of its last moves (`momentum.py`). An iteration that ends higher
is repeated without that.

The scale rule (`scale.py`) fixes the sizes of a factor's columns, which a step by rows does
not keep. At a minimum the multiplier of that constraint is known without solving for it: the
loss does not change when scale moves from one factor to the other, so it equals what the
penalties of the two sides would gain by that move. The step takes it along as a linear or
quadratic term, and the columns are then brought to size exactly. Where penalties are so strong
that this raises the objective, the multiplier is taken that keeps the sizes as they are. Where
even that is higher, as in first steps from a poor start, a part of the step is tried, then the
exact step on the sphere, which costs as much as some iterations, and the multiplicative one.
Components that such a start lets die get a new direction (`revival.py`).
"""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Look, Objective, Point, Problem
from rprnmf.solvers.loop import Result, Settings, Step, alternate
from rprnmf.solvers.momentum import Momentum
from rprnmf.solvers.multiplicative import Factors, Multiplicative
from rprnmf.solvers.revival import Revival
from rprnmf.solvers.row_data import power_sums
from rprnmf.solvers.rows import RowDescent
from rprnmf.solvers.sphere import sphere_step

SHORTENINGS, SHORTENINGS_FIXED = 4, 2  # parts of a step, where both sides carry and where one
# The first momentum. Where a row sees few columns, or triplets pull at it, the factors turn
# more from step to step: there too much of it costs the first twenty iterations.
STEADY, TURNING = 0.7, 0.3


def solve(problem: Problem, start: list[np.ndarray], settings: Settings) -> Result:
    """Minimise the objective from a start [W, Ht], which is used up: the list is empty then.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.objective import Problem
    >>> from rprnmf.observed import make_view
    >>> from rprnmf.solvers.coordinate_descent import solve
    >>> from rprnmf.solvers.loop import Settings
    >>> X = np.outer([1.0, 2.0, 3.0], [1.0, 4.0])
    >>> result = solve(Problem(make_view(X)), [np.ones((3, 1)), np.ones((2, 1))], Settings())
    >>> np.allclose(result.W @ result.Ht.T, X)
    True
    """
    objective = Objective(problem, start[0].shape[1])
    if objective.loss.row_problem is None:
        raise ValueError(
            "Invalid beta_loss parameter: solver 'cd' does not handle beta_loss = "
            f"{problem.beta_loss!r}, whose rows pose neither a quadratic nor a Kullback-Leibler "
            "problem; use solver='mu'."
        )
    result = Result(*objective.start(start.pop(0), start.pop()))
    return alternate(CoordinateDescent(objective), result, objective.loss, settings)


class CoordinateDescent:
    """One iteration: W with H fixed, then H with the new W, then their common scale.

    The factors that a call returns are used up by the next call but one.
    """

    def __init__(self, objective: Objective):
        self.objective = objective
        self.scale = objective.scale
        self.multiplicative = Multiplicative(objective)
        self.ramps = self.multiplicative.ramps
        self.moving = self.multiplicative.moving
        self.sides = [RowDescent(objective, index) for index in self.moving]
        gappy = objective.problem.view.gappy
        coupled = any(len(side.linked) > 0 for side in self.sides)
        self.revival = Revival(objective)
        self.momentum = Momentum(TURNING if coupled or gappy else STEADY)
        self.now: Point | None = None
        # Sides on which sizes moved too far at once: their steps keep them, and sizes change
        # with the other factor only. That is slower where the penalties are weak.
        self.stiff = [False, False]

    def __call__(self, W: np.ndarray, Ht: np.ndarray) -> Step:
        if self.now is None or self.now.factors[0] is not W or self.now.factors[1] is not Ht:
            self.now = self.point(W, Ht)
        now = self.now
        rising = self.ramps.raise_strengths(W, Ht, now.values.loss, now.looks)
        before = now.values.objective
        new = None
        if self.momentum.last is not None:
            with np.errstate(over="ignore", invalid="ignore"):  # it may go far out
                new = self.leap(now)
        if new is None:
            new = self.walk(now)
        new = self.revived(new)
        if not new.values.objective <= before:  # rounding at the end of the road
            new = now
            self.momentum.last = None
        self.now = new
        rates = new.looks[0].rate, new.looks[1].rate
        return Step.at(self.objective, *new.factors, new.values, not rising, rates)

    def point(self, W: np.ndarray, Ht: np.ndarray, loss: float | None = None) -> Point:
        """The objective at a trial, which may be far out."""
        if loss is not None and not self.sides[0].exact_loss(loss):
            loss = None
        with np.errstate(over="ignore", invalid="ignore"):
            return Point(self.objective, W, Ht, loss)

    def leap(self, now: Point) -> Point | None:
        """Both factors with momentum; None if that went up."""
        momentum, scale = self.momentum, self.scale
        W, Ht = now.factors
        # The sizes of H's columns, which this changes a little, are seen to in the end: to do
        # it here too takes time and changed no result that was looked at.
        Ht = momentum.ahead(1, Ht, now.factors)
        W, _, _ = self.rows(0, (W, Ht), now, guarded=False)
        if scale.fixed(0):
            W, Ht = scale.apply(W, Ht)
        ahead = momentum.ahead(0, W, now.factors)
        if scale.fixed(0):
            ahead, Ht = scale.apply(ahead, Ht)
        _, Ht, loss = self.rows(1, (ahead, Ht), now, guarded=False, own=not scale.fixed(1))
        if scale.fixed(1):  # W takes over what the columns of H lose
            shift = scale.shift(ahead, Ht)
            W *= shift[0]
            ahead, Ht = scale.apply(ahead, Ht, shift)
        new = self.point(ahead, Ht, loss)
        if not new.values.objective <= now.values.objective:
            momentum.reject()
            return None
        momentum.accept(W, now.factors[1])
        return new

    def walk(self, now: Point) -> Point:
        """Both factors, each half step looked at where it might rise."""
        new = now
        for index in self.moving:
            new = self.half_step(index, new)
        if self.scale.balanced:
            factors, _ = self.multiplicative.scale_step(new.factors, new.values)
            new = self.point(*factors)
        if len(self.moving) == 2:
            self.momentum.last = new.factors[0], now.factors[1]
        return new

    def revived(self, now: Point) -> Point:
        """With a new direction for components that died, if there are any."""
        B = self.revival(now.factors)
        if B is None:
            return now
        free = self.revival.free
        self.momentum.last = None
        new = self.half_step(1 - free, self.point(*in_place(now.factors, free, B)))
        return self.point(*self.scale.apply(*new.factors))

    def rows(
        self, index: int, factors: Factors, now: Point, guarded: bool = True, own: bool = False
    ) -> tuple[np.ndarray, np.ndarray, float | None]:
        """Both factors after a step by rows in one of them, and the loss.

        ``now`` is where the iteration, or the step, began. With ``own`` the factor may be
        changed in place.
        """
        F, B = factors[index], factors[1 - index]
        side = self.sides[index]
        fixed = self.scale.fixed(index)
        look = now.looks[index]
        m: np.ndarray | str | None = None
        if fixed:
            m = "keep" if self.stiff[index] else self.multiplier(index, factors, now)
        loss: float | None
        at = look if look.F is F else None
        new, loss = side(F, B, m, at, guarded=guarded, every=guarded, own=own)
        if fixed:
            gone = ~new.any(axis=0)
            # by cost both columns of a component vanish, and may, but not all at once
            if gone.all() or (
                gone.any() and not self.scale.by_cost
            ):  # a component that vanished would carry distances for nothing
                new[:, gone] = F[:, gone]
                loss = None
        return *in_place(factors, index, new), loss

    def half_step(self, index: int, now: Point) -> Point:
        """Change one factor."""
        W, Ht, loss = self.rows(index, now.factors, now)
        if not self.scale.fixed(index):
            return self.point(W, Ht, loss)
        before = now.values.objective
        new = self.point(*self.scale.apply(W, Ht), loss)
        if new.values.objective <= before:
            return new
        if not self.stiff[index]:
            self.stiff[index] = True
            return self.half_step(index, now)
        old, B = now.factors[index], now.factors[1 - index]
        F = (W, Ht)[index]
        for halving in range(1, SHORTENINGS if self.scale.balanced else SHORTENINGS_FIXED):
            part = old + (F - old) * old.dtype.type(0.25**halving)
            new = self.point(*self.scale.apply(*in_place(now.factors, index, part)))
            if new.values.objective <= before:
                return new
        if not self.scale.balanced:
            step = sphere_step(self.objective, index, old, B)
            new = self.point(*in_place(now.factors, index, step))
            if new.values.objective <= before:
                return new
        factors, _ = self.multiplicative.half_step(index, now.factors, now.values)
        return self.point(*factors)

    def multiplier(self, index: int, factors: Factors, now: Point) -> np.ndarray:
        """The multiplier of the sizes of this factor's columns, from the penalties alone.

        They are looked at where they are now: those of the last iteration may have been met
        since, and the step would go too far.
        """
        F = factors[index]
        own, other = (
            now.looks[side]
            if factors[side] is now.factors[side]
            else Look(self.objective.terms[side], factors[side])
            for side in (index, 1 - index)
        )
        gain = other.gain() - own.gain()
        if self.scale.balanced:
            gain = 0.5 * gain
        order = self.scale.order
        size = order * power_sums(F, order, self.scale.weights(index))
        return np.divide(gain, size, out=np.zeros_like(gain), where=size > 0)


def in_place(factors: Factors, index: int, F: np.ndarray) -> Factors:
    """The pair with one factor replaced."""
    return (F, factors[1]) if index == 0 else (factors[0], F)
