"""The value `Triplets`: comparisons, by index or by name, with weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.checks import (
    check_distinct,
    check_positions,
    check_range,
    check_triplet_array,
    check_weights,
)


class Triplets:
    """Comparisons "q is closer to r than to s".

    Parameters
    ----------
    triplets : array-like or DataFrame of shape (n_triplets, 3)
        Rows (q, r, s): integer positions, or names that X's index (columns) knows.
    weights : array-like of shape (n_triplets,), default=None
        How much each counts, e.g. votes; None is 1 for all.
    absent : {"error", "drop"}, default="error"
        What to do with a *named* triplet of which a name is not in X: raise, or leave it
        out. "drop" is for cross-validation, where rows are split away.
    named : bool, default=None
        True: the items are names even if they are integers, to be looked up among the labels of
        a DataFrame. None: integers are positions, all else are names.

    Notes
    -----
    There is no ``len``, ``shape`` or ``__array__`` on purpose: scikit-learn's
    cross-validation slices every array-like parameter of ``fit`` whose length happens to
    equal the number of samples, which would corrupt the triplets without a word.

    Examples
    --------
    >>> from rprnmf import Triplets
    >>> Triplets([[0, 1, 2], [3, 1, 0]])
    Triplets(2 triplets by index)
    >>> Triplets([["Star Wars", "Star Trek", "Titanic"]], weights=[3])
    Triplets(1 triplet by name, weights 3 to 3)
    """

    def __init__(
        self,
        triplets: Any,
        *,
        weights: Any = None,
        absent: str | None = None,
        named: bool | None = None,
    ):
        if isinstance(triplets, Triplets):
            weights = triplets.weights if weights is None else weights
            absent = triplets.absent if absent is None else absent
            named = triplets.named if named is None else named
            triplets = triplets.items
        absent = "error" if absent is None else absent
        if absent not in ("error", "drop"):
            raise ValueError(f"absent must be 'error' or 'drop', got {absent!r}.")
        items = check_triplet_array(triplets)
        if named:
            items = items.astype(object)
        elif named is False and items.dtype == object:
            raise TypeError("named=False needs integer positions, got names.")
        if items is triplets:
            items = items.copy()
        check_distinct(items)
        self._items = items
        self._weights = check_weights(weights, len(items)).copy()
        self._absent = absent
        self._items.setflags(write=False)
        self._weights.setflags(write=False)

    @property
    def items(self) -> np.ndarray:
        """The rows (q, r, s), read-only: int64 positions or an object array of names."""
        return self._items

    @property
    def weights(self) -> np.ndarray:
        """One positive weight a triplet, read-only."""
        return self._weights

    @property
    def absent(self) -> str:
        """What happens to a triplet whose names X does not know."""
        return self._absent

    @property
    def n_triplets(self) -> int:
        """How many there are."""
        return self._items.shape[0]

    @property
    def named(self) -> bool:
        """Whether they speak of names instead of positions."""
        return self._items.dtype == object

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._items.setflags(write=False)  # arrays come back writeable from a pickle
        self._weights.setflags(write=False)

    def __repr__(self) -> str:
        n = self.n_triplets
        text = f"{n} triplet{'' if n == 1 else 's'} by {'name' if self.named else 'index'}"
        if n and (self._weights != 1).any():
            text += f", weights {self._weights.min():g} to {self._weights.max():g}"
        if self._absent != "error":
            text += f", absent={self._absent!r}"
        return f"Triplets({text})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Triplets):
            return NotImplemented
        return (
            self._absent == other._absent
            and np.array_equal(self._items, other._items)
            and np.array_equal(self._weights, other._weights)
        )

    __hash__ = None  # type: ignore[assignment]

    def resolve(self, n: int, names: Any = None, side: str = "row") -> Triplets:
        """The same triplets as positions among n rows or columns.

        Parameters
        ----------
        n : int
            Number of rows (columns) of X.
        names : sequence or None
            Their names in order, if they have any.
        side : {"row", "column"}
            For messages.

        Returns
        -------
        triplets : Triplets
            By index; without those that ``absent="drop"`` leaves out.
        """
        if not self.named:
            check_positions(names, n, side)
            check_range(self._items, n, side)
            return self
        if names is None:
            raise ValueError(
                f"{side}_triplets are given by name ({self._items[0, 0]!r}, ...), but X has no "
                f"{side} names; pass X as a DataFrame or give the triplets as integer indices."
            )
        position: dict[Any, int] = {}
        for number, name in enumerate(names):
            if name in position:
                raise ValueError(
                    f"{side}_triplets are given by name, but the {side} name {name!r} occurs "
                    f"more than once in X ({side}s {position[name]} and {number})."
                )
            position[name] = number
        found = np.array(
            [position.get(name, -1) for name in self._items.ravel()], dtype=np.int64
        ).reshape(self._items.shape)
        unknown = (found < 0).any(axis=1)
        if unknown.any() and self._absent == "error":
            t = int(np.flatnonzero(unknown)[0])
            name = self._items[t][found[t] < 0][0]
            raise ValueError(
                f"{side}_triplets[{t}] speaks of {name!r}, which is not a {side} name of X; "
                f"pass Triplets(..., absent='drop') to leave such triplets out."
            )
        return Triplets(found[~unknown], weights=self._weights[~unknown])


def as_triplets(triplets: Any) -> Triplets:
    """A `Triplets` from whatever a user may pass; None is no triplets."""
    if isinstance(triplets, Triplets):
        return triplets
    return Triplets(np.zeros((0, 3), dtype=np.int64) if triplets is None else triplets)
