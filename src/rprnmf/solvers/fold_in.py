"""New rows for given components: the problem of `transform`."""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Objective, Problem
from rprnmf.solvers.multiplicative import update_ratio


def fold_in(problem: Problem, Ht: np.ndarray, max_iter: int, tol: float) -> np.ndarray:
    """W that minimises the objective with H fixed, by multiplicative steps.

    Every row starts at the flat one that has its sum right and stops by itself, when no
    entry moves by more than ``tol`` of its largest, so that a row comes out the same
    whatever rows come with it.

    Parameters
    ----------
    problem : Problem
    Ht : ndarray of shape (n_columns, n_components)
    max_iter : int
    tol : float

    Returns
    -------
    W : ndarray of shape (n_rows, n_components)
    """
    objective = Objective(problem, Ht.shape[1])
    view = problem.view
    there = view.times(np.ones((view.shape[1], 1), dtype=Ht.dtype))
    room = view.ones_times(np.ascontiguousarray(Ht.sum(axis=1, keepdims=True)))
    level = np.divide(there, room, out=np.zeros_like(there), where=room > 0)
    W = np.repeat(level, Ht.shape[1], axis=1)
    active = np.ones(len(W), dtype=bool)
    for _ in range(max_iter):
        new = W * update_ratio(*objective.split(0, W, Ht))
        new[~active] = W[~active]
        moved = np.abs(new - W).max(axis=1)
        W = new
        active &= moved > tol * W.max(axis=1)
        if not active.any():
            break
    return W
