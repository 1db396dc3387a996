"""The penalty of ordinal embedding: never zero, ever smaller."""

from __future__ import annotations

import numpy as np

from rprnmf.kernels.triplet import At, violation
from rprnmf.penalties.triplet import TripletPenalty


class TripletLogistic(TripletPenalty):
    """log(1 + exp(u)), u = 1 + (near - far) / margin."""

    @staticmethod
    def point(near, far, shape):
        u = violation(near, far, shape)
        small = np.exp(-abs(u))
        chance = (1.0 if u >= 0.0 else small) / (1.0 + small)  # 1 / (1 + exp(-u))
        pull = shape.slope * chance
        bend = shape.slope * shape.slope * chance * (1.0 - chance)
        return At(max(u, 0.0) + np.log1p(small), pull, pull, bend, bend)
