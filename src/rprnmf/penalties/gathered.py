"""Penalties on a few rows of a factor that lies elsewhere: these rows are gathered.

Triplets and graphs name rows. Of a factor in blocks only the rows that they name come here; the
penalty numbers these alone, and what it gives goes back to their places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.remote import RemoteArray
from rprnmf.split import Split


class Gathered:
    """A penalty that is asked of a `RemoteArray`.

    Parameters
    ----------
    inner : TripletPenalty or Graph
        That numbers the rows of ``named``.
    named : ndarray of shape (n_named,)
        Rows of the factor, in order.
    """

    def __init__(self, inner: Any, named: np.ndarray):
        self.inner, self.named = inner, named

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.inner, name)

    @property
    def rows(self) -> np.ndarray:
        """The rows of the factor that the penalty touches."""
        return self.named[self.inner.rows]

    def with_margin(self, margin: float) -> Gathered:
        """The same with another margin."""
        return Gathered(self.inner.with_margin(margin), self.named)

    def of(self, F: RemoteArray) -> np.ndarray:
        """The rows that are named."""
        return F.kept(self.named)

    def apart(self, F: RemoteArray) -> np.ndarray:
        """The distances of the pairs."""
        return self.inner.apart(self.of(F))

    def value(self, F: RemoteArray) -> float:
        """The penalty at F."""
        return self.inner.value(self.of(F))

    def gain(self, F: RemoteArray, *apart: np.ndarray) -> np.ndarray:
        """The derivative in log c_k when column k of F is multiplied by c_k."""
        return self.inner.gain(self.of(F), *apart)

    def split(self, F: RemoteArray) -> Split:
        """The gradient at F, zero in the rows that are not named."""
        parts = []
        for part in self.inner.split(self.of(F)):
            spread = np.zeros_like(F)
            spread[self.named] = part
            parts.append(spread)
        return Split(*parts)


def compact(items: np.ndarray, named: np.ndarray) -> np.ndarray:
    """Numbers of rows as places among those that are named."""
    return np.searchsorted(named, items)
