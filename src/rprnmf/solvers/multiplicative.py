"""`mu`: block multiplicative updates that never let the objective rise.

A plain step is ``F *= negative / positive``. It lowers the loss alone, but with a strong
penalty it overshoots: the rows that carry a penalty then take the root of the ratio, and
the root of that, until the objective does not rise; if nothing helps they stay.
"""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Objective, Problem, Values
from rprnmf.solvers.loop import Result, Settings, Step, alternate

HALVINGS = 30


def solve(problem: Problem, W: np.ndarray, Ht: np.ndarray, settings: Settings) -> Result:
    """Minimise the objective from the start (W, Ht).

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.objective import Problem
    >>> from rprnmf.observed import make_view
    >>> from rprnmf.solvers.loop import Settings
    >>> from rprnmf.solvers.multiplicative import solve
    >>> X = np.outer([1.0, 2.0, 3.0], [1.0, 4.0])
    >>> result = solve(Problem(make_view(X)), np.ones((3, 1)), np.ones((2, 1)), Settings())
    >>> np.allclose(result.W @ result.Ht.T, X)
    True
    """
    objective = Objective(problem, W.shape[1])
    W, Ht = objective.start(W.copy(), Ht.copy())
    return alternate(Multiplicative(objective), W, Ht, objective.loss, settings)


class Multiplicative:
    """One iteration: W with H fixed, then H with the new W."""

    def __init__(self, objective: Objective):
        self.objective = objective
        self.guarded = tuple(terms.rows() for terms in objective.terms)
        self.any_guarded = any(len(rows) > 0 for rows in self.guarded)
        self.exponent = [1.0, 1.0]
        self.values: Values | None = None

    def __call__(self, W: np.ndarray, Ht: np.ndarray) -> Step:
        before = self.values or self.objective.values(W, Ht)
        factors = [W, Ht]
        values = before
        for index in (0, 1):
            factors, values = self.half_step(index, factors, values)
        if not values.objective <= before.objective:  # rounding at the end of the road
            factors, values = [W, Ht], before
        self.values = values
        terms = self.objective.terms
        return Step(
            *factors,
            values=values,
            rates=(terms[0].satisfied_rate(factors[0]), terms[1].satisfied_rate(factors[1])),
            strengths=(terms[0].strength, terms[1].strength),
        )

    def half_step(
        self, index: int, factors: list[np.ndarray], before: Values
    ) -> tuple[list[np.ndarray], Values]:
        """Change one factor; rows with a penalty only as far as the objective allows."""
        F, B = factors[index], factors[1 - index]
        ratio = update_ratio(*self.objective.split(index, F, B))
        guarded = self.guarded[index]
        exponent = min(1.0, 2.0 * self.exponent[index])
        for _ in range(HALVINGS):
            trial = list(factors)
            scaled = ratio
            if exponent < 1.0:
                scaled = ratio.copy()
                scaled[guarded] **= exponent
            trial[index] = F * scaled
            # without penalties the step cannot make the objective rise: look once, at the end
            if index == 0 and not self.any_guarded:
                return trial, before
            values = self.objective.values(*trial)
            if values.objective <= before.objective or not len(guarded):
                self.exponent[index] = exponent
                return trial, values
            exponent /= 2.0
        trial = list(factors)
        ratio[guarded] = 1.0
        trial[index] = F * ratio
        return trial, self.objective.values(*trial)


def update_ratio(positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """negative / positive; 0 / 0 is 0, and nothing grows by more than 1 / eps at once."""
    most = 1.0 / np.finfo(negative.dtype).eps
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.divide(negative, positive)
    return np.clip(np.nan_to_num(ratio, nan=0.0, posinf=most), 0.0, most)
