"""Delimited text: its encoding, its delimiter, its cells with the lines that they stand in."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from rprnmf.inputs.errors import InputError
from rprnmf.inputs.matrix import DELIMITERS, Options
from rprnmf.inputs.source import DAMAGES, HEAD, Source

MOST_SAMPLED = 1 << 26  # bytes
LONGEST_CELL = 1 << 28
ROWS = 1000  # to look at
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
COMMA_NUMBER = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
FALLBACK = "latin-1"
UTF8 = ("utf-8", "utf-8-sig")
LIKE_ASCII = ("utf-8", "ascii", "iso8859", "cp125", "koi8")  # no letter has bytes of a delimiter
Result = TypeVar("Result")
LINE = "\n"  # the delimiter of a file in which every line is one cell


def number(cell: str, decimal: str = ".") -> float | None:
    """The number in a cell: NaN if it is missing, None if it is something else."""
    cell = cell.strip()
    if decimal == ",":
        cell = cell.replace(",", ".") if "." not in cell else "."
    if NUMBER.fullmatch(cell):
        return float(cell)
    return float("nan") if cell.lower() in MISSING else None


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing number."""
    return cell.strip().lower() in MISSING


class Sample(NamedTuple):
    """The first rows of a text file and how they are written."""

    rows: list[list[str]]
    lines: list[int]  # in which each row begins
    delimiter: str
    decimal: str
    encoding: str
    data: bytes  # the rows come from
    whole: bool  # whether that is the whole file

    def offset(self, row: int) -> int | None:
        """Where a row begins, in bytes; None if that cannot be told."""
        ends = self.data.count(b"\r") == self.data.count(b"\r\n")
        one_byte = codecs.lookup(self.encoding).name.startswith(LIKE_ASCII)
        if not one_byte or not ends or row >= len(self.rows):
            return None
        at = 3 if self.data.startswith(codecs.BOM_UTF8) else 0
        for _ in range(self.lines[row] - 1):
            at = self.data.index(b"\n", at) + 1
        return at


def take_sample(source: Source, options: Options) -> Sample:
    """Look at the first rows of a text file."""
    data, whole = _first_bytes(source)
    encoding = options.encoding or _encoding(data, whole)
    text = _decode(source, data, encoding, whole)
    if "\0" in text:
        raise source.fail("is not text: it has zero bytes; expected a table, or another format.")
    delimiter, rows, lines = _best_split(source, text, options, whole)
    if not rows:
        raise source.fail("has no lines with content; expected a table.")
    decimal = options.decimal or _decimal(rows, delimiter)
    return Sample(rows, lines, delimiter, decimal, encoding, data, whole)


def _best_split(
    source: Source, text: str, options: Options, whole: bool
) -> tuple[str, list[list[str]], list[int]]:
    """The delimiter that fits best, the rows, and their lines."""
    found = []
    for delimiter in [options.delimiter] if options.delimiter else DELIMITERS:
        rows, lines = _split(source, text, delimiter, whole)
        found.append((_rate(rows, delimiter, options.decimal), delimiter, rows, lines))
    (even, share, _), delimiter, rows, lines = max(found, key=lambda one: one[0])
    sentences = not even and share < 0.5 and source.suffix not in (".csv", ".tsv")
    if sentences and not options.delimiter:
        return LINE, *_split(source, text, LINE, whole)
    return delimiter, rows, lines


def _first_bytes(source: Source) -> tuple[bytes, bool]:
    """At least three lines if the file has them; and whether that is all."""
    with source.open() as file, source.guard():
        data = file.read(HEAD)
        while data.count(b"\n") < 3 and len(data) < MOST_SAMPLED:
            more = file.read(len(data) or 1)
            if not more:
                break
            data += more
        return data, not file.read(1)


def _encoding(data: bytes, whole: bool) -> str:
    for mark, name in MARKS.items():
        if data.startswith(mark):
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=whole)
    except UnicodeDecodeError:
        return FALLBACK
    return "utf-8"


