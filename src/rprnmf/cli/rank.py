"""``rprnmf rank``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli import model_options
from rprnmf.cli.command import command
from rprnmf.cli.comparisons import triplet_options
from rprnmf.cli.estimators import estimator_of, knowledge_of
from rprnmf.cli.files import INPUT_OR_FOLDER, check_files
from rprnmf.cli.matrices import matrix_options, missing_option, read_input
from rprnmf.cli.options import Numbers, folds, seed
from rprnmf.cli.pictures import check_picture, draw, picture_option
from rprnmf.cli.report import Report, Table

USUAL = (1, 2, 3, 5, 8, 12, 20, 30)


@command("rprnmf rank ratings.csv --ranks 2,5,10,20 --picture rank.png")
@click.argument("x", type=INPUT_OR_FOLDER, metavar="X")
@click.option(
    "--ranks",
    type=Numbers(whole=True),
    metavar="K,K,...",
    help="Numbers of components to try.  [default: 1, 2, 3, 5, 8, 12, 20, 30, if X has room]",
)
@folds
@triplet_options
@model_options.settings
@seed
@missing_option
@matrix_options
@picture_option
def rank(given: Any) -> Report:
    """Find the number of components by entries that fits have not seen.

    Every fold of the known entries of X is held out once. Recommended is the smallest number within
    a standard error of the best.
    """
    check_files(given.run, [given.picture], [given.x, given.row_triplets, given.column_triplets])
    check_picture(given.picture)
    from rprnmf.model_selection import choose_rank

    matrix = read_input(given, given.x)
    ranks = check_ranks(given.ranks, min(matrix.X.shape))
    estimator = estimator_of(given, matrix)
    curve = choose_rank(
        *(estimator, matrix.X, ranks),
        n_splits=given.folds,
        random_state=given.seed,
        verbose=not given.run.quiet,
        **knowledge_of(given, matrix),
    )
    if given.picture is not None:
        from rprnmf.cli.curves import plot_rank

        draw(lambda: plot_rank(curve), given.picture)
    rows = [
        [int(k), float(mean), float(error), "<- recommended" if k == curve.recommended else ""]
        for k, mean, error in zip(curve.ranks, curve.mean, curve.standard_error, strict=True)
    ]
    document = {
        "ranks": curve.ranks,
        "mean": curve.mean,
        "standard_error": curve.standard_error,
        "best": curve.best,
        "recommended": curve.recommended,
        "picture": None if given.picture is None else str(given.picture),
    }
    columns = ("components", "loss of a held-out entry", "standard error", "")
    parts: list[Any] = [Table("", columns, rows)]
    if given.picture is not None:
        parts.append(f"\nPicture: {given.picture}")
    return Report(document, parts)


def check_ranks(wanted: list[int] | None, most: int) -> list[int]:
    """Numbers of components that X has room for."""
    if wanted is None:
        return [k for k in USUAL if k < most] or [1]
    for k in wanted:
        if not 1 <= k <= most:
            raise ValueError(f"--ranks must be from 1 to {most}, the smaller side of X; got {k}.")
    return sorted(set(wanted))
