"""`strength="auto"`: as strong as it must be, and no stronger.

A strength that is "auto" starts weak, so that the factors first find their shape from the data.
It grows by a tenth per iteration, up to a cap, while some triplet keeps less than half of its
margin. Once all triplets are met, but some with less than half of the margin, it grows a few
times more and then stops. It is never lowered: triplets that were met by force would be lost
again.

It does not grow in the first iteration, nor while the loss still falls fast. Otherwise triplets
would shape factors that the data have not shaped yet, from a poor start such as uniform factors
with the Kullback-Leibler loss.

Triplets that no strength can meet must not drive it. Of two opposite triplets the lighter one is
ignored (both, if they weigh the same). And the strength stops growing for good when the number of
triplets with less than half of their margin has not fallen for a while.
"""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Look, Objective, SideTerms
from rprnmf.penalties import TripletPenalty
from rprnmf.triplets.pairs import questions

FIRST, CAP = 1e-3, 1.0  # the first strength and the largest; 1 weighs as much as all of the data
FACTOR = 1.1  # by which a raise multiplies it
PATIENCE = 25  # raises without one more triplet at half of its margin: ten times the strength
MET = 5  # the same once all triplets are met: half as strong again (1.1^5 = 1.6)
FAST = 0.05  # a loss that falls by this fraction in an iteration falls fast
LONGEST = 25  # iterations that it waits in all while the loss falls fast


class Ramp:
    """The strength of one side from one iteration to the next."""

    def __init__(self, terms: SideTerms, triplets: TripletPenalty, patience: int):
        self.triplets = triplets
        self.waited_for = ~opposed(triplets)
        self.fewest = np.inf
        self.vain = 0
        self.patience = patience
        # a strength counts in units of all of X; what matters are the rows that triplets name
        self.cap = CAP * terms.size_of_named
        self.strength = FIRST / FACTOR * terms.size_of_named

    def rise(self, near: np.ndarray, far: np.ndarray) -> bool:
        """Raise the strength if it must be; tells whether it was."""
        if self.strength >= self.cap or self.vain >= self.patience:
            return False
        tight = self.waited_for & (far - near < 0.5 * (self.triplets.margin or 0.0))
        count = int(np.sum(tight))
        if count == 0 or (self.vain >= MET and np.all(near[tight] < far[tight])):
            return False
        self.vain = 0 if count < self.fewest else self.vain + 1
        self.fewest = min(self.fewest, count)
        self.strength = min(self.cap, FACTOR * self.strength)
        return True


class Ramps:
    """The automatic strengths of both sides; ``patience`` as in `PATIENCE`."""

    def __init__(self, objective: Objective, patience: int = PATIENCE):
        self.given = objective.strengths
        self.sides = {
            index: Ramp(terms, terms.triplets, patience)
            for index, terms in enumerate(objective.terms)
            if terms.automatic and terms.triplets is not None and index in objective.moving
        }
        self.loss = np.inf
        self.waits = LONGEST

    @property
    def strengths(self) -> tuple[float, float]:
        """The strengths of both sides."""
        rows, columns = (
            self.sides[index].strength if index in self.sides else self.given[index]
            for index in (0, 1)
        )
        return rows, columns

    def rise(self, looks: tuple[Look, ...], loss: float | None = None) -> bool:
        """Raise what must be raised; tells whether anything was, or still may be.

        ``looks`` are the terms of the moving sides at the factors, and ``loss`` is the loss
        there. With None it does not wait for the loss to fall.
        """
        if self.sides and loss is not None and self.waits > 0:
            fast = loss < (1.0 - FAST) * self.loss
            self.loss = loss
            if fast:
                self.waits -= 1
                return True
        raised = [  # a list, so that each side has its turn
            ramp.rise(looks[index].near, looks[index].far) for index, ramp in self.sides.items()
        ]
        return any(raised)


def opposed(triplets: TripletPenalty) -> np.ndarray:
    """Which triplets (q, r, s) have an opposite (q, s, r) that weighs as much or more."""
    answer = questions(np.column_stack((triplets.q, triplets.r, triplets.s)))
    weight = np.bincount(answer, triplets.weight, answer.max(initial=0) + 2)
    return weight[answer ^ 1] >= weight[answer]
