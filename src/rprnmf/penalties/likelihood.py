"""Answers that may be wrong: each is right with a chance that grows with the distances."""

from __future__ import annotations

import numpy as np

from rprnmf.kernels.triplet import At, violation
from rprnmf.penalties.triplet import TripletPenalty


class TripletLikelihood(TripletPenalty):
    """-log of the chance of the answer, 1 / (1 + exp((near - far) / margin)).

    As the logistic penalty, but a tie counts as a chance of one half: nothing is asked for beyond
    that, and the chances can be trusted as such. The margin is the unit of the distances.
    """

    offset = 0.0

    @staticmethod
    def point(near, far, shape):
        u = violation(near, far, shape)
        small = np.exp(-abs(u))
        chance = (1.0 if u >= 0.0 else small) / (1.0 + small)  # 1 / (1 + exp(-u))
        pull = shape.slope * chance
        bend = shape.slope * shape.slope * chance * (1.0 - chance)
        return At(max(u, 0.0) + np.log1p(small), pull, pull, bend, bend)
