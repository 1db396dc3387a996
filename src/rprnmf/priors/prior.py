"""A prior from features: every row is pulled to what its features predict.

    sum_i c_i ||f_i - m_i||^2 + ridge ||B||^2,   m_i = phi_i B + b

at the B and b that make it least: a ridge regression of the factor on the features, which has
a solution in closed form. So the term is a function of the factor alone. With B and b held
fixed it is never smaller, and touches it where they were fitted: a step that lowers the sum with
fixed means lowers the term too. That is all the solvers need, and nothing couples the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as la

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
        """The same prior, so many times as strong."""
        return Prior(self.features, factor * self.weights, factor * self.ridge, self.given)

    @property
    def rows(self) -> np.ndarray:
        """The rows of the factor that the term touches."""
        return np.flatnonzero(self.weights > 0)

    def coefficients(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """B, of shape (n_features, K), and b."""
        if self.given is not None:
            return self.given
        F = F.astype(np.float64, copy=False)
        mean = self.share @ F
        if self.factored is None:
            return np.zeros((0, F.shape[1])), mean
        pulled = self.weights[:, None] * (F - mean)
        B = la.cho_solve(self.factored, np.asarray(self.features.T @ pulled))
        return B, mean - self.center @ B

    def means(self, F: np.ndarray) -> np.ndarray:
        """What the features predict, for every row."""
        B, b = self.coefficients(F)
        return np.asarray(self.features @ B) + b

    def pull(self, F: np.ndarray) -> np.ndarray:
        """c_i m_i, for every row."""
        return self.weights[:, None] * self.means(F)

    def _per_component(self, F: np.ndarray) -> np.ndarray:
        B, b = self.coefficients(F)
        apart = F[: len(self.weights)] - (np.asarray(self.features @ B) + b)
        fitted = 0.0 if self.given is not None else self.ridge * np.einsum("rk,rk->k", B, B)
        return np.einsum("i,ik,ik->k", self.weights, apart, apart) + fitted

    def value(self, F: np.ndarray) -> float:
        return float(self._per_component(F).sum())

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
