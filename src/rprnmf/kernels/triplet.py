"""One triplet: what a penalty says of it.

A penalty is one function ``point(near, far, shape) -> At`` of the two distances of a triplet, in
units of sigma. It is written once, in `penalties/`; kernels and numpy code call it by
`penalty_at`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rprnmf.kernels import kernel, part
from rprnmf.kernels.pluggable import by_class


class Shape(NamedTuple):
    """The numbers that a penalty depends on; every penalty has a class of its own for them."""

    offset: float  # of the violation: 1 with a margin, 0 without
    slope: float  # of the violation: 1 / margin, 1 without a margin
    cap: float  # beyond this distance an exponential continues as its tangent


class At(NamedTuple):
    """A penalty at one triplet: its value and its derivatives."""

    value: float
    pull: float  # d value / d near, not negative
    push: float  # -d value / d far, not negative
    # Second derivatives, not negative. The mixed one is not asked for: it is -near_near for a
    # penalty of near - far alone, and counts as 0 for others.
    near_near: float
    far_far: float


@part
def violation(near, far, shape):
    """u = 1 + (near - far) / margin: 0 where the margin is kept, 1 on a tie."""
    return shape.offset + (near - far) * shape.slope


def penalty_at(near: float, far: float, shape: Any) -> At:
    """The penalty to which the shape belongs, at one triplet."""
    return type(shape).point(near, far, shape)


@by_class(penalty_at)
def _penalty_at(near, far, shape):
    return shape.instance_class.point


@kernel
def values(shape, near, far, out):
    """The penalty of every triplet."""
    for t in range(near.shape[0]):
        out[t] = penalty_at(near[t], far[t], shape).value


@kernel
def forces(shape, near, far, pull, push):
    """What every triplet pulls its near pair together by, and pushes its far pair apart by."""
    for t in range(near.shape[0]):
        at = penalty_at(near[t], far[t], shape)
        pull[t] = at.pull
        push[t] = at.push
