"""One triplet: what a penalty says of it.

A penalty is one compiled function ``point(near, far, shape) -> At`` of the two distances of a
triplet, in units of sigma. It is written once, in `penalties/`; kernels and numpy code call it.
"""

from __future__ import annotations

from typing import NamedTuple

from rprnmf.kernels import kernel, part


class Shape(NamedTuple):
    """The numbers that a penalty depends on."""

    offset: float  # of the violation: 1 with a margin, 0 without
    slope: float  # of the violation: 1 / margin, 1 without a margin
    cap: float  # beyond this distance an exponential goes on as its tangent


class At(NamedTuple):
    """A penalty at one triplet: its value and its derivatives."""

    value: float
    pull: float  # d value / d near, not negative
    push: float  # -d value / d far, not negative
    near_near: float  # second derivatives; their matrix has no negative eigenvalue
    near_far: float
    far_far: float


@part
def violation(near, far, shape):
    """u = 1 + (near - far) / margin: 0 where the margin is kept, 1 on a tie."""
    return shape.offset + (near - far) * shape.slope


@kernel
def values(point, shape, near, far, out):
    """The penalty of every triplet."""
    for t in range(near.shape[0]):
        out[t] = point(near[t], far[t], shape).value


@kernel
def forces(point, shape, near, far, pull, push):
    """What every triplet pulls its near pair together by, and pushes its far pair apart by."""
    for t in range(near.shape[0]):
        at = point(near[t], far[t], shape)
        pull[t] = at.pull
        push[t] = at.push
