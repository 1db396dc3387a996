"""Answers that may be wrong: the chance of each goes by the ratio of its distances."""

from __future__ import annotations

import numpy as np

from rprnmf.kernels.triplet import At
from rprnmf.penalties.triplet import TripletPenalty

FLOOR = 0.1  # what is added to distances, in units of the margin: nobody tells apart less


class TripletRatio(TripletPenalty):
    """-log of the chance of the answer, far / (near + far).

    A distance d counts as d / margin + 0.1. People who compare by ratios take ten miles beside
    eleven for a tie, and one beside two not; and an answer that is far out costs little more than
    one that is just wrong. The chance is that of the crowd kernel (Tamuz et al., 2011).
    """

    of_difference = False
    exact_curvature = False
    floor = FLOOR

    @staticmethod
    def point(near, far, shape):
        a, b = near * shape.slope + FLOOR, far * shape.slope + FLOOR
        pull = shape.slope / (a + b)
        push = shape.slope / b - pull
        # concave in near: a step takes it for straight
        return At(np.log((a + b) / b), pull, push, 0.0, push * (push + 2.0 * pull))

    @staticmethod
    def log_odds(near, far, margin):
        return np.log((far + FLOOR * margin) / (near + FLOOR * margin))
