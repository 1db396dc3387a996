"""Ids of users and items, of any hashable kind, and their positions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.checks import is_missing


class Ids:
    """Ids in order, and where each stands.

    Parameters
    ----------
    names : list of hashable
        All different.
    what : {"user", "item"}
        For messages.
    """

    def __init__(self, names: list[Hashable], what: str):
        self.names, self.what = names, what
        self._place = {name: place for place, name in enumerate(names)}
        self._array = np.fromiter(names, dtype=object, count=len(names))

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: Any) -> bool:
        try:
            return name in self._place
        except TypeError:  # not hashable: no id
            return False

    def place(self, name: Any) -> int:
        """The position of one id, -1 if it is not known."""
        try:
            return self._place.get(name, -1)
        except TypeError:
            raise TypeError(
                f"{self.what} ids must be hashable, got {name!r} ({type(name).__name__})."
            ) from None

    def places(self, names: Iterable[Any]) -> np.ndarray:
        """The position of every id, -1 where it is not known."""
        found = names.tolist() if isinstance(names, np.ndarray) else list(names)
        return np.fromiter((self.place(name) for name in found), np.int64, count=len(found))

    def at(self, places: np.ndarray) -> list[Any]:
        """The ids at some positions."""
        return self._array[places].tolist()

    def plus(self, names: Iterable[Any]) -> Ids:
        """These ids, then those of others that are not among them, in order."""
        new = [name for name in dict.fromkeys(names) if name not in self]
        return Ids([*self.names, *new], self.what) if new else self


def plural(what: str) -> str:
    """users and items; other names of parameters as they are."""
    return f"{what}s" if what in ("user", "item") else what


def id_list(values: Any, what: str) -> list[Any]:
    """A column of ids as a list of Python values; none may be missing."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if sp.issparse(values):
        raise TypeError(f"{plural(what)} must be a list or an array of ids, got a sparse one.")
    if isinstance(values, str) or not np.iterable(values):
        raise TypeError(f"{plural(what)} must be a list or an array of ids, got {values!r}.")
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise ValueError(f"{plural(what)} must be one-dimensional, got shape {values.shape}.")
    plain = isinstance(values, np.ndarray) and values.dtype.kind in "iubSU"
    found = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if not plain:
        for place, value in enumerate(found):
            if is_missing(value):
                raise ValueError(f"{plural(what)}[{place}] is {value!r}: ids must not be missing.")
    return found


def encoded(values: Any, what: str) -> tuple[Ids, np.ndarray]:
    """The ids that occur, in order of appearance, and the position of each value."""
    found = id_list(values, what)
    place: dict[Any, int] = {}
    try:
        codes = [place.setdefault(name, len(place)) for name in found]
    except TypeError as error:
        bad = next(name for name in found if not isinstance(name, Hashable))
        raise TypeError(
            f"{what} ids must be hashable, got {bad!r} ({type(bad).__name__})."
        ) from error
    return Ids(list(place), what), np.array(codes, dtype=np.int64)
