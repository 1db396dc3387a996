"""L1 and L2 terms on the entries of a factor."""

from __future__ import annotations

import numpy as np

from rprnmf.remote import rows_where
from rprnmf.split import Split


class Norms:
    """sum_i l1_i |F_i|_1 + l2_i ||F_i||^2, with one weight of each kind per row."""

    def __init__(self, l1: np.ndarray, l2: np.ndarray):
        self.l1 = l1
        self.l2 = l2

    @property
    def rows(self) -> np.ndarray:
        """The rows of the factor that the penalty touches."""
        return rows_where((self.l1 > 0) | (self.l2 > 0))

    def value(self, F: np.ndarray) -> float:
        return float(self.l1 @ F.sum(axis=1) + self.l2 @ np.einsum("ik,ik->i", F, F))

    def split(self, F: np.ndarray) -> Split:
        l1, l2 = (part[:, None].astype(F.dtype) for part in (self.l1, self.l2))
        return Split(l1 + 2 * l2 * F, np.zeros_like(F))

    def gain(self, F: np.ndarray) -> np.ndarray:
        """The derivative in log c_k when column k of F is multiplied by c_k."""
        return self.l1 @ F + 2 * (self.l2 @ (F.astype(np.float64) ** 2))
