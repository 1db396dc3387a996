"""Features of incomplete data: which entries of a row were observed.

People rate what they know, and that says what they like. The features are the leading singular
vectors of the matrix of zeros and ones, its columns divided by a power of their counts and its rows
brought to length 1, so that popular items and busy users do not decide alone.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from rprnmf.priors.kernel import Centred, unit_rows

VECTORS = 80
POWER = 0.4  # of the columns' counts; chosen on ratings


class MaskFeatures(Centred):
    """Maps rows of ones where an entry is observed to features.

    Parameters
    ----------
    mask : sparse array of shape (n_rows, n_columns)
        Ones and zeros.
    """

    def __init__(self, mask: sp.csr_array):
        counts = np.maximum(np.asarray(mask.sum(axis=0)).ravel(), 1.0)
        self.column_weights = counts**-POWER
        A = self.weighted(mask)
        # a fixed seed: the same features for the same data
        self.vectors = randomized_svd(A, min(VECTORS, *A.shape), random_state=0)[2].T
        self.centre(A @ self.vectors)

    @classmethod
    def with_weights(cls, column_weights: np.ndarray) -> MaskFeatures:
        """With given weights of the columns; the vectors are found elsewhere."""
        found = cls.__new__(cls)
        found.column_weights = column_weights
        return found

    def raw(self, mask: sp.csr_array) -> np.ndarray:
        """The features before they are centred."""
        return self.weighted(mask) @ self.vectors

    @property
    def width_of_features(self) -> int:
        """How many there are."""
        return int(self.vectors.shape[1])

    def weighted(self, mask: sp.csr_array) -> sp.csr_array:
        """Columns divided by a power of their counts, rows of length 1."""
        return unit_rows(sp.csr_array(mask @ sp.diags_array(self.column_weights)))

    def __call__(self, mask: sp.csr_array) -> np.ndarray:
        """One row of features per row of the mask."""
        return (self.raw(mask) - self.center) / self.unit
