"""The paper's penalty for its Euclidean measure."""

from __future__ import annotations

import numpy as np

from rprnmf.penalties.triplet import TripletPenalty


class TripletExponential(TripletPenalty):
    """exp(near) + exp(-far): pull r to q, push s away (eq. 1 of the paper).

    Beyond ``cap`` the exponential goes on as its tangent: exp(800) is no number.
    """

    cap = 30.0

    def phi(self, near, far):
        low = np.minimum(near, self.cap)
        return np.exp(low) * (1.0 + (near - low)) + np.exp(-far)

    def pull_push(self, near, far):
        return np.exp(np.minimum(near, self.cap)), np.exp(-far)
