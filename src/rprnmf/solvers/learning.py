"""Triplets that teach: the unit of distances that makes the answers most likely.

An answer is right with a chance that goes by its distances over the margin (penalties
`likelihood` and `ratio`). Beside a prior from features the margin is no wish but the unit of the
distances: answers and prior are weighed in it together, as

    mean of -log chance + share * prior / margin,

and it is chosen to make this sum least. So the scale of the factor stays that of the data
(`scale.py`), and components that carry answers carry data too. With a fixed margin the factor
would have to grow or shrink instead: on dishes compared by people that cost half of what the
factors explain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from rprnmf.objective import Look, SideTerms

FIRST = 0.3  # the margin to begin with, in units of sigma
LEAST, MOST = 1e-2, 3.0
# It is chosen anew every so many iterations until it stands still, at the latest then. Not in the
# first ones: before the answers have moved anything, no unit makes them likely.
EVERY, LAST = 5, 60
STILL = 0.02  # a change that is none


class LearnedMargin:
    """The margin of one side from one iteration to the next."""

    def __init__(self) -> None:
        self.margin = FIRST
        self.iteration = 0
        self.settled = False

    def state(self) -> dict[str, Any]:
        """All that later iterations depend on."""
        return {"margin": self.margin, "iteration": self.iteration, "settled": self.settled}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.margin, self.iteration = state["margin"], state["iteration"]
        self.settled = state["settled"]

    def choose(self, terms: SideTerms, look: Look) -> bool:
        """Choose the margin; tells whether it may still change."""
        if self.settled:
            return False
        if self.iteration > 0 and self.iteration % EVERY == 0:
            margin = likeliest_margin(terms, look)
            still = abs(margin - self.margin) <= STILL * self.margin
            self.settled = still or self.iteration >= LAST
            self.margin = margin
        self.iteration += 1
        return True


def likeliest_margin(terms: SideTerms, look: Look) -> float:
    """The margin that makes triplets and prior least, the factor as it is."""
    triplets = terms.triplets
    assert triplets is not None
    at_one = terms.prior_share * (triplets.margin or 1.0) * look.parts(terms)[2]

    def cost(log_margin: float) -> float:
        other = triplets.with_margin(float(np.exp(log_margin)))
        return other.value_at(look.near, look.far) + float(np.exp(-log_margin)) * at_one

    found = minimize_scalar(cost, bounds=(np.log(LEAST), np.log(MOST)), method="bounded")
    return float(np.exp(found.x))
