"""Ratings, or clicks, as people have them: arrays, a DataFrame, a sparse matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.priors.encoding import is_frame
from rprnmf.recommend.ids import Ids, encoded

#: names of columns, in lower case and without spaces and "_"
NAMES = {
    "user": ("user", "userid", "users", "customer", "customerid", "person", "uid"),
    "item": ("item", "itemid", "items", "movie", "movieid", "product", "productid", "iid"),
    "rating": (
        "rating",
        "ratings",
        "stars",
        "score",
        "value",
        "count",
        "counts",
        "plays",
        "weight",
    ),
    "timestamp": ("timestamp", "time", "date", "datetime", "when"),
}
# Ratings stand around the middle of their scale. Counts have a long tail: their mean is in the
# lowest quarter of their range.
TAIL = 0.25
MOST_STARS = 10  # counts up to here might be ratings
LARGEST = 1e12  # squares of ratings are summed in single precision


@dataclass(frozen=True)
class Ratings:
    """Who rated what, and how.

    Attributes
    ----------
    users, items : Ids
    user, item : ndarray of shape (n_ratings,)
        Positions among them.
    values : ndarray of shape (n_ratings,) or None
        None: that they happened is all that is known.
    time : ndarray of shape (n_ratings,) or None
    stored : bool
        Whether they are the entries of a sparse matrix, where a 0 may be no more than stored.
    notes : tuple of str
        How they were read.
    """

    users: Ids
    items: Ids
    user: np.ndarray
    item: np.ndarray
    values: np.ndarray | None
    time: np.ndarray | None = None
    stored: bool = False
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.user)

    def kind(self) -> str:
        """What they look like: "explicit" (ratings) or "implicit" (clicks, counts)."""
        if self.values is None or self.n == 0:
            return "implicit"
        low, high = float(self.values.min()), float(self.values.max())
        if low == 0 and high > MOST_STARS and (self.values == np.floor(self.values)).all():
            low = 1.0  # counts, of which those that are 0 were stored too; thumbs end at 1
        return looks_like(low, high, float(self.values.mean()))

    def seen(self, given: str, scale: Any) -> str:
        """The kind that was given; "auto": ratings if a scale is given, else what it looks like."""
        if given != "auto":
            return given
        return self.kind() if scale is None else "explicit"

    def happened(self) -> Ratings:
        """Those that are not 0: for counts that it did not happen, which needs no telling."""
        if self.values is None or self.values.all():
            return self
        left = self.take(self.values != 0)
        if left.n == 0:
            raise ValueError(f"there are no clicks: all {self.n} counts are 0.")
        text = f"{self.n - left.n} of {self.n} counts are 0 and left out: these did not happen."
        return replace(left, notes=(*self.notes, text))

    def take(self, chosen: np.ndarray) -> Ratings:
        """Some of them; the ids stay."""
        values = None if self.values is None else self.values[chosen]
        time = None if self.time is None else self.time[chosen]
        parts = self.user[chosen], self.item[chosen], values, time, self.stored, self.notes
        return Ratings(self.users, self.items, *parts)

    def columns(self) -> tuple[list[Any], list[Any], np.ndarray | None]:
        """Users and items by id, and the values: what ``fit`` takes."""
        return self.users.at(self.user), self.items.at(self.item), self.values


def looks_like(low: float, high: float, mean: float) -> str:
    """What ratings of such a range look like: "explicit" or "implicit"."""
    if low <= 0:  # counts are above 0
        return "explicit"
    if low == high:
        return "implicit"
    return "implicit" if mean - low < TAIL * (high - low) else "explicit"


def read_ratings(users: Any, items: Any = None, ratings: Any = None) -> Ratings:
    """Ratings from three arrays, a DataFrame or a sparse matrix.

    Parameters
    ----------
    users : array-like of ids, DataFrame, or sparse matrix of shape (n_users, n_items)
        A DataFrame has the columns user, item, rating and timestamp, or names like these; columns
        that have none of the names count in this order, and the last two may be absent.
    items : array-like of ids, default=None
    ratings : array-like of float, default=None

    Returns
    -------
    ratings : Ratings
    """
    if isinstance(users, Ratings):
        return users
    if sp.issparse(users):
        return _from_matrix(users, items, ratings)
    if hasattr(users, "__dask_graph__"):
        raise TypeError(
            "users is a Dask collection, which Recommender.fit alone takes; everything else needs "
            "the ratings in one place: pass users.compute()."
        )
    time: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    if is_frame(users):
        if items is not None or ratings is not None:
            raise TypeError(
                "users is a DataFrame, which has the items and ratings in columns of its own: "
                "pass no items and no ratings beside it."
            )
        frame = users
        check_long(frame)
        where = guessed_columns(list(frame.columns))
        notes = (columns_note(where),)
        users, items = frame[where["user"]], frame[where["item"]]
        ratings = frame[where["rating"]] if "rating" in where else None
        time = np.asarray(frame[where["timestamp"]]) if "timestamp" in where else None
    elif items is None:
        raise TypeError(
            "items is None: pass users and items, a DataFrame with columns user and item, or a "
            "sparse matrix with one row per user."
        )
    user_ids, user = encoded(users, "user")
    item_ids, item = encoded(items, "item")
    if len(user) != len(item):
        raise ValueError(
            f"users and items must have one entry per rating each, got {len(user)} and {len(item)}."
        )
    if len(user) == 0:
        raise ValueError("there are no ratings: users and items are empty.")
    values = None if ratings is None else checked_values(ratings, len(user))
    return Ratings(user_ids, item_ids, user, item, values, time, notes=notes)


def check_long(frame: Any) -> None:
    """One row is one rating: a table with a column for each item is another thing."""
    names, index = list(frame.columns), getattr(frame, "index", None)
    roles = {role for role in NAMES for name in names if plain_name(name) in NAMES[role]}
    by_user = plain_name(getattr(index, "name", None)) in NAMES["user"] and not roles & {
        "user",
        "item",
    }
    if by_user or (len(names) > len(NAMES) and not roles & {"user", "item"}):
        raise ValueError(
            "ratings as a DataFrame have one row per rating, with the columns user, item and "
            f"rating; this one looks like one row per user and one column per item "
            f"({len(names)} columns: {', '.join(map(repr, names[:3]))}, ...). Use "
            "frame.stack().reset_index() to turn it, or pass a sparse matrix."
        )


def _from_matrix(matrix: Any, items: Any, ratings: Any) -> Ratings:
    if items is not None or ratings is not None:
        raise TypeError(
            "users is a sparse matrix of ratings: pass no items and no ratings beside it."
        )
    if matrix.ndim != 2:
        raise ValueError(
            f"a sparse array of ratings must have one row per user and one column per item, got "
            f"shape {matrix.shape}."
        )
    entries = sp.coo_array(matrix)
    if entries.nnz == 0:
        raise ValueError(f"there are no ratings: the matrix of shape {matrix.shape} is empty.")
    user, item = (index.astype(np.int64) for index in entries.coords)
    n, m = entries.shape
    ids = Ids(list(range(n)), "user"), Ids(list(range(m)), "item")
    values = checked_values(entries.data, entries.nnz)
    return Ratings(ids[0], ids[1], user, item, values, stored=True)


def checked_values(ratings: Any, n: int) -> np.ndarray:
    """Finite numbers, one per rating."""
    if isinstance(ratings, Iterator):
        ratings = list(ratings)
    if sp.issparse(ratings):
        raise TypeError("ratings must be numbers, one per user and item; got a sparse array.")
    try:
        values = np.asarray(ratings, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"ratings must be numbers, one per user and item: {error}.") from error
    if values.shape != (n,):
        raise ValueError(
            f"ratings must have one number for each of {n} pairs of user and item, got shape "
            f"{values.shape}."
        )
    if np.asarray(ratings).dtype.kind in "mM":
        raise TypeError("ratings are dates: name their column 'timestamp', or leave it out.")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"ratings[{bad[0]}] is {values[bad[0]]}: leave out pairs without a rating "
            f"({len(bad)} of {n})."
        )
    large = np.flatnonzero(np.abs(values) > LARGEST)
    if len(large):
        raise ValueError(
            f"ratings[{large[0]}] is {values[large[0]]:g}, expected at most {LARGEST:g}."
        )
    return values


def plain_name(name: Any) -> str:
    """The name of a column in lower case, without spaces and "_"."""
    return str(name).lower().replace("_", "").replace(" ", "")


def guessed_columns(columns: list[Any]) -> dict[str, Any]:
    """Which columns of a DataFrame are user, item, rating and timestamp."""
    plain = {name: plain_name(name) for name in columns}
    found: dict[str, Any] = {}
    for role, known in NAMES.items():
        fits = [name for name in columns if plain[name] in known]
        if fits:
            found[role] = min(fits, key=lambda name: known.index(plain[name]))
    named = "user" in found or "item" in found
    if named and len(columns) > 1 and not {"user", "item"} <= set(found):
        here, lost = ("user", "item") if "user" in found else ("item", "user")
        raise ValueError(
            f"the column {found[here]!r} has the {here}s, and none has a name of {lost}s: name it "
            f"{lost!r}; found {', '.join(map(repr, columns))}."
        )
    left = [name for name in columns if name not in found.values()]
    for role in ("user", "item"):
        if role not in found and left:
            found[role] = left.pop(0)
    if "rating" not in found and left and len(columns) in (3, 4):
        if named:
            raise ValueError(
                f"the column {left[0]!r} has no name of ratings: name it 'rating', or leave it out."
            )
        found["rating"] = left[0]
    if "user" not in found or "item" not in found:
        raise ValueError(
            "ratings as a DataFrame need the columns user and item, and for ratings rating; found "
            f"{', '.join(map(repr, columns)) or 'none'}."
        )
    return found


def columns_note(where: dict[str, Any]) -> str:
    """What is said of the columns of a DataFrame."""
    return f"columns: {', '.join(f'{role} {str(name)!r}' for role, name in where.items())}."


def repeated_note(n: int, kind: str) -> str:
    """What is said of pairs that occur more than once."""
    if n == 0:
        return ""
    pairs = "1 pair of user and item occurs" if n == 1 else f"{n} pairs of user and item occur"
    return f"{pairs} more than once: their {'mean' if kind == 'explicit' else 'sum'} is used."


def without_repeats(ratings: Ratings, kind: str) -> tuple[Ratings, int]:
    """The same with one rating of each pair, at its latest time, and how many occur more often."""
    X, n_repeated = merged(ratings, kind)
    if n_repeated == 0:
        return ratings, 0
    user, item = (index.astype(np.int64) for index in sp.coo_array(X).coords)
    time = None
    if ratings.time is not None:
        m = len(ratings.items)
        cells = ratings.user * m + ratings.item
        order = np.argsort(ratings.time, kind="stable")
        last = dict(zip(cells[order].tolist(), order.tolist(), strict=True))
        time = ratings.time[[last[cell] for cell in (user * m + item).tolist()]]
    values = None if ratings.values is None and kind == "explicit" else X.data
    parts = user, item, values, time, ratings.stored, ratings.notes
    return Ratings(ratings.users, ratings.items, *parts), n_repeated


def merged(ratings: Ratings, kind: str) -> tuple[sp.csr_array, int]:
    """The matrix of ratings, and how many pairs of user and item occur more than once.

    Several ratings of a pair become their mean, several counts their sum.
    """
    shape = len(ratings.users), len(ratings.items)
    values = np.ones(ratings.n) if ratings.values is None else ratings.values
    return merged_cells(ratings.user, ratings.item, values, shape, kind)


def merged_cells(
    user: np.ndarray, item: np.ndarray, values: np.ndarray, shape: tuple[int, int], kind: str
) -> tuple[sp.csr_array, int]:
    """The same from the places of users and items."""
    n, m = shape
    cells, place, count = np.unique(user * m + item, return_inverse=True, return_counts=True)
    sums: np.ndarray = np.bincount(place, weights=values, minlength=len(cells))
    if kind == "explicit":
        sums = sums / count
    rows, columns = np.divmod(cells, m)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n))))
    matrix = sp.csr_array((sums, columns, indptr), shape=(n, m))
    return matrix, int(np.sum(count > 1))


def grown(X: sp.csr_array, n_users: int, n_items: int) -> sp.csr_array:
    """The same ratings in a larger matrix."""
    larger = X.copy()
    larger.resize((n_users, n_items))
    return larger


def updated(X: sp.csr_array, fresh: sp.csr_array, replace_old: bool) -> sp.csr_array:
    """Old and new ratings; of a pair in both the new one counts, or their sum."""
    n, m = fresh.shape
    old = grown(X, n, m)
    if not replace_old:
        return sp.csr_array(old + fresh)
    cells = [
        np.repeat(np.arange(n), np.diff(part.indptr)) * m + part.indices for part in (old, fresh)
    ]
    kept = ~np.isin(cells[0], cells[1])
    rows, columns = np.divmod(np.concatenate((cells[0][kept], cells[1])), m)
    values = np.concatenate((old.data[kept], fresh.data))
    found = sp.csr_array((values, (rows, columns)), shape=(n, m))
    found.sort_indices()
    return found
