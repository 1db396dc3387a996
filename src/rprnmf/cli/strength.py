"""``rprnmf strength``."""

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

USUAL = "0.0001,0.001,0.01,0.1,1,auto"


@command("rprnmf strength ratings.csv --column-triplets triplets.csv --picture strength.png")
@click.argument("x", type=INPUT_OR_FOLDER, metavar="X")
@triplet_options
@model_options.components
@click.option(
    "--strengths",
    type=Numbers("auto"),
    default=USUAL,
    show_default=True,
    metavar="S,S,...",
    help="Strengths to try.",
)
@folds
@model_options.settings
@seed
@missing_option
@matrix_options
@picture_option
def strength(given: Any) -> Report:
    """Find the strength of comparisons by comparisons that fits have not seen.

    Worth its time where comparisons are noisy, as answers of people are: to meet them all may then
    be too much. "auto" is what `rprnmf fit` does without being told.
    """
    if given.row_triplets is None and given.column_triplets is None:
        raise click.UsageError("--row-triplets or --column-triplets is needed.")
    check_files(given.run, [given.picture], [given.x, given.row_triplets, given.column_triplets])
    check_picture(given.picture)
    from rprnmf.model_selection import choose_strength

    matrix = read_input(given, given.x)
    curve = choose_strength(
        *(estimator_of(given, matrix), matrix.X, given.strengths),
        n_splits=given.folds,
        random_state=given.seed,
        verbose=not given.run.quiet,
        **knowledge_of(given, matrix),
    )
    if given.picture is not None:
        from rprnmf.cli.curves import plot_strength

        draw(lambda: plot_strength(curve), given.picture)
    rows = [
        [str(each), float(met), float(loss), "<- recommended" if each == curve.recommended else ""]
        for each, met, loss in zip(
            curve.strengths, curve.satisfied_mean, curve.loss_mean, strict=True
        )
    ]
    document = {
        "strengths": curve.strengths,
        "satisfied": curve.satisfied_mean,
        "loss": curve.loss_mean,
        "auto": curve.auto,
        "best": curve.best,
        "recommended": curve.recommended,
        "picture": None if given.picture is None else str(given.picture),
    }
    columns = ("strength", "held-out comparisons met", "loss of an entry", "")
    parts: list[Any] = [Table("", columns, rows)]
    if curve.auto is not None:
        parts.append(f'\n"auto" came to {curve.auto:.3g}.')
    if given.picture is not None:
        parts.append(f"\nPicture: {given.picture}")
    return Report(document, parts)
