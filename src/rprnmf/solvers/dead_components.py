"""Components that died: a new direction for them.

Where one factor carries the scale, a component whose column of it becomes zero loses its column
of the other factor too (`scale.py`), and no step would ever bring it back. From starts whose
columns are nearly parallel, such as uniform ones, some components die in the first steps, and
the fit would end as one with fewer components.

The column of the factor without penalties may be anything while its partner is zero: the
objective does not change. It gets the direction in which some point is approximated worst, and
the partner's next step takes from it what lowers the objective.
"""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Objective

POINTS = 64  # among so many, evenly spaced, the worst are looked for: all would cost a step
ATTEMPTS = 10  # per fit: a component that dies again and again is not needed


class DeadComponents:
    """Finds dead components and gives them a direction.

    Attributes
    ----------
    free : {0, 1}
        The side whose factor has no penalties.
    """

    def __init__(self, objective: Objective):
        scale, self.objective = objective.scale, objective
        self.free = 0 if scale.fixed(0) else 1  # the factor whose columns have size 1
        terms = objective.terms[self.free]
        allowed = scale.fixed(0) != scale.fixed(1) and terms.norms is None and terms.prior is None
        self.left = ATTEMPTS if allowed else 0

    def __call__(self, factors: tuple[np.ndarray, np.ndarray]) -> np.ndarray | None:
        """The free factor with new columns where both were zero; None if there is none."""
        if self.left == 0:
            return None
        B, F = factors[self.free], factors[1 - self.free]
        dead = np.flatnonzero(~F.any(axis=0))
        if len(dead) == 0:
            return None
        self.left -= 1
        residuals = self.worst(F, B, len(dead))
        if residuals.shape[1] == 0:
            return None
        B = B.copy()
        B[:, dead[: residuals.shape[1]]] = residuals
        return B

    def worst(self, F: np.ndarray, B: np.ndarray, count: int) -> np.ndarray:
        """What the model lacks at the points that it approximates worst, as columns of size 1."""
        n = len(F)
        points = np.unique(np.linspace(0, n - 1, min(n, POINTS)).astype(np.int64))
        view = self.objective.views[1 - self.free].take(points).T
        each = np.eye(len(points), dtype=B.dtype)
        observed = view.ones_times(each)
        missing = np.maximum(view.times(each) - observed * (B @ F[points].T), 0)
        sizes = self.objective.loss.column_sizes(missing)
        best = np.argsort(-sizes, kind="stable")[:count]
        best = best[sizes[best] > 0]
        return (missing[:, best] / sizes[best]).astype(B.dtype)
