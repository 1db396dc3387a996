"""Going on in the direction of the last moves, and going back where that was wrong.

After its own step each factor moves on by ``beta`` times its last change (Ang and Gillis).
An iteration that ends higher than the last accepted point is undone, so that the objective
never rises, and ``beta`` shrinks. Otherwise ``beta`` grows, up to a cap that remembers where it
last failed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.solvers.recording import like

# As Ang and Gillis: beta and its cap grow slowly, for each failure costs an iteration.
GROWTH, CAP_GROWTH, SHRINK = 1.01, 1.005, 1.5


class Momentum:
    """How far to move on, and where the last moves began.

    Parameters
    ----------
    first : float
        The first beta.
    """

    def __init__(self, first: float):
        self.beta, self.cap = first, 1.0
        self.last: tuple[np.ndarray, np.ndarray] | None = None

    def state(self) -> dict[str, Any]:
        """All that later iterations depend on."""
        return {"beta": self.beta, "cap": self.cap, "last": self.last}

    def restore(self, state: dict[str, Any], factors: tuple[np.ndarray, np.ndarray]) -> None:
        """Go on from a state, at these factors."""
        self.beta, self.cap, self.last = state["beta"], state["cap"], None
        if state["last"] is not None:
            W, Ht = state["last"]
            self.last = like(W, factors[0]), like(Ht, factors[1])

    def ahead(self, index: int, F: np.ndarray) -> np.ndarray:
        """A new factor, a part of the last move further on, not below zero."""
        if self.last is None:
            return F
        ahead = F - self.last[index]
        ahead *= F.dtype.type(self.beta)
        ahead += F
        return np.maximum(ahead, F.dtype.type(0), out=ahead)

    def count_from(self, W: np.ndarray, Ht: np.ndarray) -> None:
        """The next moves count from here: W as its own step left it, H before its step."""
        self.last = W, Ht

    def forget(self) -> None:
        """The next iteration goes without momentum."""
        self.last = None

    def accept(self) -> None:
        """The objective fell."""
        self.beta = min(self.cap, GROWTH * self.beta)
        self.cap = min(1.0, CAP_GROWTH * self.cap)

    def reject(self) -> None:
        """The objective rose."""
        self.forget()
        self.cap = self.beta
        self.beta /= SHRINK
