"""What all sources of comparisons have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from rprnmf.cli.comparisons import SUFFIXES
from rprnmf.cli.files import OUTPUT, check_files
from rprnmf.cli.report import Report, counted

out = click.option(
    "--out", type=OUTPUT, required=True, metavar="FILE", help="The comparisons: CSV or Parquet."
)
names = click.option(
    "--names", metavar="COLUMN", help="The column with names.  [default: the first other one]"
)
count = click.option(
    "-n",
    "--count",
    type=click.IntRange(1),
    metavar="N",
    default=1000,
    show_default=True,
    help="How many to draw at random, all different; fewer if there are no more.",
)
margin = click.option(
    "--margin",
    type=click.FloatRange(0),
    metavar="N",
    default=0.0,
    show_default=True,
    help="Leave out what is decided by less than this.",
)


def check(given: Any, *inputs: str | None) -> None:
    """Refuse an output that could not be written."""
    check_files(given.run, [given.out], list(inputs), SUFFIXES)


def written(given: Any, triplets: Any, called: Sequence[Any] | None = None) -> Report:
    """Write comparisons, by name if there are names, and say so."""
    if called is not None:
        twice = (
            {name for name in called if list(called).count(name) > 1}
            if len(set(called)) < len(called)
            else set()
        )
        if twice:
            raise ValueError(f"the name {min(twice)!r} occurs more than once; names must differ.")
        triplets = triplets.with_names(called)
    triplets.write(given.out)
    n = triplets.n_triplets
    items = len(triplets.codes()[1])
    document = {"out": str(given.out), "triplets": n, "items": items, "named": triplets.named}
    return Report(
        document, [f"{given.out}: {counted(n, 'comparison')} of {counted(items, 'item')}."]
    )
