"""New rows for given components by multiplicative steps: for losses that pose no row problem."""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Look, Objective, SideTerms
from rprnmf.solvers.fixed_norm import update_ratio
from rprnmf.solvers.ramp import Ramps
from rprnmf.split import Split

ROUNDS = 100  # of raising the strength: enough for it to go from its first value to its cap
STEPS = 10  # in a round
HALVINGS = 30  # of a step that raises the objective, before it is given up


def fold_in_by_steps(
    objective: Objective, F: np.ndarray, Ht: np.ndarray, max_iter: int, tol: float
) -> np.ndarray:
    """Rows of W that minimise the objective with H fixed.

    A row stops by itself. Steps without penalties cannot raise the loss; others are shortened
    until the objective does not rise.

    Parameters
    ----------
    objective : Objective
    F : ndarray of shape (n_rows + n_known, n_components)
        The start; rows beyond those of X stay as they are, for triplets to refer to.
    Ht : ndarray of shape (n_columns, n_components)
    max_iter : int
        Steps of a row, where no triplets act.
    tol : float
        A row stops when a step moves it by less than ``tol / 10`` of its largest entry.

    Returns
    -------
    F : ndarray of shape (n_rows + n_known, n_components)
    """
    terms = objective.terms[0]
    steps = RowSteps(objective, Ht)
    if terms.triplets is None:
        return steps(F, terms, max_iter, tol / 10)
    ramps = Ramps(objective, patience=ROUNDS)
    for _ in range(ROUNDS):
        rising = ramps.rise((Look(terms, F),))
        terms = terms.at_strength(ramps.strengths[0])
        new = steps(F, terms, STEPS, tol / 10)
        moved = np.abs(new - F).max(initial=0.0) > tol * new.max(initial=0.0)
        F = new
        if not (rising or moved):
            break
    return F


class RowSteps:
    """Multiplicative steps in the rows of X, with the objective looked at where it may rise."""

    def __init__(self, objective: Objective, Ht: np.ndarray):
        self.loss = objective.loss
        self.view = objective.views[0]
        self.n = self.view.shape[0]
        self.Ht = Ht

    def value(self, F: np.ndarray, terms: SideTerms) -> float:
        """The objective."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.loss.value(self.view, F[: self.n], self.Ht) + terms.value(F)

    def __call__(self, F: np.ndarray, terms: SideTerms, max_iter: int, tol: float) -> np.ndarray:
        """At most ``max_iter`` steps of every row."""
        n, guarded = self.n, bool(terms.terms) or self.loss.step_exponent is None
        exponent = self.loss.step_exponent or 1.0
        before = self.value(F, terms) if guarded else np.inf
        busy = np.ones(n, dtype=bool)
        for _ in range(max_iter):
            parts = self.loss.split(self.view, F[:n], self.Ht)
            if terms.terms:
                on_all = terms.split(F)
                parts = parts.plus(Split(on_all.positive[:n], on_all.negative[:n]))
            ratio = update_ratio(*parts)
            ratio[~busy] = 1.0
            for halving in range(HALVINGS):
                new = F.copy()
                new[:n] *= ratio ** (exponent * 0.5**halving)
                after = self.value(new, terms) if guarded else before
                if after <= before:
                    break
            else:
                return F
            moved = np.abs(new[:n] - F[:n]).max(axis=1) > tol * new[:n].max(axis=1)
            # triplets tie rows together: one that rests now may be moved by another
            busy = moved if terms.triplets is None else np.full(n, moved.any())
            F, before = new, after
            if not busy.any():
                break
        return F
