"""Features of incomplete data: which entries of a row were observed.

People rate what they know, and that says what they like. The features are the leading singular
vectors of the matrix of zeros and ones, its columns divided by a power of their counts and its rows
brought to length 1, so that popular items and busy users do not decide alone.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from rprnmf.priors.kernel import unit_rows

VECTORS = 80
POWER = 0.4  # of the columns' counts; chosen on ratings


class MaskFeatures:
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
        features = A @ self.vectors
        self.center = features.mean(axis=0)
        spread = np.mean(np.sum((features - self.center) ** 2, axis=1))
        self.unit = np.sqrt(spread) if spread > 0 else 1.0

    def weighted(self, mask: sp.csr_array) -> sp.csr_array:
        """Columns divided by a power of their counts, rows of length 1."""
        return unit_rows(sp.csr_array(mask @ sp.diags_array(self.column_weights)))

    def __call__(self, mask: sp.csr_array) -> np.ndarray:
        """One row of features per row of the mask."""
        return (self.weighted(mask) @ self.vectors - self.center) / self.unit
