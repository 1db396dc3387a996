"""`strength="auto"`: as strong as it must be, and no stronger.

A side whose strength is "auto" starts weak, so that the factorisation finds its shape from
the data, and grows by a tenth an iteration while some triplet keeps less than half of its
margin, up to a cap. It is never lowered: triplets met by force would be lost again.
"""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Objective

FIRST, FACTOR, CAP = 1e-3, 1.1, 1.0


class Ramps:
    """The strengths of both sides from one iteration to the next."""

    def __init__(self, objective: Objective):
        self.sides = [
            (index, terms)
            for index, terms in enumerate(objective.terms)
            if terms.automatic and terms.triplets is not None
        ]
        for _, terms in self.sides:
            terms.strength = FIRST / FACTOR

    def raise_strengths(self, W: np.ndarray, Ht: np.ndarray) -> bool:
        """Raise what must be raised; tells whether anything was."""
        rising = False
        for index, terms in self.sides:
            if terms.strength < CAP and terms.tight((W, Ht)[index]):
                terms.strength = min(CAP, FACTOR * terms.strength)
                rising = True
        return rising
