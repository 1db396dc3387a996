"""Which questions teach a learned factor most: a batch, one after the other.

The model is to be right about questions of some kind (targets), that is about the sign of their
near - far. A sign may turn where this gap is small beside its uncertainty, so each target counts
with the density of its gap at zero. An answer makes the factor more certain, the more so the less
it is noise; the one is chosen that lessens the variance of the counted gaps most. Then the factor
is as certain as that answer would make it, and the next one is chosen: so a batch does not ask the
same thing many times.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from rprnmf.triplets.posterior import Belief, Questions, RowPosterior, places_by_row
from rprnmf.triplets.triplets import Triplets

# People tell far things apart less well: the noise of an answer grows with this power of the sum
# of its two distances.
NOISE_POWER = 0.5


class Batch:
    """Questions that may be asked, and what an answer to each would be worth.

    Parameters
    ----------
    posterior : RowPosterior
    asked : Questions
        What may be asked; gaps and slopes are brought to units of the noise of each answer.
    targets : Questions
        What the model should come to answer.
    """

    def __init__(self, posterior: RowPosterior, asked: Questions, targets: Questions):
        noise = asked.total / (asked.total.mean() or 1.0)
        noise = np.maximum(noise, 1e-12) ** NOISE_POWER
        self.slopes = asked.slopes / noise[:, None, None]
        self.gaps = asked.gaps / noise
        self.covariance = posterior.covariance.copy()
        counts = density_at_zero(targets.gaps, posterior.variances(targets))
        self.counted = posterior.squares(targets, counts)
        self.items = posterior.place[asked.items]
        self.places = dict(places_by_row(self.items))
        self.parts = np.empty((2, *self.items.shape))
        for row in self.places:
            self._weigh(row)

    def _weigh(self, row: int) -> None:
        """What a row adds to the variances of gaps, and to what answers without noise are worth."""
        places = self.places[row]
        g = self.slopes.reshape(-1, self.slopes.shape[-1])[places]
        pulled = g @ self.covariance[row]
        self.parts[0].ravel()[places] = np.einsum("tk,tk->t", pulled, g)
        self.parts[1].ravel()[places] = np.einsum("tk,tk->t", pulled @ self.counted[row], pulled)

    def totals(self) -> tuple[np.ndarray, np.ndarray]:
        """The variance of each answer, its noise included, and what it is worth without noise."""
        spread, worth = self.parts.sum(axis=2)
        chance = expit(self.gaps / np.sqrt(1.0 + np.pi / 8.0 * spread))  # as far as it is known
        return spread + 1.0 / np.maximum(chance * (1.0 - chance), 1e-12), worth

    def gains(self) -> np.ndarray:
        """By how much an answer to each question would lessen the variance of the targets."""
        total, worth = self.totals()
        return worth / total

    def learn(self, number: int) -> None:
        """Make the rows of a question as certain as its answer would."""
        total = float(self.totals()[0][number])
        for place, row in enumerate(self.items[number].tolist()):
            pulled = self.covariance[row] @ self.slopes[number, place]
            self.covariance[row] -= np.outer(pulled, pulled) / total
            self._weigh(row)


def density_at_zero(gaps: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Of Gaussian gaps, in sum 1; what is certain has none."""
    deviation = np.sqrt(np.maximum(variance, 0.0))
    away = np.divide(gaps, deviation, out=np.full_like(gaps, np.inf), where=deviation > 0)
    density = np.exp(-0.5 * away**2) / np.where(deviation > 0, deviation, 1.0)
    return density / (density.sum() or 1.0)


def weigh(
    factor: np.ndarray, belief: Belief, known: Triplets, items: np.ndarray, targets: np.ndarray
) -> Batch:
    """What an answer to each of some questions would teach.

    Parameters
    ----------
    factor : ndarray of shape (n_rows, n_components)
    belief : Belief
    known : Triplets
        The answers of the fit, by position.
    items : ndarray of shape (n_questions, 3)
        Questions that may be asked.
    targets : ndarray of shape (n_targets, 3)
        Questions that the model should come to answer, best others than ``items``: to become
        certain about what was asked is worth little.
    """
    factor = np.asarray(factor, dtype=np.float64)
    rows = np.unique(np.concatenate((items, targets)))
    asked, wanted = (Questions(factor, belief, part) for part in (items, targets))
    return Batch(RowPosterior(factor, belief, known, rows), asked, wanted)


def most_informative(batch: Batch, wanted: int) -> np.ndarray:
    """The numbers of the questions to ask, best first; no item in many more than others."""
    wanted = min(wanted, len(batch.items))
    used = dict.fromkeys(batch.places, 0)
    most = -(-3 * wanted // max(len(used), 1))
    left = np.ones(len(batch.items), dtype=bool)
    free = left.copy()  # and with no item that has its share
    chosen: list[int] = []
    while len(chosen) < wanted:
        if not free.any():
            most += 1
            crowded = [row for row, count in used.items() if count >= most]
            free = left & ~np.isin(batch.items, crowded).any(axis=1)
            continue
        number = int(np.argmax(np.where(free, batch.gains(), -np.inf)))
        chosen.append(number)
        free[number] = left[number] = False
        batch.learn(number)
        for row in batch.items[number].tolist():
            used[row] += 1
            if used[row] >= most:
                free[batch.places[row] // 3] = False
    return np.array(chosen, dtype=np.int64)
