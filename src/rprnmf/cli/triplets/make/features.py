"""``rprnmf triplets make features``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.files import INPUT_OR_FOLDER
from rprnmf.cli.matrices import matrix_options, read_input
from rprnmf.cli.options import seed
from rprnmf.cli.report import Report
from rprnmf.cli.side_files import numbers
from rprnmf.cli.tables import read_table
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

    FILE is CSV with a header, columns of numbers and perhaps one of names, or a matrix as for
    `rprnmf fit`; one row per item. q is closer to r than to s by the Euclidean distance.
    """
    common.check(given, given.file)
    from rprnmf.triplets import triplets_from_distances, triplets_from_features

    points, names = read_points(given)
    make = triplets_from_distances if given.distances else triplets_from_features
    made = make(points, given.count, margin=given.margin, random_state=given.seed)
    return common.written(given, made, names)


def read_points(given: Any) -> tuple[Any, Any]:
    """One point per item, and names or None.

    Features may be negative, which a matrix to be factorised must not be: tables of text are
    read as tables, all other files as for `rprnmf fit`.
    """
    import numpy as np

    if given.format is not None or not given.file.lower().endswith((".csv", ".tsv", ".txt", "-")):
        matrix = read_input(given, given.file)
        return matrix.X, matrix.row_names
    table = read_table(given.file)
    columns = {name: numbers(cells) for name, cells in table.columns.items()}
    words = [name for name, cells in columns.items() if not all_numbers(cells)]
    names = table.column(words[0]) if words else None
    points = [cells for name, cells in columns.items() if name not in words]
    if len(words) > 1 or not points:
        raise ValueError(
            f"{table.path} must have columns of numbers and at most one of names; found text in "
            f"{', '.join(map(repr, words))}."
        )
    found = np.array(points, dtype=np.float64).T
    header = [name for name in columns if name not in words]
    if all_numbers(numbers(header)):  # there is none
        raise ValueError(f"{table.path} has no header: its first line must name the columns.")
    return found, names


def all_numbers(cells: list[Any]) -> bool:
    """Whether a column is one of numbers."""
    return all(isinstance(cell, float) for cell in cells)
