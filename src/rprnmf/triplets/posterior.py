"""What a learned factor is not sure of: a Gaussian around every row.

An answer is right with the chance 1 / (1 + exp(u)), u = (near - far) / unit. Around the factor of
a fit u is linear in the rows q, r and s, with gradients g, and every answer makes a row more
certain (Laplace's approximation, row by row):

    precision of row i = what the prior holds it with * I + sum over its answers of p (1 - p) g g'

Entries that are zero stay there, for factors are not negative: what cannot move is certain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from rprnmf.triplets.triplets import Triplets


class Belief(NamedTuple):
    """What a fit whose answers teach knows about one factor.

    Attributes
    ----------
    unit : float
        The difference of squared distances at which the odds of an answer are e to 1.
    precision : ndarray of shape (n_rows,)
        How firmly the prior holds each row: 1 / variance of each of its entries.
    """

    unit: float
    precision: np.ndarray


class RowPosterior:
    """The uncertainty of the rows of a factor.

    Parameters
    ----------
    factor : ndarray of shape (n_rows, n_components)
    belief : Belief
    known : Triplets
        The answers of the fit, by position.
    rows : ndarray of shape (n_wanted,)
        The rows whose uncertainty is wanted; of very many, few are asked about.

    Attributes
    ----------
    covariance : ndarray of shape (n_wanted, n_components, n_components)
    place : ndarray of shape (n_rows,)
        Where a row stands among those wanted; -1 is nowhere.
    """

    def __init__(self, factor: np.ndarray, belief: Belief, known: Triplets, rows: np.ndarray):
        self.factor = np.asarray(factor, dtype=np.float64)
        self.unit = belief.unit
        self.place = np.full(len(factor), -1)
        self.place[rows] = np.arange(len(rows))
        precision = belief.precision[rows, None, None] * np.eye(self.factor.shape[1])
        told = known.take((self.place[known.items] >= 0).any(axis=1))
        if told.n_triplets:
            chance = expit(self.gaps(told.items))
            votes = told.weights / known.weights.mean()
            information = votes * chance * (1.0 - chance)
            where = self.place[told.items]
            precision += sums_of_squares(where, self.slopes(told.items), information, len(rows))
        self.covariance = np.linalg.inv(precision)

    def gaps(self, items: np.ndarray) -> np.ndarray:
        """near - far of each question, in units of the answers."""
        near, far = self.distances(items)
        return (near - far) / self.unit

    def distances(self, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Squared distances q-r and q-s of each question."""
        q, r, s = self.factor[items.T]
        return np.sum((q - r) ** 2, axis=1), np.sum((q - s) ** 2, axis=1)

    def slopes(self, items: np.ndarray) -> np.ndarray:
        """Gradients of the gap in the rows q, r and s, of shape (n_questions, 3, n_components)."""
        q, r, s = self.factor[items.T]
        slopes = np.stack((s - r, r - q, q - s), axis=1) * (2.0 / self.unit)
        slopes[self.factor[items] <= 0.0] = 0.0
        return slopes

    def variances(self, items: np.ndarray) -> np.ndarray:
        """Of the gap of each question about rows that are wanted."""
        slopes = self.slopes(items)
        flat, found = slopes.reshape(-1, slopes.shape[-1]), np.empty(items.size)
        for row, places in places_by_row(self.place[items]):
            g = flat[places]
            found[places] = np.einsum("tk,tk->t", g @ self.covariance[row], g)
        return found.reshape(-1, 3).sum(axis=1)


def sums_of_squares(
    items: np.ndarray, slopes: np.ndarray, weight: np.ndarray, n: int
) -> np.ndarray:
    """The weighted sum of g g' over the slopes of each of n rows."""
    K = slopes.shape[-1]
    flat, each = slopes.reshape(-1, K), np.repeat(weight, 3)
    total = np.zeros((n, K, K))
    for row, places in places_by_row(items):
        g = flat[places]
        total[row] = (each[places, None] * g).T @ g
    return total


def places_by_row(items: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Every row with its places in the flat list of items; -1 is no row."""
    flat = items.ravel()
    order = np.argsort(flat, kind="stable")
    rows, first = np.unique(flat[order], return_index=True)
    found = zip(rows.tolist(), np.split(order, first[1:]), strict=True)
    return [(row, places) for row, places in found if row >= 0]
