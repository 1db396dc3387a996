"""A prior from features: every row is pulled to what its features predict.

    sum_i c_i ||f_i - m_i||^2 + ridge ||B||^2,   m_i = phi_i B + b

at the B and b that make it least: a ridge regression of the factor on the features, which has
a solution in closed form. So the term is a function of the factor alone. With B and b held
fixed it is never smaller, and touches it where they were fitted: a step that lowers the sum with
fixed means lowers the term too. That is all the solvers need, and nothing couples the rows.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.linalg as la

from rprnmf.remote import rows_where
from rprnmf.split import Split


class Prior:
    """The term of one factor.

    Parameters
    ----------
    features : {ndarray, sparse array} of shape (n_rows, n_features)
        With no columns, rows are pulled to their weighted mean.
    weights : ndarray of shape (n_rows,)
        How strongly each row is pulled.
    ridge : float
        Of the regression, positive.
    coefficients : tuple of ndarray (B, b) or None
        Given for new rows: the regression is then not done again.
    """

    def __init__(
        self,
        features: Any,
        weights: np.ndarray,
        ridge: float,
        coefficients: tuple[np.ndarray, np.ndarray] | None = None,
    ):
        self.features, self.weights, self.ridge = features, weights, ridge
        self.given = coefficients
        self.factor = 1.0  # weights and ridge over those whose Gram matrix was factored
        if coefficients is None:
            total = weights.sum()
            self.share = weights / total if total > 0 else weights
            self.center = np.asarray(features.T @ self.share).ravel()
            gram = features.T @ (features * weights[:, None])
            gram = np.asarray(gram.todense() if hasattr(gram, "todense") else gram)
            gram = gram - total * np.outer(self.center, self.center)
            gram[np.diag_indices_from(gram)] += ridge
            self.factored = la.cho_factor(gram) if len(gram) else None

    def times(self, factor: float) -> Prior:
        """The same prior, so many times as strong; its regression is the same."""
        other = copy.copy(self)
        other.weights, other.ridge = factor * self.weights, factor * self.ridge
        other.factor = factor * self.factor
        return other

    @property
    def rows(self) -> np.ndarray:
        """The rows of the factor that the term touches."""
        return rows_where(self.weights > 0)

    def coefficients(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """B, of shape (n_features, K), and b."""
        if self.given is not None:
            return self.given
        mean, _, slope = self._centred(F)
        B = self._solve(slope)
        return B, mean - self.center @ B

    def _centred(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The mean row, the rows apart from it, and features' * weights * these."""
        F = F.astype(np.float64, copy=False)
        mean = self.share @ F
        apart = F - mean
        return mean, apart, np.asarray(self.features.T @ (self.weights[:, None] * apart))

    def _solve(self, slope: np.ndarray) -> np.ndarray:
        """The coefficients B."""
        if self.factored is None or self.factor == 0:
            return np.zeros(slope.shape)
        return la.cho_solve(self.factored, slope / self.factor, check_finite=False)

    def means(self, F: np.ndarray) -> np.ndarray:
        """What the features predict, for every row."""
        B, b = self.coefficients(F)
        return self.features @ B + b

    def pull(self, F: np.ndarray) -> np.ndarray:
        """c_i m_i, for every row."""
        return self.weights[:, None] * self.means(F)

    def value(self, F: np.ndarray) -> float:
        if self.given is not None:
            apart = F[: len(self.weights)] - self.means(F)
            return float(np.einsum("i,ik,ik->", self.weights, apart, apart))
        # what a ridge regression leaves: all there is, less what its coefficients explain
        _, apart, slope = self._centred(F)
        explained = np.einsum("rk,rk->", slope, self._solve(slope))
        return float(np.einsum("i,ik,ik->", self.weights, apart, apart) - explained)

    def split(self, F: np.ndarray) -> Split:
        n = len(self.weights)
        M, twice = self.means(F), 2.0 * self.weights[:, None]
        positive, negative = np.zeros_like(F), np.zeros_like(F)
        positive[:n] = twice * (F[:n] + np.maximum(-M, 0.0))
        negative[:n] = twice * np.maximum(M, 0.0)
        return Split(positive, negative)

    def gain(self, F: np.ndarray) -> np.ndarray:
        """The derivative in log c_k when column k of F is multiplied by c_k."""
        n = len(self.weights)
        apart = F[:n] - self.means(F)
        return 2.0 * np.einsum("i,ik,ik->k", self.weights, apart, F[:n], dtype=np.float64)
