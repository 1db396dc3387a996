"""What is known of users or items beside the ratings: from a DataFrame or a dict, by id."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from rprnmf.checks import is_missing
from rprnmf.priors.encoding import is_frame, labels_of
from rprnmf.recommend.ratings import NAMES, plain_name

# A label that fewer rows share tells next to nothing of others, and costs a column.
LEAST, LEAST_OF_FEW, FEW_ROWS = 3, 2, 100
MOST_LABELS = 1000  # of one column: the most frequent
FEW_NUMBERS, ENOUGH_ROWS = 25, 50  # so few different numbers may be codes, and count as labels too
TEXT = 0.5  # of the values, if different: free text, whose words are the labels
WORD = re.compile(r"[^\W\d_]{3,}")
YEAR = re.compile(r"\b(1[89]\d\d|20\d\d)\b")
ID_NAMES = {what: (*NAMES[what], "id") for what in ("user", "item")}

NUMBER = (int, float, np.integer, np.floating)


class Table:
    """Columns of equal length, by name; as much of a DataFrame as encoders ask for."""

    def __init__(self, columns: Mapping[str, np.ndarray]):
        self._columns = dict(columns)
        self.columns = list(self._columns)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._columns[name]

    @property
    def iloc(self) -> Any:
        """Some rows: ``table.iloc[places]``."""
        return _Rows(self)


class _Rows:
    def __init__(self, table: Table):
        self.table = table

    def __getitem__(self, places: Any) -> Table:
        return Table({name: self.table[name][places] for name in self.table.columns})


class Metadata:
    """Facts by id.

    Parameters
    ----------
    given : DataFrame or dict
        A DataFrame has its ids in the index, or in a column named user, item, id or the like. A
        dict has for each id a dict of facts, a list of labels or text such as "Comedy|Drama".
    what : {"user", "item"}
    like : Metadata, default=None
        Whose columns are read, in the same way; others are left out.

    Attributes
    ----------
    ids : list
    columns : dict of str to ndarray
        Numbers (float), or cells with labels (object), one entry per id.
    """

    def __init__(self, given: Any, what: str, like: Metadata | None = None):
        self.what = what
        self.ids, raw = _from_frame(given, what) if is_frame(given) else _from_dict(given, what)
        lost = next((k for k, name in enumerate(self.ids) if is_missing(name)), None)
        if lost is not None:
            raise ValueError(f"{what}_metadata has no id in row {lost}: {self.ids[lost]!r}.")
        if len(set(self.ids)) < len(self.ids):
            twice = next(name for name, count in Counter(self.ids).items() if count > 1)
            raise ValueError(f"{what}_metadata has the id {twice!r} more than once.")
        self.readers: dict[str, tuple[str, str]] = (
            _chosen_readers(raw) if like is None else like.readers
        )
        sources = [source for source, _ in self.readers.values()]
        if like is not None and raw and not set(sources) & set(raw):
            raise ValueError(
                f"{what}_metadata has no column of the fit: found {', '.join(map(repr, raw))}, "
                f"expected {', '.join(map(repr, dict.fromkeys(sources)))}."
            )
        self.columns: dict[str, np.ndarray] = {}
        for name, (source, reader) in self.readers.items():
            cells = READERS[reader](raw.get(source, [None] * len(self.ids)), source)
            if like is None and reader in LABELS:
                cells = common(cells)
            self.columns[name] = cells
        self.set_places()

    def set_places(self) -> None:
        """Where each id stands."""
        self._place = {name: place for place, name in enumerate(self.ids)}

    def __contains__(self, name: Any) -> bool:
        return name in self._place

    def table(self, ids: Iterable[Any]) -> Table:
        """One row per id; what is not known of an id is empty."""
        places = np.array([self._place.get(name, -1) for name in ids], dtype=np.int64)
        return Table({name: _picked(values, places) for name, values in self.columns.items()})

    def only(self, ids: list[Any]) -> Metadata:
        """The facts about some ids."""
        part = copy.copy(self)
        part.ids = [name for name in ids if name in self]
        places = np.array([self._place[name] for name in part.ids], dtype=np.int64)
        part.columns = {name: cells[places] for name, cells in self.columns.items()}
        part.set_places()
        return part

    def plus(self, given: Any) -> Metadata:
        """These facts and further ones; where both tell something of an id the new ones count."""
        new = Metadata(given, self.what, like=self)
        joined = copy.copy(self)
        joined.ids = list(dict.fromkeys([*self.ids, *new.ids]))
        joined.set_places()
        before, after = self.table(joined.ids), new.table(joined.ids)
        fresh = np.array([name not in self for name in joined.ids], dtype=bool)
        joined.columns = {
            name: np.where(fresh | _told(after[name]), after[name], before[name])
            for name in self.columns
        }
        return joined


def _told(cells: np.ndarray) -> np.ndarray:
    """Which cells tell something."""
    if cells.dtype.kind == "f":
        return ~np.isnan(cells)
    return np.array([bool(cell) for cell in cells], dtype=bool)


def _picked(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Entries by position; at -1 NaN or no labels."""
    found = np.empty(len(places), dtype=values.dtype)
    found[:] = np.nan if values.dtype.kind == "f" else None
    known = places >= 0
    found[known] = values[places[known]]
    return found


