"""Penalties that end where the margin is kept."""

from __future__ import annotations

import numpy as np

from rprnmf.penalties.triplet import TripletPenalty


class TripletHinge(TripletPenalty):
    """max(u, 0), u = 1 + (near - far) / margin; the paper's (no margin) for its Divergence."""

    def phi(self, near, far):
        return np.maximum(self.violation(near, far), 0.0)

    def pull_push(self, near, far):
        # a tie is not satisfied, so it still pulls and pushes
        weight = self.slope * (self.violation(near, far) >= 0)
        return weight, weight


class TripletSquaredHinge(TripletPenalty):
    """max(u, 0)^2, u = 1 + (near - far) / margin: smooth, and exactly zero once met."""

    def phi(self, near, far):
        return np.maximum(self.violation(near, far), 0.0) ** 2

    def pull_push(self, near, far):
        weight = 2.0 * self.slope * np.maximum(self.violation(near, far), 0.0)
        return weight, weight
