"""The value `Triplets`: comparisons, by index or by name, with weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from rprnmf.checks import (
    check_distinct,
    check_not_negative,
    check_positions,
    check_range,
    check_triplet_array,
    check_weights,
)
from rprnmf.triplets.files import read_columns, write_columns
from rprnmf.triplets.names import can_name, check_there_are_names, places_of
from rprnmf.triplets.pairs import distinct


class Triplets:
    """Comparisons "q is closer to r than to s".

    Parameters
    ----------
    triplets : array-like or DataFrame of shape (n_triplets, 3)
        Rows (q, r, s): integer positions from 0, or names of rows (columns) of X: the labels of a
        DataFrame, or what ``fit`` is given as ``row_names`` (``column_names``).
    weights : array-like of shape (n_triplets,), default=None
        How much each counts, e.g. votes; None is 1 for all.
    absent : {"error", "drop"}, default="error"
        What to do with a *named* triplet of which a name is not in X: raise, or leave it
        out. "drop" is for cross-validation, where rows are split away.
    named : bool, default=None
        True: the items are names even if they are integers. None: integers are positions, all
        else are names.

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
        if items.dtype != object:
            check_not_negative(items)
        if items is triplets:
            items = items.copy()
        check_distinct(items)
        self._items = items
        self._weights = check_weights(weights, len(items)).copy()
        self._absent = absent
        self._freeze()

    def _freeze(self) -> None:
        for name in ("_items", "_weights"):
            array = getattr(self, name)
            array.setflags(write=False)
            setattr(self, name, array.view())  # of an array that cannot be written: for good

    @property
    def items(self) -> np.ndarray:
        """The rows (q, r, s), read-only: int64 positions or an object array of names."""
        return self._items

    @property
    def weights(self) -> np.ndarray:
        """One positive weight per triplet, read-only."""
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

    def codes(self) -> tuple[np.ndarray, list[Any]]:
        """The triplets as numbers, and the items that the numbers stand for, as they occur.

        Returns
        -------
        codes : ndarray of shape (n_triplets, 3)
        items : list
        """
        if not self.named:
            flat = self._items.ravel()
            first, codes = distinct(flat)
            return codes.reshape(self._items.shape), flat[first].tolist()
        number: dict[Any, int] = {}
        seen = [number.setdefault(name, len(number)) for name in self._items.ravel().tolist()]
        return np.array(seen, dtype=np.int64).reshape(self._items.shape), list(number)

    def numbers(self) -> np.ndarray:
        """Three numbers for every triplet, the same for the same item; positions as they are."""
        return self.codes()[0] if self.named else self._items

    def take(self, chosen: Any) -> Triplets:
        """Some of the triplets.

        Parameters
        ----------
        chosen : array-like
            Their numbers, or a bool for every triplet.

        Examples
        --------
        >>> from rprnmf import Triplets
        >>> Triplets([[0, 1, 2], [3, 1, 0]]).take([1]).items
        array([[3, 1, 0]])
        """
        chosen = np.asarray(chosen)
        if chosen.size == 0:
            chosen = chosen.astype(np.int64)
        return self._of(self._items[chosen], self._weights[chosen])

    def _of(self, items: np.ndarray, weights: np.ndarray) -> Triplets:
        return Triplets(items, weights=weights, absent=self._absent, named=self.named)

    @staticmethod
    def concat(parts: Iterable[Any]) -> Triplets:
        """One after the other; all by index, or all by name.

        Examples
        --------
        >>> from rprnmf import Triplets
        >>> Triplets.concat([[[0, 1, 2]], [[2, 1, 0]]])
        Triplets(2 triplets by index)
        """
        found = [as_triplets(part) for part in parts]
        found = [part for part in found if part.n_triplets] or found[:1]
        if not found:
            return as_triplets(None)
        if len({part.named for part in found}) > 1:
            raise ValueError("triplets by index and triplets by name cannot be put together.")
        if len({part.absent for part in found}) > 1:
            raise ValueError("the triplets to put together differ in absent=.")
        items = np.concatenate([part.items for part in found])
        return found[0]._of(items, np.concatenate([part.weights for part in found]))

    def __add__(self, other: Any) -> Triplets:
        return Triplets.concat([self, other])

    def deduplicate(self) -> Triplets:
        """Every triplet once, in the order of first occurrence; weights add up.

        Examples
        --------
        >>> from rprnmf import Triplets
        >>> Triplets([[0, 1, 2], [3, 1, 0], [0, 1, 2]]).deduplicate().weights
        array([2., 1.])
        """
        first, number = distinct(*self.numbers().T)
        order = np.argsort(first, kind="stable")
        weights = np.bincount(number, self._weights, len(first))
        if np.isinf(weights).any():
            raise ValueError(
                f"the weights of equal triplets add up to more than {np.finfo(np.float64).max:.2g},"
                " the largest number; divide all weights by the same number."
            )
        return self._of(self._items[first[order]], weights[order])

    def subset(self, items: Any) -> Triplets:
        """The triplets of which all three items are among the given ones.

        Triplets by index are numbered anew by their places in ``items``, so that they speak of
        the rows of ``X[items]``; names stay.

        Parameters
        ----------
        items : array-like
            Positions, or names.

        Examples
        --------
        >>> from rprnmf import Triplets
        >>> Triplets([[5, 7, 9], [5, 7, 1]]).subset([9, 7, 5]).items
        array([[2, 1, 0]])
        """
        chosen = items.tolist() if isinstance(items, np.ndarray) else list(items)
        kept = {item: place for place, item in enumerate(chosen)}
        if len(kept) < len(chosen):
            raise ValueError("items to keep must be different from each other.")
        codes, known = self.codes()
        places = np.array([kept.get(item, -1) for item in known], dtype=np.int64)
        found = places[codes] if len(known) else codes
        inside = (found >= 0).all(axis=1)
        rows = self._items[inside] if self.named else found[inside]
        return self._of(rows, self._weights[inside])

    def shuffle(self, random_state: Any = None) -> Triplets:
        """The same in random order.

        Parameters
        ----------
        random_state : int, RandomState instance or None, default=None
        """
        return self.take(check_random_state(random_state).permutation(self.n_triplets))

    def split(
        self, test_size: float = 0.25, *, groups: Any = None, random_state: Any = None
    ) -> tuple[Triplets, Triplets]:
        """Two parts at random, to fit on and to test on.

        Parameters
        ----------
        test_size : float, default=0.25
            The fraction of the triplets (about that, with groups) that the second part gets; no
            part is left empty.
        groups : array-like of shape (n_triplets,), default=None
            Triplets of one group stay together: answers of one screen, or of one worker, are
            not independent.
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        train, test : Triplets

        Examples
        --------
        >>> from rprnmf import Triplets
        >>> known = Triplets([[0, 1, 2], [0, 1, 3], [4, 5, 6], [4, 5, 7]])
        >>> train, test = known.split(0.5, groups=[0, 0, 1, 1], random_state=0)
        >>> train.items[:, 0], test.items[:, 0]
        (array([0, 0]), array([4, 4]))
        """
        if not 0.0 < test_size < 1.0:
            raise ValueError(f"test_size must lie between 0 and 1, got {test_size}.")
        rng = check_random_state(random_state)
        n = self.n_triplets
        group = np.arange(n)
        if groups is not None:
            if len(groups) != n:
                raise ValueError(
                    f"groups must name one for each of {n} triplets, got {len(groups)}."
                )
            group = np.unique(np.asarray(groups), return_inverse=True)[1]
        sizes = np.bincount(group)
        order = rng.permutation(len(sizes))
        before = np.cumsum(sizes[order]) - sizes[order]
        if len(sizes) < 2:
            raise ValueError(f"to split needs two triplets, or groups of them; got {len(sizes)}.")
        enough = int(np.sum(before + 0.5 * sizes[order] < test_size * n))
        chosen = order[: min(max(enough, 1), len(sizes) - 1)]
        out = np.isin(group, chosen)
        return self.take(~out), self.take(out)

    @classmethod
    def read(
        cls, path: Any, *, names: Any = None, named: bool | None = None, absent: str | None = None
    ) -> Triplets:
        """From a CSV or Parquet file with the columns q, r, s and perhaps weight.

        Parameters
        ----------
        path : path-like
            Ends in .csv or .parquet.
        names : sequence, default=None
            The names that may occur; another one is an error, with the line that it stands in.
            The file then speaks of names, whole numbers too.
        named : bool, default=None
            None: if the first item of a CSV file is a whole number all must be, and they are
            positions; else they are names. True: names. A Parquet file knows which they are.
        absent : {"error", "drop"}, default=None
            As in `Triplets`.

        Returns
        -------
        triplets : Triplets
        """
        items, weights = read_columns(path, named, names)
        return cls(items, weights=weights, absent=absent, named=items.dtype == object)

    def write(self, path: Any) -> None:
        """To a CSV or Parquet file, which `read` gives back, but for ``absent``.

        CSV is text: names that are whole numbers need ``read(path, names=...)``.

        Parameters
        ----------
        path : path-like
            Ends in .csv or .parquet. A file that is there is replaced at once, never in part.
        """
        write_columns(path, self._items, self._weights)

    def summary(self) -> str:
        """What there is, in a few lines.

        Examples
        --------
        >>> from rprnmf import Triplets
        >>> print(Triplets([[0, 1, 2], [0, 2, 1], [3, 1, 0]]).summary())
        3 triplets by index over 4 items
        an item occurs in 1 to 3 of them (median 2.5)
        """
        codes, items = self.codes()
        n = self.n_triplets
        lines = [f"{repr(self)[len('Triplets(') : -1]} over {len(items)} items"]
        if n:
            counts = np.bincount(codes.ravel())
            lines.append(
                f"an item occurs in {counts.min()} to {counts.max()} of them "
                f"(median {np.median(counts):g})"
            )
            repeated = n - len(distinct(*codes.T)[0])
            if repeated:
                lines.append(f"{repeated} repeat another one")
        return "\n".join(lines)

    def resolve(self, method: str = "feedback-arc") -> Triplets:
        """Without what contradicts the rest; see `rprnmf.triplets.resolve`.

        Examples
        --------
        >>> from rprnmf import Triplets
        >>> Triplets([[0, 1, 2], [0, 2, 1]], weights=[3, 1]).resolve().items
        array([[0, 1, 2]])
        """
        from rprnmf.triplets.consistency import resolve

        return resolve(self, method)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()  # arrays come back writeable from a pickle

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
            and self.named == other.named
            and np.array_equal(self._items, other._items)
            and np.array_equal(self._weights, other._weights)
        )

    __hash__ = None  # type: ignore[assignment]

    def positions(self, n: int, names: Any = None, side: str = "row") -> Triplets:
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
            if self.n_triplets:
                check_positions(names, n, side)
            check_range(self._items, n, side)
            return self
        if self.n_triplets == 0:
            return Triplets(self._items.astype(np.int64))
        check_there_are_names(names, self._items[0, 0], side)
        position = places_of(names, side)
        flat = self._items.ravel()
        found = np.array([position.get(name, -1) for name in flat], dtype=np.int64)
        found = found.reshape(self._items.shape)
        unknown = (found < 0).any(axis=1)
        if unknown.any() and self._absent == "error":
            t = int(np.flatnonzero(unknown)[0])
            name = self._items[t][found[t] < 0][0]
            raise ValueError(
                f"{side}_triplets[{t}] speaks of {name!r}, which is not a {side} name of X; "
                f"pass Triplets(..., absent='drop') to leave such triplets out."
            )
        return Triplets(found[~unknown], weights=self._weights[~unknown])

    def with_names(self, names: Any) -> Triplets:
        """Triplets by index as triplets by name: the reverse of `positions`.

        Parameters
        ----------
        names : sequence or None
            The names of the rows or columns, in order. The triplets stay as they are where names
            say no more than positions: without any, with 0, 1, 2, ... in order, and with names
            that cannot be told apart or cannot be names of triplets (missing ones, fractions).

        Returns
        -------
        triplets : Triplets

        Examples
        --------
        >>> from rprnmf import Triplets
        >>> Triplets([[0, 1, 2]]).with_names(["tea", "coffee", "soup"]).items.tolist()
        [['tea', 'coffee', 'soup']]
        """
        if self.named or names is None or not can_name(names):
            return self
        known = np.fromiter(names, dtype=object, count=len(names))
        return Triplets(known[self._items], weights=self._weights, absent=self._absent, named=True)


def as_triplets(triplets: Any) -> Triplets:
    """A `Triplets` from whatever a user may pass; None is no triplets."""
    if isinstance(triplets, Triplets):
        return triplets
    return Triplets(np.zeros((0, 3), dtype=np.int64) if triplets is None else triplets)
