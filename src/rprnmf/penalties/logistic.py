"""The penalty of ordinal embedding: never zero, ever smaller."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from rprnmf.penalties.triplet import TripletPenalty


class TripletLogistic(TripletPenalty):
    """log(1 + exp(u)), u = 1 + (near - far) / margin."""

    def phi(self, near, far):
        return np.logaddexp(0.0, self.violation(near, far))

    def pull_push(self, near, far):
        weight = self.slope * expit(self.violation(near, far))
        return weight, weight
