"""New rows for given components: the problem of `transform`."""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Objective, Problem
from rprnmf.solvers.fold_in_steps import fold_in_by_steps
from rprnmf.solvers.ramp import Ramps
from rprnmf.solvers.rows import RowDescent

ROUNDS = 100  # of raising the strength, until the triplets are met


def fold_in(
    problem: Problem, Ht: np.ndarray, known: np.ndarray | None, max_iter: int, tol: float
) -> np.ndarray:
    """Rows of W that minimise the objective with H fixed, by coordinate descent.

    Every row starts at the flat one that has its sum right and stops by itself, so that
    without triplets it comes out the same whatever rows come with it.

    Parameters
    ----------
    problem : Problem
        ``problem.rows.triplets`` number the rows of X first, then those of ``known``.
    Ht : ndarray of shape (n_columns, n_components)
    known : ndarray of shape (n_known, n_components) or None
        Rows that stay as they are, for triplets to refer to.
    max_iter : int
        Sweeps over a row.
    tol : float
        A row stops when a sweep brings less than ``tol ** 2`` of what its first brought.

    Returns
    -------
    W : ndarray of shape (n_rows, n_components)
    """
    objective = Objective(problem, Ht.shape[1])
    n = problem.view.shape[0]
    F = flat_rows(problem, Ht)
    if known is not None:
        # a row of which nothing is seen starts where the others are, not all at one point
        unseen = np.flatnonzero(problem.view.row_counts == 0)
        spread = 1.0 + 0.1 * np.cos(np.add.outer(unseen + 1.0, np.arange(F.shape[1])))
        F[unseen] = spread * known.mean(axis=0)
        F = np.concatenate((F, known.astype(F.dtype, copy=False)))
    if objective.loss.row_problem is None:
        return fold_in_by_steps(objective, F, Ht, max_iter, tol)
    descend = RowDescent(objective, 0, len(F), inert=False)
    # up to the largest strength: what new rows cannot meet costs nobody else anything
    ramps = Ramps(objective, patience=ROUNDS)
    F, _ = descend(F, Ht, linked=False, sweeps=max_iter, share=tol**2)
    for _ in range(ROUNDS if len(descend.linked) else 0):
        rising = ramps.raise_strengths(F, Ht)
        new, _ = descend(F, Ht, free=False, sweeps=max_iter, share=tol)
        moved = np.abs(new - F).max(initial=0.0) > tol * new.max(initial=0.0)
        F = new
        if not (rising or moved):
            break
    return F[:n]


def flat_rows(problem: Problem, Ht: np.ndarray) -> np.ndarray:
    """Rows with all entries equal whose model has the sum of the row of X."""
    view = problem.view
    there = view.times(np.ones((view.shape[1], 1), dtype=Ht.dtype))
    room = view.ones_times(np.ascontiguousarray(Ht.sum(axis=1, keepdims=True)))
    level = np.divide(there, room, out=np.zeros_like(there), where=room > 0)
    return np.repeat(level, Ht.shape[1], axis=1)
