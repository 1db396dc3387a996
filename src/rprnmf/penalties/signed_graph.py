"""The shared mechanism: a graph that pulls along some edges and pushes along others.

An attracting edge (i, j) of weight w adds the gradient of w * distance(F_i, F_j), a
repelling one takes it away. GNMF is such a graph with fixed weights and no repelling
edge; a triplet (q, r, s) is the attracting edge q-r and the repelling edge q-s, with
weights that change with the factor. Hence one piece of code for both and for any sum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from rprnmf.penalties.pair_distance import PairDistance
from rprnmf.split import Split


class Edges(NamedTuple):
    """Pairs of rows with one non-negative weight each."""

    i: np.ndarray
    j: np.ndarray
    weight: np.ndarray


class SignedGraphPenalty(ABC):
    """A penalty on one factor whose gradient is that of a signed graph."""

    distance: PairDistance

    @abstractmethod
    def value(self, F: np.ndarray) -> float:
        """The penalty at F."""

    @abstractmethod
    def edges(self, F: np.ndarray) -> tuple[Edges, Edges]:
        """Attracting and repelling edges at F."""

    @property
    @abstractmethod
    def rows(self) -> np.ndarray:
        """The rows of the factor that the penalty touches."""

    def split(self, F: np.ndarray) -> Split:
        """The gradient at F, in two non-negative parts."""
        parts = Split(np.zeros_like(F), np.zeros_like(F))
        attract, repel = self.edges(F)
        self.add_split(F, attract, repel, parts)
        return parts

    def add_split(self, F: np.ndarray, attract: Edges, repel: Edges, parts: Split) -> None:
        """Add the split of given edges; F may be some columns of the factor alone."""
        self.distance.add_split(F, *attract, parts)
        self.distance.add_split(F, *repel, Split(parts.negative, parts.positive))
