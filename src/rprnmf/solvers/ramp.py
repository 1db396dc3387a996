"""`strength="auto"`: as strong as it must be, and no stronger.

A side whose strength is "auto" starts weak, so that the factorisation finds its shape from
the data, and grows by a tenth per iteration while some triplet keeps less than half of its
margin, up to a cap; where all are met, if with less, a few raises more must do. It is never
lowered: triplets met by force would be lost again. While the
loss still falls fast it waits: from a poor start, such as uniform factors with the
Kullback-Leibler loss, triplets would else shape what the data have not shaped yet. The first
iteration, of which nothing is known, is waited for too.

Triplets that no strength can meet must not drive it: of two opposite ones the lighter (both,
if they weigh the same) is not waited for, and the strength stops growing for good when the
number of triplets without half of their margin has not fallen for a while.
"""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Look, Objective, SideTerms
from rprnmf.penalties import TripletPenalty
from rprnmf.triplets.pairs import questions

FIRST, FACTOR, CAP = 1e-3, 1.1, 1.0
PATIENCE = 25  # raises (a factor of ten) without a triplet gained
MET = 5  # such raises where all triplets are met, if with less than half of the margin
FAST, LONGEST = 0.05, 25  # a share of the loss, and in how many iterations it is waited for


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
    """The automatic strengths of both sides; ``patience`` is in raises without a triplet gained."""

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
        """Those of both sides."""
        rows, columns = (
            self.sides[index].strength if index in self.sides else self.given[index]
            for index in (0, 1)
        )
        return rows, columns

    def rise(self, looks: tuple[Look, ...], loss: float | None = None) -> bool:
        """Raise what must be raised; tells whether anything was, or still may be.

        ``looks`` are the terms of the moving sides at the factors, ``loss`` is that there; with
        None nothing is waited for.
        """
        if self.sides and loss is not None and self.waits > 0:
            fast = loss < (1.0 - FAST) * self.loss
            self.loss = loss
            if fast:
                self.waits -= 1
                return True
        raised = [  # every side's turn
            ramp.rise(looks[index].near, looks[index].far) for index, ramp in self.sides.items()
        ]
        return any(raised)


def opposed(triplets: TripletPenalty) -> np.ndarray:
    """Which triplets (q, r, s) have an opposite (q, s, r) that weighs as much or more."""
    answer = questions(np.column_stack((triplets.q, triplets.r, triplets.s)))
    weight = np.bincount(answer, triplets.weight, answer.max(initial=0) + 2)
    return weight[answer ^ 1] >= weight[answer]
