"""What a user gives on average to what they chose to rate, and what an item gets.

People rate what they expect to like, so that their mean rating is above what they would give to
any item. For an item with few ratings, or none, that is worth knowing: its prediction leans on the
mean rating of the user, by a share a that falls to 0 as its ratings become enough. So do the
predictions for users with few ratings on the mean ratings of items, by a share b:

    (1 - a) (1 - b) <w, h> + a (1 - b) mean of the user + b mean of the item

It is a product of rows still: [(1-b) w, (1-b) mean, b] and [(1-a) h, a, mean]. How large the shares
of rows without ratings are is learned from those with ratings, as if they had none: where metadata
tell much of a row there is little to lean on (`leaning.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

# Which items a row rated is a good guide where there are many ratings, and a poor one where there
# are next to none. From so many ratings on a row speaks for itself.
ENOUGH = 10
# A comparison that names a row tells about as much of it as so many ratings: tried on films of
# MovieLens 1M without ratings, after 3, 10 and 30 comparisons.
COMPARISON = 1 / 3
MOST_TAKEN = 0.9  # of a rating by what is usual, so that what is left can be told
DAMPED = 5.0  # a mean counts as if the mean of all had been given so many times beside it


Pair = tuple[np.ndarray, np.ndarray]
NONE = np.zeros((0, 3), dtype=np.int64)


def share_of(counts: np.ndarray) -> np.ndarray:
    """How far rows with so many ratings have enough of them: 0 to 1."""
    return np.minimum(counts / ENOUGH, 1.0)


def lean_of(counts: np.ndarray, most: float) -> np.ndarray:
    """How much the predictions of rows with so many ratings lean on usual ratings."""
    return most * (1.0 - share_of(counts)) ** 2


@dataclass(frozen=True)
class Usual:
    """Mean ratings.

    Attributes
    ----------
    overall : float
        Of all ratings.
    means : (ndarray of shape (n_users,), ndarray of shape (n_items,))
    told : (ndarray of shape (n_users,), ndarray of shape (n_items,))
        How much is told of each, in numbers of ratings: comparisons count too.
    most : (float, float)
        The lean of users and items without ratings.
    """

    overall: float
    means: tuple[np.ndarray, np.ndarray]
    told: tuple[np.ndarray, np.ndarray]
    most: tuple[float, float]

    @classmethod
    def of(cls, X: sp.csr_array, most: tuple[float, float], triplets: Pair = (NONE, NONE)) -> Usual:
        """Those of a matrix of ratings, users by items; triplets by position."""
        overall = float(X.data.mean(dtype=np.float64))
        lengths = np.diff(X.indptr)
        places = np.repeat(np.arange(X.shape[0]), lengths), X.indices
        counts = lengths, np.bincount(X.indices, minlength=X.shape[1])
        users, items = (
            np.bincount(place, weights=X.data, minlength=n)
            for place, n in zip(places, X.shape, strict=True)
        )
        return cls.of_sums(overall, counts, (users, items), most, triplets)

    @classmethod
    def of_sums(
        cls, overall: float, counts: Pair, sums: Pair, most: tuple[float, float], triplets: Pair
    ) -> Usual:
        """The same from the numbers and sums of the ratings of users and items."""
        users, items = (damped(*both, overall) for both in zip(sums, counts, strict=True))
        told = [
            count + COMPARISON * np.bincount(named.ravel(), minlength=len(count))
            for count, named in zip(counts, triplets, strict=True)
        ]
        return cls(overall, (users, items), (told[0], told[1]), most)

    def beside(self, side: int, F: np.ndarray) -> np.ndarray:
        """Rows of the users (0) or items (1) with the two columns that usual ratings need."""
        return beside(side, F, self.means[side], self.leans(side, self.told[side]))

    def leans(self, side: int, told: np.ndarray) -> np.ndarray:
        """The lean of users (0) or items (1) of which so much is told."""
        return lean_of(told, self.most[side])

    def one_beside(self, side: int, row: np.ndarray, ratings: np.ndarray) -> np.ndarray:
        """The same for one row that is not among them, by its own ratings."""
        count = np.array([len(ratings)])
        mean = damped(np.array([ratings.sum()]), count, self.overall)
        return beside(side, row[None, :], mean, self.leans(side, count))[0]

    def apart(
        self, side: int, rows: sp.csr_array, places: np.ndarray | None = None
    ) -> sp.csr_array:
        """The ratings of some rows, at these places, less what usual ratings tell of them.

        It is what the product of the factors must give: that few others lean too is left out.
        """
        lengths = np.diff(rows.indptr)
        told = lengths if places is None else self.told[side][places]
        lean = np.minimum(np.repeat(self.leans(side, told), lengths), MOST_TAKEN)
        if not lean.any():
            return rows
        found = rows.copy()
        usual = self.means[1 - side][rows.indices]
        found.data = ((rows.data - lean * usual) / (1.0 - lean)).astype(rows.dtype)
        return found


def damped(sums: np.ndarray, counts: np.ndarray, overall: float) -> np.ndarray:
    """Means, drawn to the mean of all."""
    return (sums + DAMPED * overall) / (counts + DAMPED)


def beside(side: int, F: np.ndarray, means: np.ndarray, lean: np.ndarray) -> np.ndarray:
    """Rows of a factor, less by their lean, and two columns: the mean and the lean."""
    left = 1.0 - lean
    two = (left * means, lean) if side == 0 else (lean, means)
    return np.column_stack((left[:, None] * F, *two)).astype(F.dtype)
