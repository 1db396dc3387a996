"""Clicks and counts as a weighted factorisation.

    sum over clicks of c (1 - y)^2 + missing_weight * sum over the rest of busy_i y^2

where c grows with the count of a pair, and busy_i is the number of clicks of user i over the mean
of all users: what a busy user did not choose says more than what another did not. (Other powers of
it are worse: benchmarks/clicks_search.py.) Row i of X is multiplied by the root of busy_i and its
weights are divided by busy_i, which is the same loss with one weight for all that is missing.

With the divergence it is Poisson factorisation: c is the value of a click, nothing is weighed, and
pairs that did not happen count in full.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

# From so many clicks on a user speaks for themselves; those with fewer lean on the mean user.
ENOUGH_CLICKS = 10


def lacking(n_clicks: np.ndarray) -> np.ndarray:
    """What users lack of enough clicks: 1 without any, 0 with enough."""
    return np.maximum(1.0 - n_clicks / ENOUGH_CLICKS, 0.0)


@dataclass(frozen=True)
class Clicks:
    """How clicks are weighed.

    Attributes
    ----------
    mean : float
        Clicks of a user, in the mean of the fit.
    usual : float
        The count of a pair that has the weight 1, about.
    alike : bool
        Whether all counts of the fit are equal: then no count weighs more than another.
    poisson : bool
        Whether the loss is the divergence.
    """

    mean: float
    usual: float
    alike: bool
    poisson: bool

    @classmethod
    def of(cls, counts: sp.csr_array, beta_loss: str) -> Clicks:
        """Those of a fit; every user has some."""
        values, times = np.unique(counts.data, return_counts=True)
        return cls.of_counts(values, times, counts.shape[0], beta_loss)

    @classmethod
    def of_counts(
        cls, values: np.ndarray, times: np.ndarray, n_users: int, beta_loss: str
    ) -> Clicks:
        """The same from counts and how often each occurs."""
        order = np.argsort(values, kind="stable")
        last = np.cumsum(times[order])  # the median is the middle one, or between two
        middle = np.searchsorted(last, ((last[-1] - 1) // 2, last[-1] // 2), side="right")
        usual = float(values[order][middle].mean())
        alike = bool(values.min() == values.max())
        return cls(last[-1] / n_users, usual, alike, beta_loss == "kullback-leibler")

    def busy(self, n_clicks: np.ndarray) -> np.ndarray:
        """How much more than usual missing clicks of users say; 1 for users without clicks."""
        if self.poisson:
            return np.ones(len(n_clicks))
        return np.where(n_clicks > 0, np.maximum(n_clicks, 1.0) / self.mean, 1.0)

    def weighed(
        self, counts: sp.csr_array, busy: np.ndarray
    ) -> tuple[sp.csr_array, sp.csr_array | None]:
        """Values and weights; None: all have the weight 1.

        Parameters
        ----------
        counts : sparse array
        busy : ndarray of shape (n_stored,)
            Of the user of every stored count.
        """
        c = np.ones(counts.nnz)
        if not self.alike:
            c = 0.5 + 0.5 * np.log2(1.0 + counts.data / self.usual)
        values, weights = counts.copy(), counts.copy()
        if self.poisson:
            values.data = c.astype(counts.dtype)
            return values, None
        values.data = np.sqrt(busy).astype(counts.dtype)
        weights.data = (c / busy).astype(counts.dtype)
        return values, weights
