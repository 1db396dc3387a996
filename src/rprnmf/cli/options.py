"""Options that several commands have."""

from __future__ import annotations

import click

from rprnmf.cli.files import OUTPUT

seed = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="The same seed gives the same result.",
)
side = click.option(
    "--side",
    type=click.Choice(("row", "column")),
    default="row",
    show_default=True,
    help="Rows of X (the factor W) or columns (the factor H).",
)
show = click.option(
    "--show",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="Rows of the longest table.",
)
csv_out = click.option("--out", type=OUTPUT, metavar="FILE", help="Write the table as CSV.")
