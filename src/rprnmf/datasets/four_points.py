"""Four points of the kind of the paper's Figure 2."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from rprnmf.triplets import Triplets


def load_four_points() -> Bunch:
    """Four points in three dimensions, and the comparisons that hold among them.

    The points are made up; the paper's own are not published. They have the property that its
    Figure 2 describes: point 2 is closer to point 4 than point 3 is, and GNMF turns that round.

    Returns
    -------
    bunch : Bunch
        ``data``: ndarray of shape (3, 4), one point per column; ``column_triplets``: all
        comparisons of two distances with a common point, as they are in three dimensions;
        ``DESCR``.

    Examples
    --------
    >>> from rprnmf.datasets import load_four_points
    >>> load_four_points().column_triplets
    Triplets(12 triplets by index)
    """
    points = np.array([[1.1, 1.0, 0.3], [1.0, 0.3, 0.7], [0.8, 0.4, 0.5], [0.6, 0.2, 1.0]])
    rows = []
    for q in range(4):
        for r in range(4):
            for s in range(4):
                if len({q, r, s}) == 3:
                    near, far = (np.linalg.norm(points[q] - points[p]) for p in (r, s))
                    if near < far:
                        rows.append((q, r, s))
    return Bunch(
        data=points.T,
        column_triplets=Triplets(rows),
        DESCR="Illustrative points in the manner of Figure 2 of the paper.",
    )
