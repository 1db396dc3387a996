"""Steps that keep the sizes of a factor's columns."""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Objective
from rprnmf.solvers.column_sums import make_column_sums

SWEEPS = 3


def of_norm(n: np.ndarray, r: np.ndarray, goal: np.ndarray, order: int) -> np.ndarray:
    """n / (r + mu_k) with the mu_k that gives column k the norm ``goal[k]`` of this order.

    One equation a column. Written as 1 / norm = 1 / goal its left side is concave and rising
    in mu, so that Newton's method from the left goes up to the root without a detour. Entries
    with n = 0 stay 0.

    Parameters
    ----------
    n, r : ndarray of shape (n_rows, K)
        n is not negative.
    goal : ndarray of shape (K,)
    order : {1, 2}
    """
    goal = np.where(goal > 0, goal, 1.0)
    seen = n > 0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        least = np.where(seen, n / goal, 1.0)  # no entry exceeds the goal
        mu = np.max(np.where(seen, least - r, -np.inf), axis=0, initial=-np.inf)
        mu[~np.isfinite(mu)] = 0.0
        for _ in range(50):
            room = np.maximum(r + mu, least)
            powers = (n / room) ** order
            total = powers.sum(axis=0)
            slope = np.sum(powers / room, axis=0)
            busy = (total > 0) & (slope > 0) & np.isfinite(slope)
            excess = np.where(busy, total ** (1.0 / order) / goal - 1.0, 0.0)
            if np.all(np.abs(excess) < 1e-12):
                break
            mu = mu + np.divide(excess * total, slope, out=np.zeros_like(mu), where=busy)
        return n / np.maximum(r + mu, least)


def sphere_step(objective: Objective, index: int, F: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Columns of F one after the other, each at its best among all columns of its size.

    For a factor that has no penalty but L1 and L2 terms. Frobenius: the exact minimiser.
    Kullback-Leibler: that of the surrogate of the multiplicative step.
    """
    order = objective.loss.size_order
    view, norms = objective.views[index], objective.terms[index].norms
    sums = make_column_sums(view, objective.loss.row_problem or "none")
    F = np.array(F, order="C")
    goal = np.sum(F.astype(np.float64) ** order, axis=0) ** (1.0 / order)
    curvature = view.ones_times(B * B) if order == 2 else None
    for _ in range(SWEEPS):
        sums.begin(F, B)
        for k in range(F.shape[1]):
            above, below = sums.rows(k)
            f = F[:, k].astype(np.float64)
            if curvature is not None:
                n = above - below + curvature[:, k] * f - (0.5 * norms.l1 if norms else 0.0)
                r = curvature[:, k] + (norms.l2 if norms else 0.0)
            else:
                n = f * above
                r = below + (norms.l1 + 2 * norms.l2 * f if norms else 0.0)
            n = np.maximum(n, 0.0)[:, None]
            if n.any() and goal[k] > 0:
                r = np.array(r, dtype=np.float64)[:, None]
                F[:, k] = of_norm(n, r, goal[k : k + 1], order)[:, 0]
    return F
