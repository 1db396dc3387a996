"""Ratings or clicks in long form, line by line: repeats, signs and times stay as they are."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from math import isfinite
from typing import Any, NamedTuple

from rprnmf.cli.long_roles import Lines, find_lines

NEEDED = "column of times, called timestamp, time or date"


class Found(NamedTuple):
    """Ratings of a file.

    Attributes
    ----------
    table : Table
        With the columns user, item, and perhaps rating and timestamp.
    names : list of two lists of str
        The different users and items.
    note : str
        What was understood.
    """

    table: Any
    names: list[list[str]]
    note: str


def read_lines(source: Any, kind: str | None, options: Any, timed: bool) -> Found | None:
    """Ratings in long form; None if the file is something else, or a matrix is asked for.

    Parameters
    ----------
    source : Source
    kind : str or None
        The format; None: text with delimiters.
    options : Options
    timed : bool
        Whether times are needed; else they are not looked at.
    """
    import numpy as np

    from rprnmf.inputs.text import FALLBACK
    from rprnmf.recommend.metadata import Table

    lines = find_lines(source, kind, options)
    if lines is None:
        return None
    if timed and lines.time is None:
        raise source.fail(f"--split time needs a {NEEDED}.")
    if not timed:
        lines = lines._replace(time=None)
    names, codes, numbers, encoding = _fast(source, lines) or _cell_by_cell(source, lines)
    ids = [
        np.fromiter(known, dtype=object, count=len(known))[code]
        for known, code in zip(names, codes, strict=True)
    ]
    columns = dict(zip(("user", "item"), ids, strict=True)) | numbers
    what = "ratings" if "rating" in numbers else "clicks"
    note = (
        f"{source.title}: {what} in long form, {len(names[0])} users x {len(names[1])} items, "
        f"{len(ids[0])} lines"
    )
    if encoding == FALLBACK:
        note += ", read as Latin-1 since it is not UTF-8"
    return Found(Table(columns), names, note + ".")


def _fast(source: Any, lines: Lines) -> Any:
    """Compiled, once for each column of numbers; None if the file has something odd."""
    import numpy as np

    from rprnmf.inputs.ratings import fast_entries

    layout, numbers, found = lines.layout, {}, None
    for what, place in lines.numbers().items() or [("", None)]:
        roles = layout.roles[:2] + (() if place is None else (place,))
        found = fast_entries(source, lines.sample, replace(layout, roles=roles))
        if found is None or not found.blocks:
            return None
        if place is not None:
            numbers[what] = np.concatenate([block.values for block in found.blocks])
    assert found is not None
    codes = [
        np.concatenate([block.row_of[block.rows] for block in found.blocks]),
        np.concatenate([block.column_of[block.columns] for block in found.blocks]),
    ]
    return [list(map(str, known.tolist())) for known in found.names], codes, numbers, found.encoding


def _cell_by_cell(source: Any, lines: Lines) -> Any:
    """Any text file; every error with its line and column."""
    from rprnmf.inputs.text import with_fallback

    return with_fallback(
        source, lines.sample.encoding, lambda encoding: _cells(source, lines, encoding)
    )


def _cells(source: Any, lines: Lines, encoding: str) -> Any:
    import numpy as np

    from rprnmf.inputs.text import all_rows

    layout, wanted = lines.layout, lines.numbers()
    known: list[dict[str, int]] = [{}, {}]
    codes: list[list[int]] = [[], []]
    numbers: dict[str, list[float]] = {what: [] for what in wanted}
    for n, (line, row) in enumerate(all_rows(source, lines.sample, encoding)):
        if n < layout.first:
            continue
        if len(row) != layout.n_cells:
            raise source.fail(f"has {len(row)} cells, expected {layout.n_cells}.", line)
        for side, place in enumerate(layout.roles[:2]):
            name = row[place].strip()
            if not name:
                raise source.fail("expected a name, found nothing.", line, layout.label(place))
            codes[side].append(known[side].setdefault(name, len(known[side])))
        for what, place in wanted.items():
            value = READERS[what](row[place], lines.sample.decimal)
            if value is None or not isfinite(value):
                raise source.fail(
                    f"expected a {EXPECTED[what]}, found {row[place]!r}.", line, layout.label(place)
                )
            numbers[what].append(value)
    arrays = {what: np.array(values) for what, values in numbers.items()}
    return [list(names) for names in known], [np.array(one) for one in codes], arrays, encoding


def as_rating(cell: str, decimal: str) -> float | None:
    """A number, of any sign."""
    from rprnmf.inputs.text import number

    return number(cell, decimal)


def as_time(cell: str, decimal: str) -> float | None:
    """A number, or a date as 2026-01-31 or 2026-01-31 18:30: seconds since 1970."""
    found = as_rating(cell, decimal)
    if found is not None:
        return found
    try:
        when = datetime.fromisoformat(cell.strip())
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


READERS = {"rating": as_rating, "timestamp": as_time}
EXPECTED = {"rating": "rating, a number", "timestamp": "time, a number or a date as 2026-01-31"}
