"""A neighbour graph with fixed weights, as in GNMF."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rprnmf.penalties.pair_distance import SquaredEuclidean
from rprnmf.penalties.signed_graph import Edges, SignedGraphPenalty


class Graph(SignedGraphPenalty):
    """Tr(F' L F) = the sum over edges of S_ij ||F_i - F_j||^2, with L = D - S.

    Parameters
    ----------
    S : sparse array of shape (n_rows, n_rows)
        Symmetric, non-negative; the diagonal has no effect.
    """

    def __init__(self, S: sp.csr_array):
        upper = sp.coo_array(sp.triu(S, k=1))
        i, j = (np.ascontiguousarray(index, dtype=np.int64) for index in upper.coords)
        self.attract = Edges(i, j, upper.data.astype(np.float64))
        none = np.zeros(0, dtype=np.int64)
        self.repel = Edges(none, none, np.zeros(0))
        self.distance = SquaredEuclidean()

    @property
    def rows(self) -> np.ndarray:
        return np.unique(np.concatenate((self.attract.i, self.attract.j)))

    def value(self, F: np.ndarray) -> float:
        i, j, weight = self.attract
        return float(weight @ self.distance.values(F, i, j))

    def edges(self, F: np.ndarray) -> tuple[Edges, Edges]:
        return self.attract, self.repel

    def gain(self, F: np.ndarray) -> np.ndarray:
        """The derivative in log c_k when column k of F is multiplied by c_k."""
        return self.distance.gain(F, *self.attract)
