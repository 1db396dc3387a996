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
ignored (both, if they weigh the same). When the number of triplets with less than half of their
margin has not fallen for a while, only triplets that contradict no others, and are not met at all,
are waited for: for these it goes on, faster and beyond the usual cap, unless the factors have lost
half of what they explain of the data. A fit that ends with such triplets says so in a warning.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from rprnmf.objective import Look, Objective, SideTerms
from rprnmf.penalties import TripletPenalty
from rprnmf.solvers.learning import LearnedMargin
from rprnmf.triplets.pairs import in_contradiction, questions

FIRST, CAP = 1e-3, 1.0  # the first strength and the largest; 1 weighs as much as all of the data
FACTOR = 1.1  # by which a raise multiplies it
# For triplets that must be possible: one of many weighs little in the mean of their penalties, and
# a divergence is small beside the sum of X that strengths count in.
FASTER, FARTHEST = 1.25, 1e5
PATIENCE = 25  # raises without one more triplet at half of its margin: ten times the strength
MET = 5  # the same once all triplets are met: half as strong again (1.1^5 = 1.6)
FAST = 0.05  # a loss that falls by this fraction in an iteration falls fast
LONGEST = 25  # iterations that it waits in all while the loss falls fast
GIVEN_UP = 0.5  # of what the factors explain beyond the mean entry, for triplets at any price


class Ramp:
    """The strength of one side from one iteration to the next."""

    def __init__(self, terms: SideTerms, triplets: TripletPenalty, patience: int):
        self.triplets = triplets
        items = np.column_stack((triplets.q, triplets.r, triplets.s))
        self.waited_for = ~opposed(items, triplets.weight)
        self.consistent = ~in_contradiction(items, items)
        self.fewest = np.inf
        self.vain = 0
        self.patience = patience
        # a strength counts in units of all of X; what matters are the rows that triplets name
        self.cap = CAP * terms.size_of_named
        self.strength = FIRST / FACTOR * terms.size_of_named

    def state(self) -> dict[str, Any]:
        """All that later iterations depend on."""
        return {"fewest": self.fewest, "vain": self.vain, "strength": self.strength}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.fewest, self.vain = state["fewest"], state["vain"]
        self.strength = state["strength"]

    def rise(self, near: np.ndarray, far: np.ndarray, affordable: Callable[[], bool]) -> bool:
        """Raise the strength if it must be; tells whether it was.

        ``affordable`` tells whether the data can bear more than the usual strength.
        """
        tight = self.waited_for & (far - near < 0.5 * (self.triplets.margin or 0.0))
        count = int(np.sum(tight))
        if count == 0 or (self.vain >= MET and np.all(near[tight] < far[tight])):
            return False
        factor, cap = FACTOR, self.cap
        if self.strength >= self.cap or self.vain >= self.patience:
            possible = np.any(self.consistent & (near >= far)) and affordable()
            if not possible:
                return False
            factor, cap = FASTER, FARTHEST * self.cap
        if self.strength >= cap:
            return False
        self.vain = 0 if count < self.fewest else self.vain + 1
        self.fewest = min(self.fewest, count)
        self.strength = min(cap, factor * self.strength)
        return True


class Ramps:
    """The automatic strengths of both sides; ``patience`` as in `PATIENCE`."""

    def __init__(self, objective: Objective, patience: int = PATIENCE):
        self.given = objective.strengths
        self.sides = {
            index: Ramp(terms, terms.triplets, patience)
            for index, terms in enumerate(objective.terms)
            if terms.automatic
            and terms.triplets is not None
            and index in objective.moving
            and not terms.learning
        }
        self.learned = {
            index: LearnedMargin()
            for index, terms in enumerate(objective.terms)
            if terms.learning and index in objective.moving
        }
        self.loss = np.inf
        self.waits = LONGEST
        self.objective = objective
        self.first_loss: float | None = None  # before any raise

    def state(self) -> dict[str, Any]:
        """All that later iterations depend on."""
        return {
            "loss": self.loss,
            "waits": self.waits,
            "first_loss": self.first_loss,
            "sides": {str(index): ramp.state() for index, ramp in self.sides.items()},
            "learned": {str(index): margin.state() for index, margin in self.learned.items()},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.loss, self.waits = state["loss"], state["waits"]
        self.first_loss = state["first_loss"]
        for index, ramp in self.sides.items():
            ramp.restore(state["sides"][str(index)])
        for index, margin in self.learned.items():
            margin.restore(state["learned"][str(index)])

    @property
    def strengths(self) -> tuple[float, float]:
        """The strengths of both sides."""
        rows, columns = (
            self.sides[index].strength if index in self.sides else self.given[index]
            for index in (0, 1)
        )
        return rows, columns

    def apply(self, objective: Objective) -> Objective:
        """An objective with these strengths and margins."""
        rows, columns = (
            self.learned[index].margin if index in self.learned else None for index in (0, 1)
        )
        return objective.at_strengths(self.strengths, (rows, columns))

    def rise(self, looks: tuple[Look, ...], loss: float | None = None) -> bool:
        """Raise what must be raised; tells whether anything was, or still may be.

        ``looks`` are the terms of the moving sides at the factors, and ``loss`` is the loss
        there. With None it does not wait for the loss to fall.
        """
        terms = self.objective.terms
        changing = [  # a list, so that each side has its turn
            learned.choose(terms[index], looks[index]) for index, learned in self.learned.items()
        ]
        if self.sides and loss is not None and self.waits > 0:
            fast = loss < (1.0 - FAST) * self.loss
            self.loss = loss
            if fast:
                self.waits -= 1
                return True
        if self.first_loss is None:
            self.first_loss = loss
        raised = [  # a list, so that each side has its turn
            ramp.rise(looks[index].near, looks[index].far, lambda: self.affordable(loss))
            for index, ramp in self.sides.items()
        ]
        return any(raised) or any(changing)

    def affordable(self, loss: float | None) -> bool:
        """Whether the factors still explain enough of the data."""
        if loss is None or self.first_loss is None:
            return True
        return loss <= self.first_loss + GIVEN_UP * max(self.flat_loss - self.first_loss, 0.0)

    @cached_property
    def flat_loss(self) -> float:
        """The loss of the model that has the mean entry everywhere."""
        view = self.objective.problem.view
        W, Ht = (np.full((n, 1), np.sqrt(view.mean), view.dtype) for n in view.shape)
        return float(self.objective.loss.value(view, W, Ht))


def opposed(items: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Which triplets (q, r, s) have an opposite (q, s, r) that weighs as much or more."""
    answer = questions(items)
    weight = np.bincount(answer, weights, answer.max(initial=0) + 2)
    return weight[answer ^ 1] >= weight[answer]
