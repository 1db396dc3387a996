"""One block of a stream: W of its rows, and H for these and for all rows before."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rprnmf.kernels.workspace import Effort, RowTerms
from rprnmf.objective import Objective, Problem
from rprnmf.observed import BaseView
from rprnmf.priors import Prior
from rprnmf.solvers.fold_in import descend, flat_rows
from rprnmf.solvers.running_sums import Block, RunningSums

ROUNDS = 2  # of W, then H, on one block
ROW_SWEEPS, ROW_TOL = 30, 1e-2  # over the rows of W in a round
SWEEPS, SHARE = 2, 0.1  # over the columns of H


class ColumnTerms(NamedTuple):
    """What acts on the columns of H beside the data, for so many observed entries of each.

    Parameters
    ----------
    l1, l2 : ndarray of shape (n_columns,)
    prior : Prior or None
    """

    l1: np.ndarray
    l2: np.ndarray
    prior: Prior | None


class Learned(NamedTuple):
    """After a block."""

    W: np.ndarray
    Ht: np.ndarray
    sums: RunningSums


def place_rows(problem: Problem, Ht: np.ndarray) -> np.ndarray:
    """W of a block, about, for given components."""
    objective = Objective(problem, Ht.shape[1])
    return descend(objective, flat_rows(problem, Ht), Ht, ROW_SWEEPS, ROW_TOL)


def revived(view: BaseView, Ht: np.ndarray) -> np.ndarray:
    """With rows of the block in place of components that are zero, which no step would change.

    So it is with all of them when the blocks before had nothing but zeros.
    """
    dead = np.flatnonzero(~Ht.any(axis=0))
    if len(dead) == 0:
        return Ht
    ones = np.ones((view.shape[1], 1), Ht.dtype)
    full = np.flatnonzero(view.times(ones)[:, 0] > 0)
    points = full[np.unique(np.linspace(0, len(full) - 1, min(len(dead), len(full))).astype(int))]
    if len(points):
        rows = view.take(points).T.times(np.eye(len(points), dtype=Ht.dtype))
        Ht = Ht.copy()
        Ht[:, dead[: len(points)]] = rows
    return Ht


def learn_block(
    problem: Problem,
    Ht: np.ndarray,
    past: RunningSums,
    terms_of: Callable[[np.ndarray], ColumnTerms],
    rounds: int = ROUNDS,
) -> Learned:
    """W and H by turns; the sums of the past stay as they are.

    Parameters
    ----------
    problem : Problem
        Of the rows of the block, with H given.
    Ht : ndarray of shape (n_columns, n_components)
    past : RunningSums
        Changed, and part of what is returned.
    terms_of : callable
        The terms of H, by the number of observed entries of each column.
    rounds : int
    """
    K = Ht.shape[1]
    view = problem.view
    block = Block(view, Effort(SWEEPS, Ht.dtype.type(SHARE), True))
    counts = past.counts + block.counts
    terms = terms_of(counts)
    # as in a fit, a column with holes has inertia (`row_problems.py`)
    n_rows = max(float(counts.max(initial=0.0)), 1.0)
    holed = ((counts > 0) & (counts < n_rows)).astype(Ht.dtype)
    objective = Objective(problem, K)
    Ht = revived(view, Ht)
    W = flat_rows(problem, Ht)
    for turn in range(rounds):
        W = descend(objective, W, Ht, ROW_SWEEPS, ROW_TOL)
        l2, pull = terms.l2, np.zeros((0, K), Ht.dtype)
        if terms.prior is not None:
            l2, pull = l2 + terms.prior.weights, terms.prior.pull(Ht).astype(Ht.dtype)
        inertia = past.entry_curvature(view, W).astype(Ht.dtype)
        on_columns = RowTerms(
            terms.l1,
            l2,
            np.zeros(K),
            np.zeros((2, K)),
            np.ones(len(Ht)),
            holed,
            inertia,
            pull,
        )
        Ht = past.step(block, W, Ht, on_columns, turn + 1 == rounds)
    return Learned(W, Ht, past)
