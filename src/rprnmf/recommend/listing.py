"""The order of lists: interest and predicted ratings, each in units of its spread.

    trust * (interest of the user in the item) / spread
        + RATING * (predicted rating less caution) / spread

A spread is the standard deviation over all items, for each user, so that neither the scale of
ratings nor that of interest matters. It follows from the covariance of the rows of items: there is
no table of users and items. That of ratings is at least a quarter of the error of the predictions:
where these hardly differ, what differs is noise, which must not order a list. The order is one of
products of rows still, which `top_n` finds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.recommend.interest import Interest
from rprnmf.recommend.stacked import ITEMS, USERS, mean_row
from rprnmf.recommend.top_n import top_n

# Chosen on training parts of MovieLens 100K and 1M; between a half and one lists are the same but
# for a hundredth.
RATING = 2 / 3
OF_ERROR = 0.25  # predicted ratings of users on MovieLens spread by about their error
LEAST = 1e-3  # a spread below so much of the scores themselves is rounding


class Place(NamedTuple):
    """What an item has on the list of a user, apart from the mean item of the list.

    Attributes
    ----------
    interest, rating : float
        Its parts; lists are in the order of their sum.
    trust : float
        What a spread of interest counts; one of predicted ratings counts `RATING`.
    """

    interest: float
    rating: float
    trust: float


class Spread:
    """The mean and the standard deviation of the scores of a user over all items.

    Parameters
    ----------
    H : ndarray of shape (n_items, n_components)
    """

    def __init__(self, H: np.ndarray):
        self.mean = H.mean(axis=0, dtype=np.float64)
        apart = H.astype(np.float64) - self.mean
        self.covariance = apart.T @ apart / max(len(H), 1)

    def of(self, W: np.ndarray) -> np.ndarray:
        """The standard deviation for each row of users; never 0."""
        W = W.astype(np.float64)
        variance = np.maximum(np.einsum("ik,ik->i", W @ self.covariance, W), 0.0)
        least = LEAST * np.sqrt(variance + (W @ self.mean) ** 2)
        found = np.maximum(np.sqrt(variance), least)
        return np.where(found > 0, found, 1.0)


class Listing:
    """What orders lists.

    Parameters
    ----------
    interest : Interest
    scored : ndarray of shape (n_items, n_columns)
        Rows of items whose products are the predictions.
    errors : ndarray of shape (n_items,)
        Standard errors, of which caution takes some off the predictions.
    error : float
        That of one prediction.
    """

    def __init__(self, interest: Interest, scored: np.ndarray, errors: np.ndarray, error: float):
        self.least = OF_ERROR * error
        self.interest, self.trust = interest, interest.trust
        self.users = interest.model.factor(USERS)
        self.stranger = mean_row(interest.model, USERS)
        items = interest.model.factor(ITEMS)
        self.spreads = Spread(items), Spread(scored)
        columns = items, scored, -errors[:, None]
        # by columns, as products of few users want it
        self.items = np.ascontiguousarray(np.hstack(columns, dtype=scored.dtype).T).T

    def rows(self, interest: np.ndarray, scored: np.ndarray, caution: float) -> np.ndarray:
        """Rows of users whose products with ``items`` order their lists.

        Parameters
        ----------
        interest : ndarray of shape (n_users, n_components)
        scored : ndarray of shape (n_users, n_columns)
            Whose products are the predictions.
        caution : float
        """
        of_interest = self.trust / self.spreads[0].of(interest)[:, None]
        of_ratings = RATING / np.maximum(self.spreads[1].of(scored), self.least)[:, None]
        parts = of_interest * interest, of_ratings * scored, of_ratings * caution
        return np.hstack(parts).astype(self.items.dtype)

    def lists(
        self,
        interest: np.ndarray,
        scored: np.ndarray,
        caution: float,
        n: int,
        seen: sp.csr_array | None,
        allowed: np.ndarray | None,
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Positions of the first items for each user, and their predictions; see `rows`, `top_n`.

        The predictions are not in falling order.
        """
        best, _ = top_n(self.rows(interest, scored, caution), self.items, n, seen, allowed)
        first = interest.shape[1]
        H = self.items[:, first : first + scored.shape[1]]
        places = [row[row >= 0] for row in best]
        return [
            (chosen, (H[chosen] @ w).astype(np.float64))
            for chosen, w in zip(places, scored, strict=True)
        ]

    def place(self, interest: np.ndarray, scored: np.ndarray, j: int) -> Place:
        """The parts of item j on the list of one user, without caution."""
        row = self.rows(interest[None, :], scored[None, :], 0.0)[0].astype(np.float64)
        both = row * (self.items[j] - self.items.mean(axis=0, dtype=np.float64))
        K = len(interest)
        return Place(float(both[:K].sum()), float(both[K:].sum()), self.trust)


def by_rating(
    W: np.ndarray,
    H: np.ndarray,
    doubt: np.ndarray | None,
    n: int,
    seen: sp.csr_array | None,
    allowed: np.ndarray | None,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The same by predictions alone, less the doubt about each item."""
    if doubt is not None:
        W = np.column_stack((W, np.full(len(W), -1.0, dtype=W.dtype)))
        H = np.column_stack((H, doubt))
    found = []
    for row, scores in zip(*top_n(W, H, n, seen, allowed), strict=True):
        there = row >= 0
        values = scores[there].astype(np.float64)
        found.append((row[there], values if doubt is None else values + doubt[row[there]]))
    return found
