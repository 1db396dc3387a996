"""What all triplet penalties share: distances, their unit, the weighted mean."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import numpy as np

from rprnmf.kernels import pairs, triplet
from rprnmf.kernels.pluggable import tagged
from rprnmf.kernels.triplet import Shape
from rprnmf.penalties.pair_distance import PairDistance
from rprnmf.penalties.signed_graph import Edges, SignedGraphPenalty
from rprnmf.triplets.pairs import Pairs, numbered_pairs


class TripletPenalty(SignedGraphPenalty):
    """The weighted mean over triplets (q, r, s) of a penalty of their two distances.

    A subclass is a function ``point`` and what solvers may know of it. ``point(near, far, shape)``
    gets the distances q-r and q-s in units of ``sigma``, as plain numbers, and returns an `At`:
    the value and its derivatives. It is compiled into whatever calls it, the kernels too, so it may
    use what numba compiles: numbers, ``if``, functions of numpy.

    Parameters
    ----------
    triplets : ndarray of shape (n_triplets, 3)
    weight : ndarray of shape (n_triplets,)
    distance : PairDistance
    sigma : float
        The distance that counts as 1.
    margin : float or None
        By how much far should exceed near; None: by nothing, as in the paper.
    cap : float
        The distance beyond which an exponential continues as its tangent.
    """

    #: the function of one triplet
    point: Any
    #: what it travels to the kernels as
    shape_class: Any
    _is_checked: bool
    #: whether the margin has a meaning for it
    needs_margin = True
    #: whether value and slope are zero where the margin is kept
    ends_at_margin = False
    #: whether its slope is continuous
    smooth = True
    #: what a tie is violated by, with a margin
    offset = 1.0
    #: whether it depends on near - far alone
    of_difference = True
    #: whether the second derivatives that `point` returns are its own; else they are at least that
    exact_curvature = True
    #: where chances go by ratios: what is added to distances, in units of the margin
    floor: float | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "point" in cls.__dict__:
            cls.shape_class = tagged(Shape, cls, cls.point)
            cls.shape_class.point = staticmethod(cls.point)

    def __init__(
        self,
        triplets: np.ndarray,
        weight: np.ndarray,
        distance: PairDistance,
        sigma: float = 1.0,
        margin: float | None = None,
        cap: float = 30.0,
    ):
        self.q, self.r, self.s = np.ascontiguousarray(triplets.T, dtype=np.int64)
        self.weight = weight / weight.sum()
        self.distance = distance
        self.sigma = sigma
        self.margin = margin
        offset, slope = (0.0, 1.0) if margin is None else (self.offset, 1.0 / margin)
        self.shape = self.shape_class(offset, slope, cap)
        self._check_compiled()

    def with_margin(self, margin: float) -> TripletPenalty:
        """The same triplets with another margin."""
        other = copy.copy(self)
        other.margin = margin
        other.shape = self.shape_class(self.shape.offset, 1.0 / margin, self.shape.cap)
        return other

    def _check_compiled(self) -> None:
        """Refuse to run another penalty: numba 0.60 confuses named tuples of the same fields."""
        if "_is_checked" in type(self).__dict__ or not len(self.q):
            return  # nothing is compiled where there is no triplet
        near, far = np.array([0.3, 1.1, 0.7]), np.array([0.9, 0.2, 0.8])
        plain = [self.point(*pair, self.shape).value for pair in zip(near, far, strict=True)]
        if not np.allclose(self.values(near, far), plain):
            raise RuntimeError(
                f"the compiled {type(self).__name__} is not what its `point` says; "
                "rprnmf needs numba 0.61 or later."
            )
        type(self)._is_checked = True

    @staticmethod
    def log_odds(near: np.ndarray, far: np.ndarray, margin: float) -> np.ndarray:
        """The logarithm of the odds of an answer with these distances, in one unit with margin."""
        return (far - near) / margin

    @cached_property
    def rows(self) -> np.ndarray:
        return np.unique(np.concatenate((self.q, self.r, self.s)))

    @cached_property
    def _pairs(self) -> Pairs:
        return numbered_pairs(np.column_stack((self.q, self.r, self.s)))

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """The pairs of rows that triplets compare, each once."""
        return self._pairs.first, self._pairs.second

    @property
    def near(self) -> np.ndarray:
        """The number of the pair q-r of each triplet."""
        return self._pairs.near

    @property
    def far(self) -> np.ndarray:
        """The number of the pair q-s of each triplet."""
        return self._pairs.far

    def apart(self, F: np.ndarray) -> np.ndarray:
        """The distances of the pairs in units of sigma."""
        return self.distance.values(F, *self.pairs) / self.sigma

    def near_far(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distances q-r and q-s of each triplet, in units of sigma."""
        return self.of_triplets(self.apart(F))

    def of_triplets(self, apart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distances q-r and q-s of each triplet, from the distances of the pairs."""
        return apart[self.near], apart[self.far]

    def values(self, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        """The penalty of each triplet."""
        out = np.empty(len(near))
        triplet.values(self.shape, near, far, out)
        return out

    def pull_push(self, near: np.ndarray, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The derivative by near and minus that by far, of each triplet; none is negative."""
        pull, push = np.empty((2, len(near)))
        triplet.forces(self.shape, near, far, pull, push)
        return pull, push

    def value(self, F: np.ndarray) -> float:
        return self.value_at(*self.near_far(F))

    def value_at(self, near: np.ndarray, far: np.ndarray) -> float:
        """The penalty for distances already at hand."""
        return float(self.weight @ self.values(near, far))

    def edges(self, F: np.ndarray) -> tuple[Edges, Edges]:
        return self.edges_at(*self.near_far(F))

    def edges_at(self, near: np.ndarray, far: np.ndarray) -> tuple[Edges, Edges]:
        """Attracting and repelling edges for distances already at hand."""
        pull, push = self.pull_push(near, far)
        scale = self.weight / self.sigma
        return Edges(self.q, self.r, scale * pull), Edges(self.q, self.s, scale * push)

    def gain(self, F: np.ndarray, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        """The derivative in log c_k when column k of F is multiplied by c_k."""
        pull, push = self.pull_push(near, far)
        tension = np.zeros(len(self.pairs[0]))
        pairs.tensions(self.near, self.far, self.weight, pull, push, tension)
        return self.distance.gain(F, *self.pairs, tension / self.sigma)

    def satisfied_rate(self, F: np.ndarray) -> float:
        """The fraction of triplets that hold, each counted once, whatever its weight."""
        near, far = self.near_far(F)
        return float(np.mean(near < far))
