"""Penalties that end where the margin is kept."""

from __future__ import annotations

from rprnmf.kernels.triplet import At, violation
from rprnmf.penalties.triplet import TripletPenalty


class TripletHinge(TripletPenalty):
    """max(u, 0), u = 1 + (near - far) / margin; the paper's (no margin) for its Divergence."""

    ends_at_margin = True
    smooth = False

    @staticmethod
    def point(near, far, shape):
        u = violation(near, far, shape)
        pull = shape.slope if u >= 0.0 else 0.0  # a tie is not satisfied: it still pulls
        return At(max(u, 0.0), pull, pull, 0.0, 0.0)


class TripletSquaredHinge(TripletPenalty):
    """max(u, 0)^2, u = 1 + (near - far) / margin: smooth, and exactly zero once met."""

    ends_at_margin = True

    @staticmethod
    def point(near, far, shape):
        u = max(violation(near, far, shape), 0.0)
        pull = 2.0 * shape.slope * u
        bend = 2.0 * shape.slope * shape.slope if u > 0.0 else 0.0
        return At(u * u, pull, pull, bend, bend)