def _from_frame(frame: Any, what: str) -> tuple[list[Any], dict[str, Any]]:
    plain = {name: plain_name(name) for name in frame.columns}
    own = [name for name in frame.columns if plain[name] in ID_NAMES[what]]
    named = getattr(frame.index, "name", None) is not None
    if own and not named:
        ids = frame[own[0]].tolist()
        rest = [name for name in frame.columns if name != own[0]]
    else:
        ids, rest = frame.index.tolist(), list(frame.columns)
    return ids, {str(name): frame[name].tolist() for name in rest}


def _from_dict(given: Any, what: str) -> tuple[list[Any], dict[str, Any]]:
    if not isinstance(given, Mapping):
        raise TypeError(
            f"{what}_metadata must be a DataFrame with one row per {what}, or a dict from ids to "
            f"facts; got {type(given).__name__}."
        )
    ids = list(given)
    facts = [one if isinstance(one, Mapping) else {"labels": one} for one in given.values()]
    names = dict.fromkeys(name for one in facts for name in one)
    return ids, {str(name): [one.get(name) for one in facts] for name in names}


def _chosen_readers(raw: Mapping[str, list[Any]]) -> dict[str, tuple[str, str]]:
    """For each column to be made: the column it is made of, and how."""
    chosen = {}
    for source, values in raw.items():
        for reader in readers_of(values):
            name = source if reader in ("number", "labels") else f"{source} ({reader})"
            chosen[name] = source, reader
    return chosen


def readers_of(values: list[Any]) -> list[str]:
    """How a column is read, by what it holds."""
    known = [value for value in values if not is_missing(value)]
    if not known:
        return []
    if all(isinstance(one, NUMBER) and not isinstance(one, bool) for one in known):
        codes = len(values) >= ENOUGH_ROWS and 2 < len(set(known)) <= FEW_NUMBERS
        return ["number", "code"] if codes else ["number"]
    text = [one for one in known if isinstance(one, str)]
    if len(text) < len(known) or len(set(text)) <= TEXT * len(text) or not _wordy(text):
        return ["labels"]
    dated = sum(YEAR.search(one) is not None for one in text) > TEXT * len(values)
    return ["words", "year"] if dated else ["words"]


def _wordy(text: list[str]) -> bool:
    """Whether texts are sentences and titles, not single labels or lists of them."""
    listed = sum("|" in one for one in text)
    return listed < 0.1 * len(text) and sum(len(one.split()) for one in text) > 1.5 * len(text)


def numbers(values: list[Any], name: str) -> np.ndarray:
    """Numbers; what is not known, or no finite number, is NaN."""
    try:
        found = np.array([np.nan if is_missing(one) else float(one) for one in values])
    except (TypeError, ValueError) as error:
        raise ValueError(f"metadata column {name!r} has numbers, but also {error}.") from error
    except OverflowError:
        raise ValueError(
            f"metadata column {name!r} has a whole number that no float can hold: the largest is "
            "about 1e308."
        ) from None
    return np.where(np.isfinite(found), found, np.nan)


def label_cells(values: list[Any], name: str) -> np.ndarray:
    """Cells of labels."""
    found = []
    for place, cell in enumerate(values):
        try:
            found.append(tuple(dict.fromkeys(labels_of(cell))))
        except TypeError as error:
            raise TypeError(f"metadata column {name!r}, row {place}: {cell!r}: {error}.") from error
    return _filled(found)


def words(values: list[Any], name: str) -> np.ndarray:
    """The words of texts."""
    texts = ["" if is_missing(cell) else str(cell).lower() for cell in values]
    return _filled([tuple(dict.fromkeys(WORD.findall(text))) for text in texts])


def years(values: list[Any], name: str) -> np.ndarray:
    """The last year that a text speaks of."""
    found = [[] if is_missing(cell) else YEAR.findall(str(cell)) for cell in values]
    return np.array([float(one[-1]) if one else np.nan for one in found])


def _filled(cells: list[Any]) -> np.ndarray:
    found = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        found[place] = cell
    return found


def common(cells: np.ndarray) -> np.ndarray:
    """Cells with those labels that several rows share."""
    count = Counter(label for cell in cells for label in cell)
    least = LEAST if len(cells) > FEW_ROWS else LEAST_OF_FEW
    kept = {label for label, times in count.most_common(MOST_LABELS) if times >= least}
    return _filled([tuple(label for label in cell if label in kept) for cell in cells])


READERS: dict[str, Callable[[list[Any], str], np.ndarray]] = {
    "number": numbers,
    "code": label_cells,
    "labels": label_cells,
    "words": words,
    "year": years,
}
LABELS = ("code", "labels", "words")
