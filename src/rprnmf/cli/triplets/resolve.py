"""``rprnmf triplets resolve``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.choices import RESOLVE_METHODS
from rprnmf.cli.command import command
from rprnmf.cli.comparisons import SUFFIXES, read_triplets
from rprnmf.cli.files import INPUT, OUTPUT, check_files
from rprnmf.cli.report import Report, counted


@command("rprnmf triplets resolve answers.csv --out triplets.csv")
@click.argument("file", type=INPUT)
@click.option(
    "--method",
    type=click.Choice(RESOLVE_METHODS),
    default=RESOLVE_METHODS[0],
    show_default=True,
    help="feedback-arc: leave out as little weight as can be found, until nothing contradicts. "
    "majority: of two opposites the lighter one, both if they weigh the same. drop: all that are "
    "part of a conflict.",
)
@click.option(
    "--out", type=OUTPUT, required=True, metavar="FILE", help="What is kept: CSV, Parquet."
)
def resolve(given: Any) -> Report:
    """Leave out what contradicts the rest."""
    check_files(given.run, [given.out], [given.file], SUFFIXES)
    from rprnmf.triplets import resolve as resolved

    known = read_triplets(given.file)
    kept = resolved(known, given.method)
    kept.write(given.out)
    n, left = known.n_triplets, known.n_triplets - kept.n_triplets
    document = {"out": str(given.out), "kept": n - left, "left_out": left, "method": given.method}
    return Report(
        document,
        [f"{given.out}: {n - left} of {counted(n, 'comparison')} kept, {left} left out."],
    )
