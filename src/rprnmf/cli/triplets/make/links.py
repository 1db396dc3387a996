"""``rprnmf triplets make links``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.files import INPUT
from rprnmf.cli.options import seed
from rprnmf.cli.report import Report
from rprnmf.cli.tables import read_table
from rprnmf.cli.triplets.make import common

YES = ("1", "must", "same", "yes", "true", "+")
NO = ("0", "-1", "cannot", "different", "no", "false", "-")


@command("rprnmf triplets make links links.csv --out triplets.csv")
@click.argument("file", type=INPUT)
@click.option(
    "-n",
    "--count",
    type=click.IntRange(1),
    metavar="N",
    help="How many to draw at random (default: all).",
)
@seed
@common.out
def links(given: Any) -> Report:
    """Make comparisons from pairs that belong together and pairs that do not.

    FILE is CSV with a header and three columns: two items, and whether they belong together: must
    or cannot (or same and different, yes and no, 1 and 0).
    """
    common.check(given, given.file)
    from rprnmf.triplets import triplets_from_links

    table = read_table(given.file)
    if len(table.columns) != 3:
        raise ValueError(
            f"{table.path} must have three columns, two items and must or cannot; found "
            f"{len(table.columns)}."
        )
    first, second, said = table.columns.values()
    number: dict[str, int] = {}
    for name in (*first, *second):
        number.setdefault(name, len(number))
    pairs: dict[bool, list[list[int]]] = {True: [], False: []}
    for row, (a, b, word) in enumerate(zip(first, second, said, strict=True), start=1):
        word = word.strip().lower()
        if word not in (*YES, *NO):
            raise ValueError(f"{table.path}, row {row}: expected must or cannot, found {word!r}.")
        pairs[word in YES].append([number[a], number[b]])
    made = triplets_from_links(pairs[True], pairs[False], given.count, random_state=given.seed)
    return common.written(given, made, list(number))
