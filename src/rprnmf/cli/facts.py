"""Tables of what is known of users and items, by the names that ratings use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from rprnmf.cli.tables import TextTable, read_table

TITLES = ("title", "name", "label")


def facts_of(path: str | None, names: Iterable[str]) -> dict[str, dict[str, Any]] | None:
    """A table by the names that the ratings use."""
    if path is None:
        return None
    table = read_table(path)
    column = name_column(table, set(names))
    name, count = Counter(table.columns[column]).most_common(1)[0]
    if count > 1:
        raise ValueError(
            f"{table.path}: column {column!r} has the id {name!r} more than once; expected one row "
            "for each."
        )
    rest = {name: as_numbers(cells) for name, cells in table.columns.items() if name != column}
    return {
        name: {key: cells[row] for key, cells in rest.items()}
        for row, name in enumerate(table.columns[column])
    }


def name_column(table: TextTable, known: set[str]) -> str:
    """The column that has most of the names."""
    hits = {name: len(known & set(cells)) for name, cells in table.columns.items()}
    best = max(hits, key=lambda name: hits[name])
    if hits[best] == 0:
        raise ValueError(
            f"{table.path} must have a column with names that the ratings use, as "
            f"{min(known)!r}; found none in {', '.join(map(repr, table.columns))}."
        )
    return best


def as_numbers(cells: list[str]) -> list[Any]:
    """Numbers, where all cells that are not empty are; else text, None where empty."""
    try:
        return [float(cell) if cell.strip() else None for cell in cells]
    except ValueError:
        return [cell if cell.strip() else None for cell in cells]


def titles_of(facts: dict[str, dict[str, Any]] | None) -> dict[str, str]:
    """What items are called, if the table says so."""
    found = {}
    for item, known in (facts or {}).items():
        title = next((value for key, value in known.items() if key.lower() in TITLES), None)
        if title is not None:
            found[item] = title
    return found
