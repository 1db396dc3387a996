"""What the columns of a table are: numbers, names, ratings in long form, or texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rprnmf.inputs.matrix import Column, Options
from rprnmf.inputs.text import is_missing, number

USERS = {"user", "userid", "users", "reviewer", "reviewerid", "customer", "customerid", "person"}
USERS |= {"row", "rowid", "i", "rater", "member", "memberid", "respondent", "visitor", "visitorid"}
ITEMS = {"item", "itemid", "items", "movie", "movieid", "film", "filmid", "product", "productid"}
ITEMS |= {"asin", "book", "bookid", "isbn", "song", "songid", "track", "trackid", "artist", "col"}
ITEMS |= {"artistid", "business", "businessid", "column", "columnid", "j", "joke", "game", "gameid"}
ITEMS |= {"anime", "animeid", "recipe", "recipeid", "article", "articleid", "parentasin"}
RATINGS = {"rating", "ratings", "score", "stars", "value", "count", "counts", "plays", "overall"}
RATINGS |= {"weight", "bookrating", "playcount", "x", "quantity", "clicks"}
TEXTS = {"text", "texts", "document", "documents", "content", "body", "abstract", "review"}
TEXTS |= {"description", "sentence", "tweet", "comment", "message", "reviewtext", "plot"}
NAMES = {"", "id", "ids", "index", "name", "names", "row", "rowname", "rownames", "key"}
NAMES |= {"unnamed0", "title", "filename", "file"}
LONG = (3, 4)  # columns of ratings in long form
YEAR_1973 = 1e8  # seconds since 1970: times of ratings are later
FEW = 20  # different ratings
LEAST_WORDS = 4  # words of a text, in the mean
WHOLE = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True)
class Layout:
    """Which column is what, by position."""

    kind: str  # "table", "ratings" or "texts"
    header: list[str] | None
    n_cells: int  # of every row
    index: int | None = None
    roles: tuple[int, ...] = ()  # of user, item and rating; or of the text; or of all numbers

    def label(self, place: int) -> int | str:
        """The name of a column, or its number from 1, for messages."""
        if self.header and self.header[place].strip():
            return self.header[place]
        return place + 1

    @property
    def first(self) -> int:
        """The row that data begin in."""
        return int(self.header is not None)


class Columns:
    """The sampled cells of a table by column, and what is true of them.

    Parameters
    ----------
    rows : list of list of str
    decimal : str
    """

    def __init__(self, rows: Sequence[Sequence[str]], decimal: str):
        self.width = Counter(map(len, rows)).most_common(1)[0][0]
        whole = [row for row in rows if len(row) == self.width]
        self.cells = [[row[place].strip() for row in whole] for place in range(self.width)]
        self.decimal = decimal

    def numeric(self, place: int) -> bool:
        """Whether all cells are numbers or missing, and some are numbers."""
        found = [number(cell, self.decimal) for cell in self.cells[place]]
        return None not in found and not all(is_missing(cell) for cell in self.cells[place])

    def mostly_numeric(self, place: int) -> bool:
        """Whether at least half of the cells are numbers."""
        found = [number(cell, self.decimal) for cell in self.cells[place]]
        return 2 * sum(value is not None for value in found) >= len(found)

    def whole(self, place: int) -> bool:
        """Whether all cells are whole numbers."""
        return all(WHOLE.fullmatch(cell) for cell in self.cells[place])

    def largest(self, place: int) -> float:
        """The largest number."""
        found = [number(cell, self.decimal) for cell in self.cells[place]]
        return max((value for value in found if value is not None and value == value), default=0.0)

    def words(self, place: int) -> float:
        """The mean number of words."""
        return sum(len(cell.split()) for cell in self.cells[place]) / max(len(self.cells[place]), 1)

    def distinct(self, place: int) -> bool:
        """Whether no cell is empty or occurs twice."""
        return "" not in self.cells[place] and len(set(self.cells[place])) == len(self.cells[place])


def plain(name: str) -> str:
    """A name of a column in small letters and digits alone."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def find_layout(
    rows: list[list[str]],
    decimal: str,
    options: Options,
    kind: str | None,
    fail: Callable[..., Exception],
) -> Layout:
    """Decide what a table is.

    Parameters
    ----------
    rows : list of list of str
        The first rows, the header included if there is one.
    decimal : str
    options : Options
        What is said there is not guessed.
    kind : {"table", "ratings", "texts"} or None
        What it must be.
    fail : callable
        Makes the error of a reason.
    """
    headed = options.header if options.header is not None else has_header(rows, decimal)
    header = [cell.strip() for cell in rows[0]] if headed else None
    body = rows[1:] if headed else rows
    if not body:
        raise fail("has a header and no rows; expected at least one row of data.")
    columns = Columns(body, decimal)
    if header is not None and len(header) == columns.width - 1:
        header = ["", *header]  # R leaves the corner out
    if header is not None and len(header) != columns.width:
        raise fail(
            f"the header has {len(header)} cells, most rows have {columns.width}; expected as many."
        )

    def place(column: Column | None) -> int | None:
        return None if column is None else place_of(column, header, columns.width, fail)

    asked = [place(column) for column in (options.user, options.item, options.rating)]
    text = place(options.text)
    long = None
    if kind == "ratings" or any(one is not None for one in asked):
        long = _asked_roles(asked, header, columns, fail)
    elif kind is None and text is None:
        long = _long_roles(header, columns)
    if long is not None:
        return Layout("ratings", header, columns.width, None, long)
    if kind is None and text is None:
        text = _text_column(header, columns)
    if kind == "texts" and text is None:
        text = _text_column(header, columns, forced=True)
    index = options.index
    if index is None:
        found = _index_column(header, columns, text)
    else:
        found = None if index is False else place(index)
    if text is not None:
        return Layout("texts", header, columns.width, found, (text,))
    dropped = {place(column) for column in options.drop} | {found}
    kept = tuple(k for k in range(columns.width) if k not in dropped)
    if not kept:
        raise fail("has no column of numbers left; expected at least one.")
    return Layout("table", header, columns.width, found, kept)


