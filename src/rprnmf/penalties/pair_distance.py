"""How far apart two rows of a factor are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from rprnmf.kernels import distances, pairs
from rprnmf.kernels.distances import Divergence, Euclidean
from rprnmf.split import Split


class PairDistance(ABC):
    """A distance between rows i and j of a factor, and the parts of its gradient."""

    #: the distance of c * F is c ** degree times that of F
    degree: int
    #: what it travels to the kernels as
    tag: type
    #: whether it changes smoothly where an entry becomes zero
    smooth_at_zero: bool
    #: what replaces zeros, for distances that take logarithms
    floor = 0.0

    def values(self, F: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Distances of the pairs, float64."""
        out = np.empty(len(i))
        distances.distances(self.tagged, F, i, j, out)
        return out

    @cached_property
    def tagged(self) -> Any:
        """As the kernels want it."""
        return self.tag(self.floor)

    @classmethod
    def with_floor(cls, floor: float) -> PairDistance:
        """The distance; ``floor`` is used by those that take logarithms."""
        return cls()

    @abstractmethod
    def add_split(
        self, F: np.ndarray, i: np.ndarray, j: np.ndarray, weight: np.ndarray, parts: Split
    ) -> None:
        """Add to ``parts`` the split of sum_t weight_t * distance(F_i, F_j)."""

    @abstractmethod
    def gain(self, F: np.ndarray, i: np.ndarray, j: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The derivative of that sum in log c_k when column k of F is multiplied by c_k."""


class SquaredEuclidean(PairDistance):
    """E(x, y) = ||x - y||^2."""

    degree = 2
    tag = Euclidean
    smooth_at_zero = True

    def add_split(self, F, i, j, weight, parts):
        pairs.euclidean_split(F, i, j, weight, parts.positive, parts.negative)

    def gain(self, F, i, j, weight):
        out = np.zeros(F.shape[1])
        pairs.euclidean_gain(F, i, j, weight, out)
        return out


class SymmetricDivergence(PairDistance):
    """SD(x, y) = 1/2 sum (x - y) log(x / y).

    Parameters
    ----------
    floor : float
        Smaller entries are replaced by it in logarithms and denominators.
    """

    degree = 1
    tag = Divergence
    smooth_at_zero = False

    def __init__(self, floor: float = float(np.finfo(np.float64).eps)):
        self.floor = floor

    @classmethod
    def with_floor(cls, floor):
        return cls(floor)

    def add_split(self, F, i, j, weight, parts):
        pairs.divergence_split(F, i, j, weight, self.floor, parts.positive, parts.negative)

    def gain(self, F, i, j, weight):
        out = np.zeros(F.shape[1])
        pairs.divergence_gain(F, i, j, weight, self.floor, out)
        return out


DISTANCES: dict[str, type[PairDistance]] = {
    "euclidean": SquaredEuclidean,
    "divergence": SymmetricDivergence,
}
