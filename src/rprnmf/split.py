"""A gradient handed out as two non-negative parts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Split(NamedTuple):
    """The two non-negative parts of a gradient: ``gradient = positive - negative``.

    A multiplicative update is ``factor *= negative / positive``; every other
    solver uses the difference.
    """

    positive: Array
    negative: Array

    @property
    def gradient(self) -> Array:
        """The gradient itself."""
        return self.positive - self.negative

    def plus(self, other: Split) -> Split:
        """The split of a sum of two terms."""
        return Split(self.positive + other.positive, self.negative + other.negative)

    def times(self, factor: float) -> Split:
        """The split of a term multiplied by a non-negative number."""
        return Split(factor * self.positive, factor * self.negative)
