"""``rprnmf plot reliability``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.comparisons import triplet_reading
from rprnmf.cli.files import INPUT
from rprnmf.cli.options import side
from rprnmf.cli.pictures import picture_options
from rprnmf.cli.plot import common
from rprnmf.cli.report import Report


@command("rprnmf plot reliability model.rprnmf --triplets test.csv --out reliability.png")
@common.model
@click.option(
    "--triplets",
    type=INPUT,
    required=True,
    metavar="FILE",
    help="Comparisons that the fit has not seen.",
)
@triplet_reading
@side
@picture_options
def reliability(given: Any) -> Report:
    """Draw how often comparisons hold that the model gave some chance."""
    model = common.opened(given, given.triplets)
    from rprnmf.plotting import plot_reliability

    known = common.comparisons(given, model)
    return common.drawn(given, lambda: plot_reliability(model, known, side=given.side))
