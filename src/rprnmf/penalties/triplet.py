"""What all triplet penalties share: distances, their unit, the weighted mean."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np

from rprnmf.kernels import pairs
from rprnmf.penalties.pair_distance import PairDistance
from rprnmf.penalties.signed_graph import Edges, SignedGraphPenalty
from rprnmf.triplets.pairs import Pairs, numbered_pairs


class TripletPenalty(SignedGraphPenalty):
    """The weighted mean over triplets (q, r, s) of phi(near, far).

    near and far are the distances q-r and q-s in units of ``sigma``.

    Parameters
    ----------
    triplets : ndarray of shape (n_triplets, 3)
    weight : ndarray of shape (n_triplets,)
    distance : PairDistance
    sigma : float
        The distance that counts as 1.
    margin : float or None
        By how much far should exceed near; used by the penalties with a margin.
    """

    def __init__(
        self,
        triplets: np.ndarray,
        weight: np.ndarray,
        distance: PairDistance,
        sigma: float = 1.0,
        margin: float | None = None,
    ):
        self.q, self.r, self.s = np.ascontiguousarray(triplets.T, dtype=np.int64)
        self.share = weight / weight.sum()
        self.distance = distance
        self.sigma = sigma
        self.margin = margin

    @abstractmethod
    def phi(self, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        """The penalty of each triplet."""

    @abstractmethod
    def pull_push(self, near: np.ndarray, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """d phi / d near and -d phi / d far; both are never negative."""

    @property
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
        """Distances q-r and q-s in units of sigma."""
        return self.of_triplets(self.apart(F))

    def of_triplets(self, apart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distances q-r and q-s from those of the pairs."""
        return apart[self.near], apart[self.far]

    def value(self, F: np.ndarray) -> float:
        return self.value_at(*self.near_far(F))

    def value_at(self, near: np.ndarray, far: np.ndarray) -> float:
        """The penalty for distances already at hand."""
        return float(self.share @ self.phi(near, far))

    def edges(self, F: np.ndarray) -> tuple[Edges, Edges]:
        return self.edges_at(*self.near_far(F))

    def edges_at(self, near: np.ndarray, far: np.ndarray) -> tuple[Edges, Edges]:
        """Attracting and repelling edges for distances already at hand."""
        pull, push = self.pull_push(near, far)
        scale = self.share / self.sigma
        return Edges(self.q, self.r, scale * pull), Edges(self.q, self.s, scale * push)

    def gain(self, F: np.ndarray, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        """The derivative in log c_k when column k of F grows by c_k."""
        pull, push = self.pull_push(near, far)
        tension = np.zeros(len(self.pairs[0]))
        pairs.tensions(self.near, self.far, self.share, pull, push, tension)
        return self.distance.gain(F, *self.pairs, tension / self.sigma)

    def satisfied_rate(self, F: np.ndarray) -> float:
        """The share of triplets that hold, by count as in the paper."""
        near, far = self.near_far(F)
        return float(np.mean(near < far))

    def violation(self, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        """u = 1 + (near - far) / margin: 0 where the margin is kept, 1 on a tie.

        Without a margin u = near - far, as in the paper.
        """
        if self.margin is None:
            return near - far
        return 1.0 + (near - far) / self.margin

    @property
    def slope(self) -> float:
        """d u / d near."""
        return 1.0 if self.margin is None else 1.0 / self.margin