def place_of(column: Column, header: list[str] | None, width: int, fail: Any) -> int:
    """The position of a column that is given by name or position."""
    known = "no names" if header is None else ", ".join(map(repr, header[:20]))
    if isinstance(column, str):
        for same in (str, plain):
            found = [k for k, name in enumerate(header or ()) if same(name) == same(column)]
            if len(found) == 1:
                return found[0]
        if not WHOLE.fullmatch(column):
            raise fail(f"has no column {column!r}; expected one of its columns, found {known}.")
    place = int(column)
    if not -width <= place < width:
        raise fail(f"has no column {place}; expected 0 to {width - 1}, found {known}.")
    return place % width


def has_header(rows: list[list[str]], decimal: str) -> bool:
    """Whether the first row has names: words above numbers, or what names look like."""
    first, rest = [cell.strip() for cell in rows[0]], rows[1:]
    names = {plain(cell) for cell in first if cell}
    if not rest:
        return len(first) > 1 and all(number(cell, decimal) is None for cell in first)
    columns = Columns(rest, decimal)
    if all(len(row) == len(first) + 1 for row in rest):
        return True
    if len(first) != columns.width:
        return False
    for place, cell in enumerate(first):
        if number(cell, decimal) is None and columns.numeric(place):
            return True
    if first[0] == "" and "" not in columns.cells[0] and len(first) > 1:
        return True
    known = NAMES | USERS | ITEMS
    others = first[1:]
    if plain(first[0]) in known and all(WHOLE.fullmatch(cell) for cell in others):
        # years or numbers of items as names; the cell above the names of rows gives them away
        return len(set(others)) == len(others) and not columns.numeric(0)
    if any(number(cell, decimal) is not None for cell in first):
        return len(first) >= 4 and first == [str(k) for k in range(len(first))]
    return bool(names & (TEXTS | NAMES | USERS | ITEMS | RATINGS)) and len(set(first)) == len(first)


def _asked_roles(
    asked: list[int | None], header: list[str] | None, columns: Columns, fail: Any
) -> tuple[int, ...]:
    """User, item and rating where some were said, or the format was."""
    named = _named_roles(header) if header is not None else [None, None, None]
    chosen = [one if one is not None else other for one, other in zip(asked, named, strict=True)]
    free = [k for k in range(columns.width) if k not in chosen]
    for at, role in enumerate(chosen):
        if role is None:
            if not free:
                raise fail(f"has {columns.width} columns; expected three: user, item and rating.")
            chosen[at] = free.pop(0)
    if len(set(chosen)) < 3:
        raise fail("user, item and rating must be three different columns.")
    return tuple(k for k in chosen if k is not None)


def _named_roles(header: list[str]) -> list[int | None]:
    names = [plain(name) for name in header]
    return [
        next((k for k, name in enumerate(names) if name in known), None)
        for known in (USERS, ITEMS, RATINGS)
    ]


def _long_roles(header: list[str] | None, columns: Columns) -> tuple[int, ...] | None:
    """User, item and rating, if these are ratings in long form; else None."""
    if columns.width < 3:
        return None
    if header is not None:
        named = _named_roles(header)
        if None not in named and columns.mostly_numeric(named[2] or 0):
            return tuple(k for k in named if k is not None)
    if columns.width not in LONG or not columns.numeric(2):
        return None
    texts = [not columns.numeric(k) for k in (0, 1)]
    if all(texts):
        if columns.mostly_numeric(1):
            return None  # a table of numbers with an odd cell
        return (0, 1, 2) if columns.words(1) < LEAST_WORDS or columns.width == 3 else None
    whole = [columns.whole(k) or text for k, text in zip((0, 1), texts, strict=True)]
    if header is not None or not all(whole):
        return None
    if columns.width == 4:
        timed = columns.whole(3) and columns.largest(3) > YEAR_1973
        return (0, 1, 2) if timed else None
    if any(texts):
        return None  # a column of names and two of numbers
    pairs = list(zip(columns.cells[0], columns.cells[1], strict=True))
    above = all(columns.largest(k) > columns.largest(2) for k in (0, 1))
    few = len(set(columns.cells[2])) <= FEW
    alike = len(pairs) >= 5 and len(set(pairs)) >= 0.9 * len(pairs)
    return (0, 1, 2) if above and few and alike else None


def _text_column(header: list[str] | None, columns: Columns, forced: bool = False) -> int | None:
    """The column of texts; None if the table is one of numbers."""
    texts = [k for k in range(columns.width) if not columns.numeric(k)]
    if not texts:
        return 0 if forced else None
    for k in texts:
        if header is not None and plain(header[k]) in TEXTS:
            return k
    longest = max(texts, key=columns.words)
    numbers = columns.width - len(texts)
    if forced or columns.width == 1:
        return longest
    names = longest == 0 and numbers >= 2  # long names before columns of numbers
    return longest if columns.words(longest) >= LEAST_WORDS and not names and numbers <= 2 else None


def _index_column(header: list[str] | None, columns: Columns, text: int | None) -> int | None:
    """The column of names, which is the first or none."""
    if columns.width == 1 or text == 0:
        return None
    if text is not None:
        return 0 if columns.distinct(0) else None
    if header is not None:
        name = plain(header[0])
        if name in NAMES or (name.endswith("id") and columns.distinct(0)):
            return 0
    return None if columns.numeric(0) else 0
