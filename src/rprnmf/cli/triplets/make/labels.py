"""``rprnmf triplets make labels``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.files import INPUT
from rprnmf.cli.options import seed
from rprnmf.cli.report import Report
from rprnmf.cli.side_files import UNKNOWN, label_column
from rprnmf.cli.tables import read_table
from rprnmf.cli.triplets.make import common


@command("rprnmf triplets make labels labels.csv --count 500 --out triplets.csv")
@click.argument("file", type=INPUT)
@click.option(
    "--label", metavar="COLUMN", help="The column with labels.  [default: label, or the last]"
)
@common.names
@click.option(
    "-n",
    "--count",
    type=click.IntRange(1),
    metavar="N",
    help="How many to draw at random (default: a few of every class).",
)
@click.option(
    "--per-class",
    type=click.IntRange(2),
    metavar="N",
    default=2,
    show_default=True,
    help="Without --count: points drawn from every class.",
)
@seed
@common.out
def labels(given: Any) -> Report:
    """Make comparisons from classes: q and r are of one class, s is of another.

    FILE is CSV with a header, a column of labels and perhaps one of names. Items whose label is
    empty or -1 occur in none.
    """
    common.check(given, given.file)
    from rprnmf.triplets import triplets_from_labels

    table = read_table(given.file)
    column = label_column(table, given.label)
    known = [
        None if text.strip().lower() in UNKNOWN else text.strip() for text in table.column(column)
    ]
    made = triplets_from_labels(
        known, given.count, per_class=given.per_class, random_state=given.seed
    )
    return common.written(given, made, table.names(given.names, [column]))
