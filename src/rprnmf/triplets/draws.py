"""Drawing triplets at random from a rule that says which of two points is nearer to a third."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

from rprnmf.triplets.pairs import distinct

MOST_ROUNDS = 20  # in a row that bring nothing new: then all there is has been found, nearly
LEAST, MOST = 1 << 12, 1 << 20  # triplets that are drawn at a time


def check_count(n_triplets: Any) -> int:
    """A whole number, at least 0."""
    if isinstance(n_triplets, bool) or not isinstance(n_triplets, Integral) or n_triplets < 0:
        raise ValueError(f"n_triplets must be a whole number, at least 0; got {n_triplets!r}.")
    return int(n_triplets)


def check_margin(margin: Any) -> float:
    """A finite number, at least 0."""
    if not isinstance(margin, Real) or not 0.0 <= float(margin) < np.inf:
        raise ValueError(f"margin must be a finite number, at least 0; got {margin!r}.")
    return float(margin)


def draw(
    n_points: int,
    n_triplets: int,
    gap: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    margin: float,
    rng: Any,
) -> np.ndarray:
    """Different triplets (q, r, s), drawn at random, for which r is nearer to q than s.

    Parameters
    ----------
    n_points, n_triplets : int
        Fewer are returned if twenty rounds of drawing, one after the other, bring no new one.
    gap : callable
        ``gap(q, r, s)`` is by how much s is further from q than r, for arrays of points.
    margin : float
        The gap must exceed it; 0: must be above 0.
    rng : RandomState

    Returns
    -------
    triplets : ndarray of shape (at most n_triplets, 3)
    """
    if n_points < 3:
        raise ValueError(f"triplets need at least three points, got {n_points}.")
    triplets = np.zeros((0, 3), dtype=np.int64)
    new_fraction, vain = 0.5, 0  # of those drawn that are new; rounds that brought nothing
    while len(triplets) < n_triplets and vain < MOST_ROUNDS:
        size = int(max((n_triplets - len(triplets)) / max(new_fraction, 1e-4), LEAST))
        size = min(size, MOST, 4 * n_points**3)
        q = rng.randint(0, n_points, size)
        r = (q + 1 + rng.randint(0, n_points - 1, size)) % n_points
        s = (q + 1 + rng.randint(0, n_points - 1, size)) % n_points
        other = r != s
        q, r, s = q[other], r[other], s[other]
        by = gap(q, r, s)
        r, s = np.where(by > 0, r, s), np.where(by > 0, s, r)
        found = np.column_stack((q, r, s))[np.abs(by) > margin]
        before = len(triplets)
        triplets = np.concatenate((triplets, found))
        triplets = triplets[np.sort(distinct(*triplets.T)[0])]
        new_fraction = (len(triplets) - before) / size
        vain = 0 if len(triplets) > before else vain + 1
    return triplets[:n_triplets]
