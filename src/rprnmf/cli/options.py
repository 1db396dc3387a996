"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from rprnmf.cli.files import INPUT, OUTPUT


def several(*options: Callable[..., Any]) -> Callable[..., Any]:
    """Several options as one decorator, shown in the order given."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate



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
triplet_options = several(
    click.option("--row-triplets", type=INPUT, metavar="FILE", help="Comparisons of rows."),
    click.option("--column-triplets", type=INPUT, metavar="FILE", help="Comparisons of columns."),
    click.option(
        "--positions",
        is_flag=True,
        help="Comparisons are positions, counted from 0, though X has names.",
    ),
)
