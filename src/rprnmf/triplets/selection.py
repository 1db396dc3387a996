"""Which questions teach a learned factor most: a batch, one after the other.

The model is to be right about questions of some kind (targets), that is about the sign of their
near - far. A sign may turn where this gap is small beside its uncertainty, so each target counts
with the density of its gap at zero. An answer makes the three rows that it names more certain, the
more so the less it is noise; the one is chosen that lessens the variance of the counted gaps
most. Then its rows are as certain as that answer would make them, and the next one is chosen:
so a batch does not ask the same thing many times.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from rprnmf.triplets.posterior import RowPosterior, places_by_row, sums_of_squares

# People tell far things apart less well: the noise of an answer grows with this power of the sum
# of its two distances.
NOISE_POWER = 0.5


class Batch:
    """Questions that may be asked, and what an answer to each would be worth.

    Parameters
    ----------
    posterior : RowPosterior
    items : ndarray of shape (n_questions, 3)
    targets : ndarray of shape (n_targets, 3)
        Questions that the model should come to answer.
    """

    def __init__(self, posterior: RowPosterior, items: np.ndarray, targets: np.ndarray):
        self.covariance = posterior.covariance.copy()
        counts = density_at_zero(posterior.gaps(targets), posterior.variances(targets))
        self.counted = sums_of_squares(
            *(posterior.place[targets], posterior.slopes(targets), counts, len(self.covariance))
        )
        self.items = posterior.place[items]
        slopes, gaps = posterior.slopes(items), posterior.gaps(items)
        total = np.add(*posterior.distances(items))
        noise = np.maximum(total / (total.mean() or 1.0), 1e-12) ** NOISE_POWER
        self.slopes, self.gaps = slopes / noise[:, None, None], gaps / noise
        self.places = dict(places_by_row(self.items))
        self.spread, self.worth = np.empty((2, *items.shape))
        for row in self.places:
            self._weigh(row)

    def _weigh(self, row: int) -> None:
        """Variances of the gaps that a row brings in, and what it would lessen those counted by."""
        places, covariance = self.places[row], self.covariance[row]
        g = self.slopes.reshape(-1, self.slopes.shape[-1])[places]
        pulled = g @ covariance
        self.spread.ravel()[places] = np.einsum("tk,tk->t", pulled, g)
        self.worth.ravel()[places] = np.einsum("tk,tk->t", pulled @ self.counted[row], pulled)

    def information(self) -> np.ndarray:
        """p (1 - p) of each answer, its chance p as far as it is known."""
        variance = self.spread.sum(axis=1)
        chance = expit(self.gaps / np.sqrt(1.0 + np.pi / 8.0 * variance))
        return np.maximum(chance * (1.0 - chance), 1e-12)

    def gains(self) -> np.ndarray:
        """By how much an answer to each question would lessen the variance of those counted."""
        information = self.information()
        return self.worth.sum(axis=1) / (1.0 / information + self.spread.sum(axis=1))

    def learn(self, number: int) -> None:
        """Make the rows of a question as certain as its answer would."""
        noise = 1.0 / self.information()[number]
        spread = self.spread[number].copy()
        for place, row in enumerate(self.items[number].tolist()):
            g = self.slopes[number, place]
            pulled = self.covariance[row] @ g
            others = noise + spread.sum() - spread[place]
            self.covariance[row] -= np.outer(pulled, pulled) / (others + g @ pulled)
            self._weigh(row)


def density_at_zero(gaps: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Of Gaussian gaps, in sum 1; what is certain has none."""
    deviation = np.sqrt(variance)
    away = np.divide(gaps, deviation, out=np.full_like(gaps, np.inf), where=deviation > 0)
    density = np.exp(-0.5 * away**2) / np.where(deviation > 0, deviation, 1.0)
    return density / (density.sum() or 1.0)


def most_informative(
    posterior: RowPosterior, items: np.ndarray, targets: np.ndarray, wanted: int
) -> np.ndarray:
    """The numbers of the questions to ask, best first; no item in many more than others.

    Parameters
    ----------
    posterior : RowPosterior
    items : ndarray of shape (n_questions, 3)
        Questions that may be asked.
    targets : ndarray of shape (n_targets, 3)
        Questions that the model should come to answer, best others than ``items``: to become
        certain about what was asked is worth little.
    wanted : int
    """
    wanted = min(wanted, len(items))
    if wanted == 0:
        return np.zeros(0, dtype=np.int64)
    batch = Batch(posterior, items, targets)
    items = batch.items
    used = dict.fromkeys(batch.places, 0)
    most = -(-3 * wanted // max(len(used), 1))
    free = np.ones(len(items), dtype=bool)  # neither chosen nor with an item that has its share
    left = np.ones(len(items), dtype=bool)
    chosen: list[int] = []
    while len(chosen) < wanted:
        if not free.any():
            most += 1
            crowded = [row for row, count in used.items() if count >= most]
            free = left & ~np.isin(items, crowded).any(axis=1)
            continue
        number = int(np.argmax(np.where(free, batch.gains(), -np.inf)))
        chosen.append(number)
        free[number] = left[number] = False
        batch.learn(number)
        for row in items[number].tolist():
            used[row] += 1
            if used[row] >= most:
                free[batch.places[row] // 3] = False
    return np.array(chosen, dtype=np.int64)
