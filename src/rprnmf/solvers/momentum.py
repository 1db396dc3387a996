"""Going on in the direction of the last moves, and going back where that was wrong.

After its own step each factor moves on by ``beta`` times its last change (Ang and Gillis).
An iteration that ends higher than the last accepted point is undone, so that the objective
never rises; ``beta`` then shrinks, and otherwise grows up to a cap that remembers where it
last failed.
"""

from __future__ import annotations

import numpy as np

GROWTH, CAP_GROWTH, SHRINK = 1.01, 1.005, 1.5


class Momentum:
    """How far to go on, and from where the last moves came.

    Parameters
    ----------
    first : float
        The first beta.
    """

    def __init__(self, first: float):
        self.beta, self.cap = first, 1.0
        self.last: tuple[np.ndarray, np.ndarray] | None = None

    def ahead(self, index: int, F: np.ndarray, now: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """The factor a part of its last move further on, not below zero.

        It takes the place of the factor that it counts from, unless that is one of ``now``:
        factors may be as large as the data, and one more of them is one too many.
        """
        if self.last is None:
            return F
        last = self.last[index]
        kept = any(last is factor for factor in (*now, F))
        ahead = np.subtract(F, last, out=None if kept else last)
        ahead *= F.dtype.type(self.beta)
        ahead += F
        return np.maximum(ahead, F.dtype.type(0), out=ahead)

    def accept(self, W: np.ndarray, Ht: np.ndarray) -> None:
        """The objective fell; the next moves count from here: W as its own step left it, H
        before its step. Both are used up then."""
        self.last = W, Ht
        self.beta = min(self.cap, GROWTH * self.beta)
        self.cap = min(1.0, CAP_GROWTH * self.cap)

    def reject(self) -> None:
        """The objective rose."""
        self.last = None
        self.cap = self.beta
        self.beta /= SHRINK
