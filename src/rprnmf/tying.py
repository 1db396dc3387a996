"""Labels as in LCNMF: the members of a label share one row of the factor."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


class Tying:
    """Rows of a factor that are kept equal.

    Parameters
    ----------
    groups : ndarray of shape (n_rows,)
        Number of the group of each row, 0 .. n_groups - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.tying import Tying
    >>> Tying(np.array([0, 1, 0])).sum(np.array([[1.0], [2.0], [3.0]])).ravel()
    array([4., 2., 4.])
    """

    def __init__(self, groups: np.ndarray):
        n = len(groups)
        self.groups = groups
        self.sizes = np.bincount(groups)
        self._members = sp.csr_array(
            (np.ones(n), (groups, np.arange(n))), shape=(len(self.sizes), n)
        )

    def total(self, A):
        """One row per group: the sum over its members; for dense and sparse A."""
        return (self._members @ A).astype(A.dtype, copy=False)

    def sum(self, A: np.ndarray) -> np.ndarray:
        """Each row becomes the sum over its group."""
        return self.total(A)[self.groups]

    def mean(self, A: np.ndarray) -> np.ndarray:
        """Each row becomes the mean over its group."""
        sizes = self.sizes[self.groups].astype(A.dtype)
        return self.sum(A) / (sizes[:, None] if A.ndim == 2 else sizes)
