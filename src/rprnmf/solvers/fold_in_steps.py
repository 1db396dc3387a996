"""New rows for given components by multiplicative steps: for losses that pose no row problem."""

from __future__ import annotations

import copy

import numpy as np

from rprnmf.losses import Loss
from rprnmf.objective import Look, Objective, SideTerms
from rprnmf.penalties.norms import Norms
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

    A row stops by itself. Where it is known how far a step may go, no row looks at another;
    other steps are shortened until the objective does not rise.

    All is done in double precision. In single precision a row would stop at another step for
    other rows beside it, which change the rounding, and would be lost below the floor of the
    model beside a row that is much larger.

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
    dtype = F.dtype
    F, Ht = F.astype(np.float64), Ht.astype(np.float64)
    terms = with_known_rows(objective.terms[0], len(F))
    steps = RowSteps(objective, Ht)
    if terms.triplets is None:
        return steps(F, terms, max_iter, tol / 10).astype(dtype)
    ramps = Ramps(objective, patience=ROUNDS)
    for _ in range(ROUNDS):
        rising = ramps.rise((Look(terms, F),))
        terms = terms.at_strength(ramps.strengths[0])
        new = steps(F, terms, STEPS, tol / 10)
        moved = np.abs(new - F).max(initial=0.0) > tol * new.max(initial=0.0)
        F = new
        if not (rising or moved):
            break
    return F.astype(dtype)


def with_known_rows(terms: SideTerms, n: int) -> SideTerms:
    """The terms for a factor of n rows; norms cost nothing in those beyond the rows of X."""
    norms = terms.norms
    if norms is None or len(norms.l1) == n:
        return terms
    terms, more = copy.copy(terms), n - len(norms.l1)
    terms.norms = Norms(np.pad(norms.l1, (0, more)), np.pad(norms.l2, (0, more)))
    return terms


def safe_exponent(loss: Loss, terms: SideTerms, n: int) -> float | np.ndarray | None:
    """The exponent of a step that raises the objective of no row, one for all or one for each.

    The step of a loss minimises a function above it, whose slope along the ratio r of a
    coordinate is ``positive * r**a - negative * r**b`` with a = max(beta - 1, 0) and
    b = min(beta - 2, 0): r is (negative / positive) ** (1 / (a - b)). L1 terms add a constant to
    the slope and L2 terms a multiple of r. With both counted as positive parts and with 1 in
    place of a smaller a where there are L2 terms, r lies between 1 and the minimum of the sum. So
    it does with a pull to a given mean: a constant in the negative part, which counts as ``r**b``.

    Returns
    -------
    exponent : float, ndarray of shape (n_rows, 1) or None
        None if it is not known.
    """
    norms, prior = terms.norms, terms.prior
    others = terms.triplets is not None or terms.graph is not None
    if loss.step_exponent is None or others or (prior is not None and prior.given is None):
        return None
    if norms is None and prior is None:
        return loss.step_exponent
    if loss.beta is None:
        return None
    squares = np.zeros(n)
    if norms is not None:
        squares[: len(norms.l2)] += norms.l2
    if prior is not None:
        squares[: len(prior.weights)] += prior.weights
    with_squares = 1.0 / max(3.0 - loss.beta, loss.beta - 1.0)
    return np.where(squares > 0, with_squares, loss.step_exponent)[:, None]


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
        n = self.n
        safe = safe_exponent(self.loss, terms, n)
        guarded = safe is None
        exponent = (self.loss.step_exponent or 1.0) if safe is None else safe
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
