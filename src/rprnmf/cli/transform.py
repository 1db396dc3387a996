"""``rprnmf transform``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.files import INPUT, INPUT_OR_FOLDER, OUTPUT, check_files
from rprnmf.cli.matrices import blocks_option, in_blocks, matrix_options, read_new
from rprnmf.cli.models import align_columns, factor_of, load_model, names_of
from rprnmf.cli.options import side
from rprnmf.cli.report import Report, counted
from rprnmf.cli.scheduler import scheduled, scheduler_option

SUFFIXES = (".csv", ".tsv", ".gz", ".npy", ".npz", ".parquet")


@command("rprnmf transform model.rprnmf new.csv --out W.csv")
@click.argument("model", type=INPUT)
@click.argument("x", type=INPUT_OR_FOLDER, metavar="[X]...", nargs=-1)
@side
@scheduler_option
@blocks_option
@matrix_options
@click.option(
    "--out", type=OUTPUT, required=True, metavar="FILE", help="W: .csv, .npy or .parquet."
)
def transform(given: Any) -> Report:
    """Place new rows with the components of a model.

    Writes a row of W for each row of X. Columns of X are found by their names, if it has names.
    Without X: the factor of the fit itself, W, or with --side column the transpose of H.
    """
    check_files(given.run, [given.out], [given.model, *given.x], SUFFIXES)
    with scheduled(given, needed=in_blocks(given)):
        return placed(given)


def placed(given: Any) -> Report:
    """Place the rows and write the factor, block by block where X is in blocks."""
    from rprnmf.inputs import write_matrix

    model = load_model(given.model)
    if not given.x:
        W, names = factor_of(model, given.side), names_of(model, given.side)
    else:
        if given.side == "column":
            raise click.UsageError("--side column goes without X: new columns cannot be placed.")
        matrix = read_new(given, given.x, model)
        W = model.transform(align_columns(matrix, model, given.run))
        names = matrix.row_names
    columns = [f"component {k}" for k in range(W.shape[1])]
    without = given.out.suffix.lower() == ".npy"  # has no place for names
    write_matrix(given.out, W, *((None, None) if without else (names, columns)))
    n, K = W.shape
    document = {"out": str(given.out), "rows": n, "components": K}
    return Report(document, [f"{given.out}: {counted(n, 'row')} of {counted(K, 'component')}."])
