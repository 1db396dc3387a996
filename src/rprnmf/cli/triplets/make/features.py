"""``rprnmf triplets make features``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.files import INPUT_OR_FOLDER
from rprnmf.cli.matrices import matrix_options, read_input
from rprnmf.cli.options import seed
from rprnmf.cli.report import Report
from rprnmf.cli.triplets.make import common


@command("rprnmf triplets make features features.csv --count 500 --out triplets.csv")
@click.argument("file", type=INPUT_OR_FOLDER)
@click.option("--distances", is_flag=True, help="FILE is a square matrix of distances.")
@common.count
@common.margin
@seed
@matrix_options
@common.out
def features(given: Any) -> Report:
    """Make comparisons that hold between the rows of a matrix.

    FILE is a matrix as for `rprnmf fit`, with one row per item: q is closer to r than to s by the
    Euclidean distance.
    """
    common.check(given, given.file)
    from rprnmf.triplets import triplets_from_distances, triplets_from_features

    matrix = read_input(given, given.file)
    make = triplets_from_distances if given.distances else triplets_from_features
    made = make(matrix.X, given.count, margin=given.margin, random_state=given.seed)
    return common.written(given, made, matrix.row_names)
