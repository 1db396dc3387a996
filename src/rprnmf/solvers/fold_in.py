"""New rows for given components: the problem of `transform`.

Every row starts at the flat one that has its sum right and stops by itself, so that without
triplets it comes out the same whatever rows come with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.losses import get_loss
from rprnmf.objective import Look, Objective, Problem
from rprnmf.solvers.fold_in_steps import fold_in_by_steps
from rprnmf.solvers.ramp import Ramps
from rprnmf.solvers.row_descent import RowDescent, Visit
from rprnmf.solvers.row_problems import ROW_PROBLEMS, observed_sums, row_totals

ROUNDS = 100  # of raising the strength: enough for it to go from its first value to its cap


class Known(NamedTuple):
    """Some of the rows that stay as they are, and the mean of all."""

    rows: np.ndarray
    mean: np.ndarray


def fold_in(
    problem: Problem, Ht: np.ndarray, known: np.ndarray | Known | None, max_iter: int, tol: float
) -> np.ndarray:
    """Rows of W that minimise the objective with H fixed.

    By coordinate descent where the loss has a row problem for it, else by multiplicative steps.

    Parameters
    ----------
    problem : Problem
        ``problem.rows.triplets`` number the rows of X first, then those of ``known``.
    Ht : ndarray of shape (n_columns, n_components)
    known : ndarray of shape (n_known, n_components), Known or None
        Rows that stay as they are, for triplets to refer to.
    max_iter : int
        Sweeps over a row, and with the divergence Newton's steps.
    tol : float
        A row stops when a sweep or step gains less than ``tol ** 2`` of what its first gained.

    Returns
    -------
    W : ndarray of shape (n_rows, n_components)
    """
    objective = Objective(problem, Ht.shape[1])
    F = flat_rows(problem, Ht)
    if known is not None:
        # rows without entries start near the mean of the known rows, not all at one point
        unseen = np.flatnonzero(problem.view.row_counts == 0)
        different = 1.0 + 0.1 * np.cos(np.add.outer(unseen + 1.0, np.arange(F.shape[1])))
        rows, mean = known if isinstance(known, Known) else (known, known.mean(axis=0))
        F[unseen] = different * mean
        F = np.concatenate((F, rows.astype(F.dtype, copy=False)))
    by_rows = objective.loss.row_problem in ROW_PROBLEMS
    solve = descend if by_rows else fold_in_by_steps
    return solve(objective, F, Ht, max_iter, tol)[: problem.view.shape[0]]


def descend(
    objective: Objective, F: np.ndarray, Ht: np.ndarray, max_iter: int, tol: float
) -> np.ndarray:
    """By coordinate descent."""
    side = RowDescent(objective, 0, len(F), new_rows=True)
    # up to the largest strength: other rows do not suffer from what new rows cannot meet
    ramps = Ramps(objective, patience=ROUNDS)
    terms = objective.terms[0]
    F, _ = side(F, Ht, terms, visit=Visit(linked=False, sweeps=max_iter, share=tol**2))
    for _ in range(ROUNDS if len(side.linked) else 0):
        look = Look(terms, F)
        rising = ramps.rise((look,))
        terms = terms.at_strength(ramps.strengths[0])
        new, _ = side(F, Ht, terms, None, look, Visit(free=False, sweeps=max_iter, share=tol))
        moved = np.abs(new - F).max(initial=0.0) > tol * new.max(initial=0.0)
        F = new
        if not (rising or moved):
            break
    return F


def flat_rows(problem: Problem, Ht: np.ndarray) -> np.ndarray:
    """Rows with all entries equal whose model has about the sum of the row of X.

    L2 terms are taken into account: where components are almost zero, rows would otherwise
    start so far out that rounding hides the minimum.
    """
    view, K = problem.view, Ht.shape[1]
    l2 = np.zeros(view.shape[0]) if problem.rows.l2 is None else K * problem.rows.l2
    if get_loss(problem.beta_loss).row_problem == "quadratic":
        total = view.times(np.ones((view.shape[1], 1), dtype=Ht.dtype))[:, 0].astype(np.float64)
        unit = np.ascontiguousarray(Ht.sum(axis=1, keepdims=True))
        unit = view.ones_times(unit)[:, 0].astype(np.float64)
        # the loss is at least (total - level * unit)^2 / count
        above, below = total * unit, unit**2 + view.row_counts * l2
    else:  # the divergence is level * unit - total * log(level) + ...
        total = row_totals(view)
        unit = np.zeros(1)
        for sums in observed_sums(view, Ht).T:  # one by one: a row has the same digits anywhere
            unit = unit + sums
        above, below = 2.0 * total, unit + np.sqrt(unit**2 + 8.0 * l2 * total)
    level = np.divide(above, below, out=np.zeros_like(total), where=(below > 0) & (unit > 0))
    rows = np.repeat(level.astype(Ht.dtype)[:, None], K, axis=1)
    if problem.rows.prior is not None:
        # rows without entries are placed by the prior alone; from zero no multiplicative step leads
        empty = view.row_counts == 0
        known = problem.rows.prior.means(rows) if problem.rows.prior.given is not None else None
        usual = rows[~empty].mean(axis=0) if (~empty).any() else rows.mean(axis=0)
        rows[empty] = usual if known is None else np.maximum(known[empty], 0.0)
    return rows