def _decode(source: Source, data: bytes, encoding: str, whole: bool) -> str:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data, final=whole)
    except LookupError:
        raise source.fail(f"there is no encoding {encoding!r}.") from None
    except UnicodeError as error:
        raise source.fail(f"is not {encoding} text ({error}).") from None


def _split(
    source: Source, text: str, delimiter: str, whole: bool
) -> tuple[list[list[str]], list[int]]:
    """The first rows; a last one that may not be complete is left out."""
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for line, row in numbered_rows(io.StringIO(text, newline=""), delimiter, source.fail):
            rows.append(row)
            lines.append(line)
            if len(rows) > ROWS:
                break
    except InputError:  # the reader that reads it all says where; here others may fit better
        return rows, lines
    if not whole and len(rows) > 1 and len(rows) <= ROWS:
        return rows[:-1], lines[:-1]
    return rows, lines


def _rate(rows: list[list[str]], delimiter: str, decimal: str | None) -> tuple:
    """How well a delimiter fits: rows of one length, many numbers, many cells."""
    if not rows:
        return (False, 0.0, 0)
    body = rows[1:] or rows
    width = max(map(len, body))
    first = len(rows[0]) in (width, max(width - 1, 2))  # R leaves the corner of a header out
    even = width > 1 and first and all(len(row) == width for row in body)
    point = decimal or _decimal(body, delimiter)
    cells = [cell for row in body for cell in row]
    share = sum(number(cell, point) is not None for cell in cells) / max(len(cells), 1)
    if delimiter == " " and share < 0.5:  # a sentence
        return (False, 0.0, 0)
    return (even, round(share, 1), width)


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    """A comma if the numbers have one and none has a point."""
    if delimiter == ",":
        return "."
    cells = [cell.strip() for row in rows for cell in row]
    if any(NUMBER.fullmatch(cell) and "." in cell for cell in cells):
        return "."
    return "," if any(COMMA_NUMBER.fullmatch(cell) for cell in cells) else "."


def numbered_rows(
    file: Iterable[str],
    delimiter: str,
    fail: Callable[[str, int], Exception],
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table that are not blank, each with the line that it begins in.

    Lines before the first row that begin with # are comments. A quoted cell may hold several
    lines.

    Parameters
    ----------
    file : iterable of str
        Lines with their ends, as of a file that was opened with ``newline=""``.
    delimiter : str
        More than one character: every occurrence separates, and quotes mean nothing. A blank:
        any number of them.
    fail : callable
        Makes the error of a reason and a line.
    """
    if delimiter in ("::", " ", LINE):
        split = str.split if delimiter == " " else lambda line: line.rstrip("\r\n").split(delimiter)
        begun = False
        for line, text in enumerate(file, start=1):
            if text.strip() and (begun or not text.startswith("#")):
                begun = True
                yield line, split(text)
        return
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        begin = 1
        begun = False
        while True:
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise fail(f"{error}; expected a row of cells.", begin) from None
            if row is None:
                return
            if row and (begun or not row[0].startswith("#")):
                begun = True
                yield begin, row
            begin = reader.line_num + 1
    finally:
        csv.field_size_limit(before)


def all_rows(
    source: Source, sample: Sample, encoding: str | None = None
) -> Iterator[tuple[int, list[str]]]:
    """All rows of a file, from the first; text that cannot be decoded raises UnicodeDecodeError."""
    with (
        source.open() as file,
        io.TextIOWrapper(file, encoding=encoding or sample.encoding, newline="") as text,
    ):
        try:
            yield from numbered_rows(text, sample.delimiter, source.fail)
        except DAMAGES as error:
            raise source.damaged(error) from None


def with_fallback(source: Source, encoding: str, read: Callable[[str], Result]) -> Result:
    """Call ``read`` with the encoding, and if text is not UTF-8 after all, with Latin-1."""
    try:
        return read(encoding)
    except UnicodeDecodeError as error:
        if encoding not in UTF8:
            raise source.fail(f"is not {encoding} text ({error}).") from None
        return read(FALLBACK)
