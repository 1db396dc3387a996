"""What a learned factor is not sure of: a Gaussian around every row.

An answer is right with the chance 1 / (1 + exp(u)), where u, its gap, is (near - far) / unit, or
the logarithm of near / far where chances go by ratios. Around the factor of a fit u is linear in
the rows q, r and s, with gradients g, and every answer makes them more certain
(Laplace's approximation, row by row):

    precision of a row = that of the prior and of X + sum over its answers of p (1 - p) g g'

Entries that are zero stay there, for factors are not negative: what cannot move is certain. That
alike rows move together is left out: to keep it, for all entries at once, costs the cube of
their number, and chose no better questions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from rprnmf.triplets.triplets import Triplets


class Belief(NamedTuple):
    """What a fit whose answers teach knows about one factor before the answers.

    Attributes
    ----------
    unit : float
        Of squared distances: of a gap of 1, if gaps are differences.
    precision : ndarray of shape (n_rows,)
        1 / variance of the entries of each row under the prior.
    data : ndarray of shape (n_components, n_components)
        What X adds to the precision of a row.
    floor : float or None
        What is added to distances whose ratio decides; None: their difference does.
    """

    unit: float
    precision: np.ndarray
    data: np.ndarray
    floor: float | None = None


class Questions:
    """Questions about a factor: their gaps, and how these change with the rows.

    Parameters
    ----------
    factor : ndarray of shape (n_rows, n_components)
    belief : Belief
    items : ndarray of shape (n_questions, 3)

    Attributes
    ----------
    gaps : ndarray of shape (n_questions,)
    total : ndarray of shape (n_questions,)
        What the noise of answers grows with: near + far, or nothing where ratios decide.
    slopes : ndarray of shape (n_questions, 3, n_components)
        Gradients of the gap in the rows q, r and s.
    """

    def __init__(self, factor: np.ndarray, belief: Belief, items: np.ndarray):
        self.items = items
        q, r, s = factor[items.T]
        near, far = np.sum((q - r) ** 2, axis=1), np.sum((q - s) ** 2, axis=1)
        if belief.floor is None:
            self.gaps, self.total = (near - far) / belief.unit, (near + far) / belief.unit
            pull = push = np.full(len(items), 1.0 / belief.unit)
        else:
            near, far = near + belief.floor, far + belief.floor
            self.gaps, self.total = np.log(near / far), np.ones(len(items))
            pull, push = 1.0 / near, 1.0 / far
        nearer, farther = pull[:, None] * (q - r), push[:, None] * (q - s)
        self.slopes = 2.0 * np.stack((nearer - farther, -nearer, farther), axis=1)
        self.slopes[factor[items] <= 0.0] = 0.0

    def information(self, weights: np.ndarray) -> np.ndarray:
        """p (1 - p) of every answer, so many times."""
        chance = expit(self.gaps)
        return weights * chance * (1.0 - chance)


class RowPosterior:
    """The uncertainty of rows of a factor.

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
        self.place = np.full(len(factor), -1)
        self.place[rows] = np.arange(len(rows))
        precision = belief.precision[rows, None, None] * np.eye(factor.shape[1]) + belief.data
        told = known.take((self.place[known.items] >= 0).any(axis=1))
        if told.n_triplets:
            asked = Questions(factor, belief, told.items)
            information = asked.information(told.weights / known.weights.mean())
            precision += self.squares(asked, information)
        self.covariance = np.linalg.inv(precision)

    def squares(self, asked: Questions, weights: np.ndarray) -> np.ndarray:
        """The weighted sum of g g' over the slopes of each row that is wanted."""
        K = asked.slopes.shape[-1]
        flat, each = asked.slopes.reshape(-1, K), np.repeat(weights, 3)
        total = np.zeros((int(self.place.max()) + 1, K, K))
        for row, places in places_by_row(self.place[asked.items]):
            g = flat[places]
            total[row] = (each[places, None] * g).T @ g
        return total

    def variances(self, asked: Questions) -> np.ndarray:
        """Of the gaps."""
        flat = asked.slopes.reshape(-1, asked.slopes.shape[-1])
        found = np.empty(asked.items.size)
        for row, places in places_by_row(self.place[asked.items]):
            g = flat[places]
            found[places] = np.einsum("tk,tk->t", g @ self.covariance[row], g)
        return found.reshape(-1, 3).sum(axis=1)


def places_by_row(items: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Every row with its places in the flat list of items; -1 is no row."""
    flat = items.ravel()
    order = np.argsort(flat, kind="stable")
    rows, first = np.unique(flat[order], return_index=True)
    found = zip(rows.tolist(), np.split(order, first[1:]), strict=True)
    return [(row, places) for row, places in found if row >= 0]
