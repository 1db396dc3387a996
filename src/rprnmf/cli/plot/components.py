"""``rprnmf plot components``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.choices import MEASURES
from rprnmf.cli.command import command
from rprnmf.cli.matrices import Size
from rprnmf.cli.options import Numbers
from rprnmf.cli.pictures import picture_options
from rprnmf.cli.plot import common
from rprnmf.cli.report import Report


@command("rprnmf plot components model.rprnmf --image-shape 8x8 --out components.png")
@common.model
@click.option(
    "--image-shape", type=Size(), metavar="HxW", help="Draw components as images of this size."
)
@click.option(
    "-n",
    "--count",
    type=click.IntRange(1),
    metavar="N",
    default=8,
    show_default=True,
    help="Names of each.",
)
@click.option(
    "--by",
    type=click.Choice(MEASURES),
    default=MEASURES[0],
    show_default=True,
    help="weight: large in the component; lift: larger than elsewhere; relevance: both.",
)
@click.option(
    "--side",
    type=click.Choice(("row", "column")),
    default="column",
    show_default=True,
    help="Features (columns of X) or items (rows).",
)
@click.option(
    "--components", type=Numbers(whole=True), metavar="K,K,...", help="Which, counted from 0."
)
@picture_options
def components(given: Any) -> Report:
    """Draw what each component is made of: images, or the strongest features."""
    model = common.opened(given)
    from rprnmf.plotting import plot_components

    return common.drawn(
        given,
        lambda: plot_components(
            model,
            image_shape=given.image_shape,
            n=given.count,
            by=given.by,
            side=given.side,
            components=given.components,
        ),
    )
