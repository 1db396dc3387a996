"""``rprnmf fit``."""

from __future__ import annotations

import time
from typing import Any

import click

from rprnmf.cli import model_options
from rprnmf.cli.command import command
from rprnmf.cli.comparisons import triplet_options
from rprnmf.cli.estimators import estimator_of, knowledge_of
from rprnmf.cli.files import INPUT, INPUT_OR_FOLDER, OUTPUT, check_files
from rprnmf.cli.fit_report import fit_report
from rprnmf.cli.matrices import matrix_options, missing_option, read_input
from rprnmf.cli.options import seed, show
from rprnmf.cli.report import Report, counted

SIDE_FILES = ("row_triplets", "column_triplets", "row_labels", "column_labels")


@command("rprnmf fit ratings.csv --column-triplets triplets.csv -k 20 --out model.rprnmf")
@click.argument("x", type=INPUT_OR_FOLDER, metavar="X")
@triplet_options
@model_options.components
@click.option("--out", type=OUTPUT, metavar="FILE", help="Write the model, as model.rprnmf.")
@click.option(
    "--checkpoint",
    type=OUTPUT,
    metavar="FILE",
    help="Keep the state of the fit here: after a stop the same command goes on.",
)
@click.option("--row-labels", type=INPUT, metavar="FILE", help="Classes of rows, for lcnmf.")
@click.option("--column-labels", type=INPUT, metavar="FILE", help="Classes of columns, for lcnmf.")
@model_options.settings
@seed
@missing_option
@matrix_options
@show
def fit(given: Any) -> Report:
    """Factorise a matrix, X = W H, with what is known about it.

    X is a file (CSV, TSV, Parquet, .npy, .npz, Matrix Market, .mat, .h5ad; ratings as user, item,
    rating; a column of texts), a folder of texts or images, or - for standard input. Comparisons
    are CSV with the columns q, r, s: names of rows (columns) of X, or positions if it has no names.
    """
    inputs = [given.x, *(getattr(given, name) for name in SIDE_FILES)]
    check_files(given.run, [given.out, given.checkpoint], inputs)
    from rprnmf.persistence import save

    matrix = read_input(given, given.x)
    model = estimator_of(given, matrix, verbose=not given.run.quiet)
    knowledge = knowledge_of(given, matrix)
    if given.checkpoint is not None:
        knowledge["checkpoint"] = given.checkpoint
    started = time.perf_counter()
    try:
        model.fit(matrix.X, **knowledge)
    except KeyboardInterrupt:
        keep_what_there_is(model, given)
        raise
    seconds = time.perf_counter() - started
    if given.out is None:
        given.run.note("the model was not kept; --out FILE writes it.")
    else:
        save(model.set_params(verbose=0), given.out)
    return fit_report(model, matrix, seconds, given)


def keep_what_there_is(model: Any, given: Any) -> None:
    """After an interrupt: write the factors of the last iteration, and say how to go on.

    A model that was there before is not replaced by one that is not finished.
    """
    from rprnmf.persistence import save

    text = ""
    if hasattr(model, "n_iter_") and given.out is not None and not given.out.exists():
        save(model.set_params(verbose=0), given.out)
        text = f"{given.out} has the factors of {counted(model.n_iter_, 'iteration')}. "
    elif given.out is not None:
        text = f"{given.out} was not written. "
    if given.checkpoint is not None:
        text += f"The same command goes on from {given.checkpoint}."
    else:
        text += "With --checkpoint FILE the same command could go on from where it was."
    given.run.after_stop = text
