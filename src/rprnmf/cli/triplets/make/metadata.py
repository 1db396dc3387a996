"""``rprnmf triplets make metadata``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.files import INPUT
from rprnmf.cli.options import seed
from rprnmf.cli.report import Report
from rprnmf.cli.side_files import numbers
from rprnmf.cli.tables import TextTable, read_table
from rprnmf.cli.triplets.make import common

KINDS = ("category", "tags", "ordered")


@command("rprnmf triplets make metadata films.csv --tags genres --ordered year --out triplets.csv")
@click.argument("file", type=INPUT)
@click.option("--category", multiple=True, metavar="COLUMN", help="The same or not, as a job.")
@click.option("--tags", multiple=True, metavar="COLUMN", help='Several in a cell: "Comedy|Drama".')
@click.option("--ordered", multiple=True, metavar="COLUMN", help="Numbers, as an age.")
@click.option(
    "--importance", multiple=True, metavar="COLUMN=NUMBER", help="What counts more or less than 1."
)
@common.names
@common.count
@common.margin
@seed
@common.out
def metadata(given: Any) -> Report:
    """Make comparisons "q has more in common with r than with s".

    FILE is CSV with a header and one row per item. If no column is named, all but the first count:
    numbers as ordered, cells with | between words as tags, others as categories.
    """
    common.check(given, given.file)
    from rprnmf.triplets import triplets_from_metadata

    table = read_table(given.file)
    kinds = {kind: list(getattr(given, kind)) for kind in KINDS}
    used = [name for columns in kinds.values() for name in columns]
    called = table.names(given.names, used)
    if not used:
        kinds = guessed(table, given.names)
        said = [f"{name} ({kind})" for kind, columns in kinds.items() for name in columns]
        given.run.note(f"compared are {', '.join(said)}.")
    made = triplets_from_metadata(
        given.count,
        categories={name: cells(table, name) for name in kinds["category"]},
        tags={name: [each or None for each in table.column(name)] for name in kinds["tags"]},
        ordered={name: ordered(table, name) for name in kinds["ordered"]},
        importance=importance(given.importance),
        margin=given.margin,
        random_state=given.seed,
    )
    return common.written(given, made, called)


def guessed(table: TextTable, names: str | None) -> dict[str, list[str]]:
    """What every column but that of names is."""
    kinds: dict[str, list[str]] = {kind: [] for kind in KINDS}
    first = names if names is not None else next(iter(table.columns))
    for name, values in table.columns.items():
        if name == first:
            continue
        is_number = all(isinstance(value, float) for value in numbers(values))
        tagged = any("|" in value for value in values)
        kinds["ordered" if is_number else "tags" if tagged else "category"].append(name)
    if not any(kinds.values()):
        raise ValueError(f"{table.path} has no column beside the names; nothing can be compared.")
    return kinds


def cells(table: TextTable, name: str) -> list[str | None]:
    """A column of categories; empty cells are not known."""
    return [text.strip() or None for text in table.column(name)]


def ordered(table: TextTable, name: str) -> list[float]:
    """A column of numbers."""
    found = numbers(table.column(name))
    for row, value in enumerate(found, start=1):
        if not isinstance(value, float):
            raise ValueError(
                f"{table.path}, row {row}: {name} must be a number or empty, found {value!r}."
            )
    return found


def importance(given: tuple[str, ...]) -> dict[str, float]:
    """Column=number, as a mapping."""
    found = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            found[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            raise click.UsageError(f"--importance must be COLUMN=NUMBER, got {text!r}.")
    return found
