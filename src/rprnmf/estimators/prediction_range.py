"""Predictions of missing entries stay near the range of the observed ones.

Where much is missing, products of two large rows can lie far above all that was ever seen: a
handful in ten million, but these are what a list of the best shows first. Such a row is drawn to
its prior mean until its largest prediction is `BEYOND` times the largest entry.
"""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Problem, Side
from rprnmf.remote import RemoteArray
from rprnmf.solvers import Result

BEYOND = 1.2  # times the largest observed entry
BLOCK = 1 << 20  # predictions at a time
ROUNDING = 1e-6
SPARSE = 1000  # all predictions are looked at if they are fewer than this times the entries


def highest(problem: Problem) -> float | None:
    """The largest number that a prediction may be; None: any."""
    n, m = problem.view.shape
    if problem.view.gappy and n * m <= SPARSE * problem.view.n_observed:
        return BEYOND * float(problem.view.largest)
    return None


def keep_in_range(problem: Problem, result: Result, most: float | None) -> None:
    """Draw the rows of one factor whose predictions are above ``most``; the others stay."""
    if most is None or result.objective is None:
        return
    both = [(result.W, result.Ht), (result.Ht, result.W)]
    for side, terms, (F, G) in zip(problem.sides, result.objective.terms, both, strict=True):
        if is_free(side) and terms.prior is not None:
            draw(F, G, terms.prior.means(F), most)
            return


def is_free(side: Side) -> bool:
    """Whether its rows are pulled by a prior and may be moved one by one."""
    return side.prior is not None and len(side.triplets) == 0 and side.groups is None


def draw_rows(F: np.ndarray, G: np.ndarray, means: np.ndarray, most: float) -> np.ndarray:
    """As `draw`, of a copy."""
    F = F.copy()
    draw(F, G, means, most)
    return F


def draw_columns(F: np.ndarray, G: RemoteArray, means: np.ndarray, most: float) -> None:
    """As `draw`, where the rows of G lie elsewhere."""
    inside = (1.0 - ROUNDING) * most
    tops = np.max(G.pool.each(largest_predictions, G, F), axis=0)
    for i in np.flatnonzero(tops > most):
        mean = np.maximum(means[i], 0.0)
        if (G @ mean).max() >= inside:
            F[i] *= inside / tops[i]
            continue
        share = max(G.pool.each(share_outside, G, F[i], mean, inside))
        F[i] = (1.0 - share) * F[i] + share * mean


def largest_predictions(G: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Of each row of F."""
    step = max(1, BLOCK // len(F))
    tops = [(F @ G[first : first + step].T).max(axis=1) for first in range(0, len(G), step)]
    return np.max(tops, axis=0)


def share_outside(G: np.ndarray, f: np.ndarray, mean: np.ndarray, inside: float) -> float:
    """How much of the way to the mean it takes until no prediction is too large."""
    now, then = G @ f, G @ mean
    out = now > inside
    return float(np.max((now[out] - inside) / (now[out] - then[out]), initial=0.0))


def draw(F: np.ndarray, G: np.ndarray, means: np.ndarray, most: float) -> None:
    """Move rows of F towards their means, in place, until F Gᵀ is at most ``most``.

    Where a mean row itself predicts more than that, the row is made shorter instead.
    """
    if isinstance(F, RemoteArray):
        drawn = F.pool.map(draw_rows, F, G, means, most)
        F[:] = RemoteArray.of(drawn, F.width, F.dtype)
        return
    if isinstance(G, RemoteArray):
        draw_columns(F, G, means, most)
        return
    step = max(1, BLOCK // len(G))
    inside = (1.0 - ROUNDING) * most
    for first in range(0, len(F), step):
        rows = slice(first, first + step)
        above = np.flatnonzero((F[rows] @ G.T).max(axis=1, initial=0.0) > most) + first
        for i in above:
            mean = np.maximum(means[i], 0.0)
            now, then = G @ F[i], G @ mean
            if then.max() >= inside:
                F[i] *= inside / now.max()
                continue
            out = now > inside
            share = float(np.max((now[out] - inside) / (now[out] - then[out])))
            F[i] = (1.0 - share) * F[i] + share * mean
