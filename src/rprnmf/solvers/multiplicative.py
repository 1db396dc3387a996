"""`mu`: block multiplicative updates that never let the objective rise.

A plain step is ``F *= (negative / positive) ** e`` with the exponent e of the loss, 1 for most.
It lowers the loss alone, but with a strong
penalty it overshoots: the rows that carry a penalty then take the root of the ratio, and
the root of that, until the objective does not rise; if nothing helps they stay.

Where the scale rule fixes the sizes of a factor's columns, the step minimises under that
constraint: its multiplier stands in the denominator (`constrained_ratio`). Where both
factors carry a part of the scale, a third step changes the sizes of the components.
"""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Objective, Problem, Values
from rprnmf.solvers.loop import Result, Settings, Step, alternate
from rprnmf.solvers.ramp import Ramps
from rprnmf.solvers.sphere import of_norm
from rprnmf.split import Split

HALVINGS = 30
# A guarded step must bring this share of what the gradient promises. Asking for no rise
# alone lets it jump to and fro across a valley, where rounding decides the path.
SHARE = 0.1

Factors = tuple[np.ndarray, np.ndarray]


def solve(problem: Problem, start: list[np.ndarray], settings: Settings) -> Result:
    """Minimise the objective from a start [W, Ht], which is used up: the list is empty then.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.objective import Problem
    >>> from rprnmf.observed import make_view
    >>> from rprnmf.solvers.loop import Settings
    >>> from rprnmf.solvers.multiplicative import solve
    >>> X = np.outer([1.0, 2.0, 3.0], [1.0, 4.0])
    >>> result = solve(Problem(make_view(X)), [np.ones((3, 1)), np.ones((2, 1))], Settings())
    >>> np.allclose(result.W @ result.Ht.T, X)
    True
    """
    objective = Objective(problem, start[0].shape[1])
    result = Result(*objective.start(start.pop(0), start.pop()))
    return alternate(Multiplicative(objective), result, objective.loss, settings)


