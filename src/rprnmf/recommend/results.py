"""What the recommender hands out: lists of items, and users that it has not seen in a fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Recommendations:
    """Items with their scores, the best to show first.

    Attributes
    ----------
    items : list
        Ids.
    scores : ndarray of shape (n_items,)
        Predicted ratings, which are not in falling order where interest counts too; for clicks
        how likely they are, on no particular scale; of similar items the cosine.
    note : str
        What the scores rest on, if it is not the usual; else empty.
    """

    items: list[Any]
    scores: np.ndarray
    note: str = ""

    def __iter__(self) -> Iterator[tuple[Any, float]]:
        return iter(zip(self.items, self.scores.tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.items)

    @property
    def frame(self) -> Any:
        """The same as a DataFrame with the columns item and score (needs pandas)."""
        from pandas import DataFrame

        return DataFrame({"item": self.items, "score": self.scores})

    def __str__(self) -> str:
        lines = [f"{score:7.3f}  {item}" for item, score in self]
        return "\n".join(([self.note] if self.note else []) + lines)


@dataclass(frozen=True, eq=False)
class NewUser:
    """A user who was folded in; stands for an id in ``predict``, ``recommend`` and ``explain``.

    Attributes
    ----------
    factors : ndarray of shape (n_components,)
    items : ndarray of shape (n_ratings,)
        Positions of the rated items.
    ratings : ndarray of shape (n_ratings,)
    note : str
        What could not be used.
    interest : ndarray or None
        The row in the model of interest; None without one.
    token : str
        Of the fit.
    """

    factors: np.ndarray
    rows: list[np.ndarray] = field(repr=False)
    items: np.ndarray
    ratings: np.ndarray
    note: str = ""
    interest: np.ndarray | None = field(default=None, repr=False)
    token: str = field(default="", repr=False)
