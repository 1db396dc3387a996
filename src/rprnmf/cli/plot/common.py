"""What all pictures of models have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from rprnmf.cli.comparisons import triplet_reading, triplets_of
from rprnmf.cli.files import INPUT, check_files
from rprnmf.cli.models import factor_of, load_model, names_of
from rprnmf.cli.options import several
from rprnmf.cli.pictures import check_picture, draw
from rprnmf.cli.report import Report

model = click.argument("model", type=INPUT)
triplets = several(
    click.option(
        "--triplets", type=INPUT, metavar="FILE", help="Other comparisons than those of the fit."
    ),
    triplet_reading,
)


def opened(given: Any, *inputs: str | None) -> Any:
    """Check the output, then load the model."""
    check_files(given.run, [given.out], [given.model, *inputs])
    check_picture(given.out)
    return load_model(given.model)


def comparisons(given: Any, model: Any) -> Any:
    """The comparisons to draw."""
    if given.triplets is None:
        return "fit"
    n, names = len(factor_of(model, given.side)), names_of(model, given.side)
    return triplets_of(given.triplets, n, names, given)


def drawn(given: Any, plot: Callable[[], Any]) -> Report:
    """Draw, write and say so."""
    draw(plot, given.out, given.dpi)
    return Report({"out": str(given.out)}, [f"{given.out} was written."])