class Multiplicative:
    """One iteration: W with H fixed, then H with the new W, then their common scale."""

    def __init__(self, objective: Objective):
        self.objective = objective
        self.scale = objective.scale
        self.guarded = tuple(
            np.arange(view.shape[0]) if self.may_rise(index) else terms.rows()
            for index, (view, terms) in enumerate(
                zip(objective.views, objective.terms, strict=True)
            )
        )
        self.any_guarded = any(len(rows) > 0 for rows in self.guarded)
        self.moving = (0,) if objective.problem.only_rows else (0, 1)
        self.exponent = [1.0, 1.0, 1.0]
        self.ramps = Ramps(objective)
        self.values: Values | None = None

    def may_rise(self, index: int) -> bool:
        """Whether a step in this factor may raise the objective even where no term acts."""
        loss = self.objective.loss
        if self.scale.balanced or loss.step_exponent is None:
            return True
        # the step that keeps the sizes of columns was derived for two row problems
        return loss.row_problem is None and self.scale.fixed(index)

    def __call__(self, W: np.ndarray, Ht: np.ndarray) -> Step:
        if self.values is None:
            self.values = self.objective.values(W, Ht)
        strengths = [terms.strength for terms in self.objective.terms]
        rising = self.ramps.raise_strengths(W, Ht, self.values.loss)
        if strengths != [terms.strength for terms in self.objective.terms]:
            self.values = self.objective.values(W, Ht)
        before = values = self.values
        factors = W, Ht
        for index in self.moving:
            factors, values = self.half_step(index, factors, values)
        if self.scale.balanced:
            factors, values = self.scale_step(factors, values)
        if not values.objective <= before.objective:  # rounding at the end of the road
            factors, values = (W, Ht), before
        self.values = values
        return Step.at(self.objective, *factors, values, settled=not rising)

    def half_step(self, index: int, factors: Factors, before: Values) -> tuple[Factors, Values]:
        """Change one factor; rows with a penalty only as far as the objective allows."""
        F, B = factors[index], factors[1 - index]
        guarded = self.guarded[index]
        untied = self.objective.split(index, F, B)
        parts = self.objective.tied(index, untied)
        fixed = self.scale.fixed(index)
        sizes = self.scale.sizes(index, F)
        ratio = self.constrained_ratio(index, F, parts) if fixed else update_ratio(*parts)
        if self.objective.loss.step_exponent not in (None, 1.0):
            ratio **= self.objective.loss.step_exponent

        def trial(exponent: float) -> Factors:
            scaled = ratio
            if exponent < 1.0:
                scaled = ratio.copy()
                scaled[guarded] **= exponent
            new = F * scaled
            if fixed:
                new = self.resized(index, new, F, sizes)
            return (new, B) if index == 0 else (B, new)

        if not self.any_guarded:
            # such a step cannot make the objective rise: look once, after both
            new = trial(1.0)
            return new, before if index < self.moving[-1] else self.objective.values(*new)
        exponent = min(1.0, 2.0 * self.exponent[index])
        for halving in range(HALVINGS):
            if halving == 1 and fixed:
                # along this ratio even the shortest step goes down
                ratio = self.tangent_ratio(index, F, parts)
            new = trial(exponent)
            values = self.look(new)
            promised = np.einsum("ik,ik->", untied.gradient, new[index] - F, dtype=np.float64)
            if not len(guarded) or values.objective <= before.objective + SHARE * min(promised, 0):
                self.exponent[index] = exponent
                return new, values
            exponent /= 2.0
        ratio[guarded] = 1.0
        new = trial(1.0)
        return new, self.look(new)

    def scale_step(self, factors: Factors, before: Values) -> tuple[Factors, Values]:
        """Grow or shrink whole components, equally in both factors."""
        parts = self.objective.component_split(*factors)
        ratio = update_ratio(*parts)
        exponent = min(1.0, 2.0 * self.exponent[2])
        for _ in range(HALVINGS):
            growth = (ratio ** (0.5 * exponent)).astype(factors[0].dtype)
            new = factors[0] * growth, factors[1] * growth
            values = self.look(new)
            promised = np.dot(parts.gradient, ratio**exponent - 1)
            if values.objective <= before.objective + SHARE * min(promised, 0):
                self.exponent[2] = exponent
                return new, values
            exponent /= 2.0
        return factors, before

    def look(self, factors: Factors) -> Values:
        """The objective at a trial, which may be far out."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.objective.values(*factors)

    def resized(self, index: int, new: np.ndarray, old: np.ndarray, sizes) -> np.ndarray:
        """Columns brought to given sizes; one that vanished stays as it was."""
        found = self.scale.sizes(index, new)
        alive = np.isfinite(found) & (found > 0)
        growth = np.divide(sizes, found, out=np.ones_like(found), where=alive)
        return np.where(alive, new * growth.astype(new.dtype), old)

    def size_gradient(self, index: int, F: np.ndarray) -> np.ndarray:
        """The gradient of what the scale rule holds fixed, summed over tied rows."""
        gradient = 2.0 * F if self.scale.order == 2 else np.ones_like(F)
        weights = self.scale.weights(index)
        if weights is not None:
            gradient *= weights[:, None].astype(F.dtype)
        tying = self.objective.terms[index].tying
        return gradient if tying is None else tying.sum(gradient)

    def constrained_ratio(self, index: int, F: np.ndarray, parts: Split) -> np.ndarray:
        """The ratio of the step that minimises among factors with columns of the same size."""
        w = self.size_gradient(index, F)
        weights = self.scale.weights(index)
        if weights is None:
            return multiplier_ratio(F, parts, w, self.objective.loss.size_order)
        tying = self.objective.terms[index].tying
        counts = weights if tying is None else tying.mean(weights)
        ratio = multiplier_ratio(F, parts, w, 2, np.sqrt(counts)[:, None])
        ratio[counts == 0] = update_ratio(*parts)[counts == 0]  # they do not count in a size
        return ratio

    def tangent_ratio(self, index: int, F: np.ndarray, parts: Split) -> np.ndarray:
        """The ratio for the part of the gradient that is tangent to the sizes."""
        w = self.size_gradient(index, F)
        along = np.einsum("ik,ik->k", F, w)
        mu = -np.einsum("ik,ik->k", F, parts.gradient) / np.where(along > 0, along, 1.0)
        return update_ratio(
            parts.positive + np.maximum(mu, 0.0) * w, parts.negative + np.maximum(-mu, 0.0) * w
        )


def multiplier_ratio(
    F: np.ndarray, parts: Split, w: np.ndarray, order: int, unit: np.ndarray | float = 1.0
) -> np.ndarray:
    """negative / (positive + mu_k w) with the mu_k that keeps the norm of column k of unit F."""
    dtype, F = F.dtype, F.astype(np.float64) * unit
    goal = np.sum(F**order, axis=0) ** (1.0 / order)
    seen = (F > 0) & (parts.negative > 0) & (w > 0)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        n = np.where(seen, F * (parts.negative / w.astype(np.float64)), 0.0)
        r = np.where(seen, parts.positive / w.astype(np.float64), 1.0)
        ratio = of_norm(n, r, goal, order) / F
    most = 1.0 / np.finfo(dtype).eps
    return np.clip(np.where(seen, ratio, 0.0), 0.0, most).astype(dtype)


def update_ratio(positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """negative / positive; 0 / 0 is 0, and nothing grows by more than 1 / eps at once."""
    most = 1.0 / np.finfo(negative.dtype).eps
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.divide(negative, positive)
    return np.clip(np.nan_to_num(ratio, nan=0.0, posinf=most), 0.0, most)
