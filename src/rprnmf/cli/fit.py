"""``rprnmf fit``."""

from __future__ import annotations

import time
from typing import Any

import click

from rprnmf.cli import model_options
from rprnmf.cli.command import command
from rprnmf.cli.comparisons import triplet_options
from rprnmf.cli.estimators import estimator_of, knowledge_of
from rprnmf.cli.files import INPUT, INPUT_OR_FOLDER, OUTPUT, check_files, inputs_of
from rprnmf.cli.fit_report import fit_report
from rprnmf.cli.matrices import (
    blocks_option,
    in_blocks,
    matrix_options,
    missing_option,
    read_input,
)
from rprnmf.cli.options import seed, show
from rprnmf.cli.report import Report, counted
from rprnmf.cli.scheduler import scheduled, scheduler_option


@command("rprnmf fit ratings.csv --column-triplets triplets.csv -k 20 --out model.rprnmf")
@click.argument("x", type=INPUT_OR_FOLDER, metavar="X...", nargs=-1, required=True)
@triplet_options
@model_options.components
@click.option("--out", type=OUTPUT, metavar="FILE", help="Write the model, as model.rprnmf.")
@click.option(
    "--checkpoint",
    type=OUTPUT,
    metavar="FILE",
    help="Keep the state of the fit here: after a stop the same command goes on.",
)
@click.option(
    "--checkpoint-every",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="How often.  [default: so that it takes little of the time]",
)
@scheduler_option
@blocks_option
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

    Several files, a folder of them or a Zarr array are read block by block, while they are used.
    """
    check_files(given.run, [given.out, given.checkpoint], inputs_of(given))
    if given.checkpoint_every is not None and given.checkpoint is None:
        raise click.UsageError("--checkpoint-every goes with --checkpoint FILE.")
    with scheduled(given, needed=in_blocks(given)):
        return fitted(given)


def fitted(given: Any) -> Report:
    """Read, fit, write and report."""
    from rprnmf.persistence import save

    matrix = read_input(given, given.x)
    model = estimator_of(given, matrix, verbose=not given.run.quiet)
    knowledge = knowledge_of(given, matrix)
    if given.checkpoint is not None:
        knowledge["checkpoint"] = given.checkpoint
        knowledge["checkpoint_every"] = given.checkpoint_every
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
    if given.checkpoint is not None and not given.checkpoint.exists():
        text += "Nothing was done yet: the same command begins anew."
    elif given.checkpoint is not None:
        text += f"The same command goes on from {given.checkpoint}."
    else:
        text += "With --checkpoint FILE the same command could go on from where it was."
    given.run.after_stop = text
