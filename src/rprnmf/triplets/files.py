"""Triplets in files: CSV and Parquet, one row per triplet.

The columns are q, r, s and, if votes were counted, weight, in any order; others are ignored.
"""

from __future__ import annotations

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from rprnmf.atomic_file import atomic_file
from rprnmf.inputs.errors import InputError, need
from rprnmf.inputs.text import numbered_rows

COLUMNS = ("q", "r", "s")
WEIGHT = "weight"
NAMED = b"rprnmf_named"  # in the metadata of a Parquet file
MOST_DIGITS = 18  # int64 holds every whole number of so many digits
BLOCK = 1 << 16  # rows that are written at a time
_WHOLE = re.compile(r"-?[0-9]+")


class TripletFileError(InputError):
    """A file of triplets that cannot be read: which, where and why."""

    def __init__(self, path: Any, line: int | None, reason: str):
        super().__init__(path, reason, line)

    def __reduce__(self) -> tuple:
        return type(self), (self.path, self.line, self.reason)


def read_columns(
    path: Any, named: bool | None, names: Any = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """The items (int64, or object for names) and the weights of a file, checked line by line.

    With ``names`` every item must be one of them.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return _Csv(path).read(named, names)
    if suffix in (".parquet", ".pq"):
        return _Parquet(path).read(named, names)
    raise TripletFileError(path, None, f"the suffix must be .csv or .parquet, got {suffix!r}.")


class _Source(ABC):
    """Columns of text or of numbers, and the line that each row stands in."""

    def __init__(self, path: Path):
        self.path = path

    @abstractmethod
    def columns(self) -> dict[str, Any]:
        """Every column that is asked for."""

    @abstractmethod
    def line(self, row: int) -> int:
        """The line of a row."""

    def fail(self, row: int, reason: str) -> NoReturn:
        """Raise for one row."""
        raise TripletFileError(self.path, self.line(row), reason)

    def choose(self, header: Sequence[str], line: int | None) -> list[str]:
        """The columns to read, in the order of the file."""
        names = [name.strip() for name in header]
        wanted = [*COLUMNS, WEIGHT]
        for name in COLUMNS:
            if name not in names:
                raise TripletFileError(
                    self.path,
                    line,
                    f"the column {name!r} is missing; expected q, r, s and perhaps weight, found "
                    + (", ".join(repr(other) for other in names) or "nothing"),
                )
        for name in wanted:
            if names.count(name) > 1:
                raise TripletFileError(self.path, line, f"the column {name!r} occurs twice")
        return names

    def read(self, named: bool | None, names: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Items and weights."""
        columns = self.columns()
        parts = [columns[name] for name in COLUMNS]
        items = self.items(parts, named) if names is None else self.among(parts, names)
        q, r, s = items.T
        same = np.asarray((q == r) | (q == s) | (r == s), dtype=bool)
        if same.any():
            row = int(np.flatnonzero(same)[0])
            found = tuple(items[row].tolist())
            self.fail(row, f"q, r and s must be three different items, found {found}")
        weights = columns.get(WEIGHT)
        return items, None if weights is None else self.weights(weights)

    def among(self, parts: list[Any], names: Any) -> np.ndarray:
        """Items that are all among the given names, which a file may have as text."""
        known: dict[Any, Any] = {}
        for name in names.tolist() if isinstance(names, np.ndarray) else list(names):
            known[name] = name
            known.setdefault(str(name), name)
        items = np.empty((len(parts[0]), 3), dtype=object)
        for place, part in enumerate(parts):
            cells = part.tolist() if isinstance(part, np.ndarray) else part
            for row, cell in enumerate(cells):
                if cell not in known:
                    self.fail(
                        row, f"{COLUMNS[place]} is {cell!r}, which is not one of the known names"
                    )
                items[row, place] = known[cell]
        return items

    @abstractmethod
    def items(self, parts: list[Any], named: bool | None) -> np.ndarray:
        """All items as one array."""

    def weights(self, column: Any) -> np.ndarray:
        """The weights as numbers."""
        try:
            weights = np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            weights = np.array([_number(value) for value in column])
        bad = ~(np.isfinite(weights) & (weights > 0))
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            found = column[row].item() if isinstance(column, np.ndarray) else column[row]
            self.fail(row, f"weight must be a positive number, found {found!r}")
        return weights


class _Csv(_Source):
    """Comma separated text in UTF-8 with a header."""

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """The lines that are not blank, with their numbers."""
        try:
            with open(self.path, newline="", encoding="utf-8-sig") as file:
                yield from numbered_rows(file, ",", self.error)
        except UnicodeDecodeError as error:
            raise TripletFileError(self.path, None, f"is not UTF-8 text ({error.reason})") from None

    def error(self, reason: str, line: int) -> TripletFileError:
        """The error for a line that is no row of a CSV file."""
        return TripletFileError(self.path, line, reason)

    def columns(self) -> dict[str, Any]:
        rows = self.rows()
        first = next(rows, None)
        if first is None:
            raise TripletFileError(self.path, None, "is empty; expected a header q,r,s[,weight]")
        line, header = first
        names = self.choose(header, line)
        wanted = [(place, name) for place, name in enumerate(names) if name in _WANTED]
        cells: dict[str, list[str]] = {name: [] for _, name in wanted}
        stores = [(place, cells[name].append) for place, name in wanted]
        for line, row in rows:  # rows are not kept: a million lists slow the garbage collector
            if len(row) != len(names):
                raise TripletFileError(
                    self.path, line, f"has {len(row)} cells, the header has {len(names)}"
                )
            for place, store in stores:
                store(row[place])
        return cells

    def line(self, row: int) -> int:
        for number, (line, _) in enumerate(self.rows()):
            if number == row + 1:  # the header is the first
                return line
        raise IndexError(row)

    def items(self, parts: list[Any], named: bool | None) -> np.ndarray:
        n = len(parts[0])
        if n == 0:
            return np.empty((0, 3), dtype=object if named else np.int64)
        if named is None:
            named = not _WHOLE.fullmatch(parts[0][0])
        items = np.empty((n, 3), dtype=object if named else np.int64)
        for place, part in enumerate(parts):
            if named:
                if "" in part:
                    self.fail(part.index(""), f"the cell {COLUMNS[place]} is empty")
                items[:, place] = part
                continue
            self.check_whole(place, part)
            items[:, place] = list(map(int, part))
        return items

    def check_whole(self, place: int, part: list[str]) -> None:
        """Fail at the first cell that is not a whole number, counted from 0."""
        for row, cell in enumerate(part):
            if not (cell.isdigit() and cell.isascii() and len(cell) <= MOST_DIGITS):
                self.fail(
                    row,
                    f"{COLUMNS[place]} must be a whole number, as the first item is, at least 0 "
                    f"and of at most {MOST_DIGITS} digits, found {cell!r}; pass named=True if the "
                    "items are names",
                )


class _Parquet(_Source):
    """Columns with types; needs pyarrow."""

    is_named = False  # whether it was written so

    def columns(self) -> dict[str, Any]:
        pa = need("pyarrow", self.path, "pyarrow", "data")
        parquet = need("pyarrow.parquet", self.path, "pyarrow", "data")
        try:
            names = self.choose(parquet.read_schema(self.path).names, None)
            table = parquet.read_table(self.path, columns=[n for n in names if n in _WANTED])
        except pa.ArrowInvalid as error:
            raise TripletFileError(self.path, None, f"is not a Parquet file ({error})") from None
        self.is_named = (table.schema.metadata or {}).get(NAMED) == b"1"
        for name in (*COLUMNS, WEIGHT):
            if name in table.column_names and table.column(name).null_count:
                missing = table.column(name).is_null().to_numpy(zero_copy_only=False)
                self.fail(int(np.flatnonzero(missing)[0]), f"the cell {name} is empty")
        return {
            name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names
        }

    def line(self, row: int) -> int:
        return row + 1

    def items(self, parts: list[Any], named: bool | None) -> np.ndarray:
        for place, part in enumerate(parts):
            if part.dtype.kind not in "iuOUS":
                raise TripletFileError(
                    self.path,
                    None,
                    f"the column {COLUMNS[place]!r} must hold whole numbers or names, found "
                    f"{part.dtype}",
                )
            large = part.dtype.kind == "u" and part > np.iinfo(np.int64).max
            if np.any(large):
                self.fail(int(np.flatnonzero(large)[0]), f"{COLUMNS[place]} is too large")
        if len(parts[0]) == 0:
            named = self.is_named if named is None else named
            return np.empty((0, 3), dtype=object if named else np.int64)
        whole = all(part.dtype.kind in "iu" for part in parts)
        if named is False and not whole:
            raise TripletFileError(self.path, None, "expected whole numbers (named=False)")
        named = named or not whole or (named is None and self.is_named)
        for place, part in enumerate(parts):
            if not named and part.min() < 0:
                self.fail(int(np.argmin(part >= 0)), f"{COLUMNS[place]} must be at least 0")
        return np.column_stack([part.astype(object if named else np.int64) for part in parts])


_WANTED = {*COLUMNS, WEIGHT}


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def write_columns(path: Any, items: np.ndarray, weights: np.ndarray) -> None:
    """A file with the columns q, r, s and, unless all weights are 1, weight.

    It is written beside and then moved, so that a reader never sees a part of it.
    """
    suffix = Path(path).suffix.lower()
    path = Path(path).resolve()  # a symbolic link stays one: what it points to is replaced
    if suffix not in (".csv", ".parquet", ".pq"):
        raise ValueError(f"{path}: the suffix must be .csv or .parquet, got {suffix!r}.")
    if suffix == ".csv" and items.dtype == object:
        empty = np.argwhere(items == "")
        if len(empty):
            t, role = empty[0].tolist()
            raise ValueError(
                f"{path}: triplets[{t}] has the empty name '' as {COLUMNS[role]}, which CSV cannot "
                "tell from no name; rename it, or write a Parquet file."
            )
    with_weights = bool((weights != 1).any())
    with atomic_file(path) as part:
        write = _write_csv if suffix == ".csv" else _write_parquet
        write(part, items, weights if with_weights else None)


def _write_csv(path: Path, items: np.ndarray, weights: np.ndarray | None) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*COLUMNS, WEIGHT] if weights is not None else COLUMNS)
        for start in range(0, len(items), BLOCK):
            part = slice(start, start + BLOCK)
            columns = items[part].T.tolist()
            if weights is not None:
                columns.append(weights[part].tolist())
            writer.writerows(zip(*columns, strict=True))


def _write_parquet(path: Path, items: np.ndarray, weights: np.ndarray | None) -> None:
    pa = need("pyarrow", path, "pyarrow", "data")
    parquet = need("pyarrow.parquet", path, "pyarrow", "data")
    columns = {name: items[:, place].tolist() for place, name in enumerate(COLUMNS)}
    if weights is not None:
        columns[WEIGHT] = weights.tolist()
    table = pa.table(columns)
    if items.dtype == object:
        table = table.replace_schema_metadata({NAMED: b"1"})
    parquet.write_table(table, path)
