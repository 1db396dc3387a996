"""``rprnmf plot triplets``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.options import side
from rprnmf.cli.pictures import picture_options
from rprnmf.cli.plot import common
from rprnmf.cli.report import Report


@command("rprnmf plot triplets model.rprnmf --out unmet.png")
@common.model
@side
@common.triplets
@click.option(
    "-n",
    "--count",
    type=click.IntRange(1),
    metavar="N",
    default=20,
    show_default=True,
    help="Items to show.",
)
@picture_options
def triplets(given: Any) -> Report:
    """Draw which items gather the comparisons that are not met."""
    model = common.opened(given, given.triplets)
    from rprnmf.plotting import plot_triplets

    known = common.comparisons(given, model)
    return common.drawn(given, lambda: plot_triplets(model, known, side=given.side, n=given.count))
