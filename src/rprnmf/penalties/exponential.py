"""The paper's penalty for its Euclidean measure."""

from __future__ import annotations

import numpy as np

from rprnmf.kernels.triplet import At
from rprnmf.penalties.triplet import TripletPenalty


class TripletExponential(TripletPenalty):
    """exp(near) + exp(-far): pull r to q, push s away (eq. 1 of the paper).

    Beyond ``cap`` the exponential continues as its tangent: exp(800) overflows.
    """

    needs_margin = False
    of_difference = False

    @staticmethod
    def point(near, far, shape):
        pull = np.exp(min(near, shape.cap))
        push = np.exp(-far)
        value = pull * (1.0 + (near - min(near, shape.cap))) + push
        return At(value, pull, push, pull if near < shape.cap else 0.0, push)
