"""``rprnmf plot learning``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli import model_options
from rprnmf.cli.command import command
from rprnmf.cli.comparisons import triplet_options
from rprnmf.cli.estimators import estimator_of, knowledge_of
from rprnmf.cli.files import INPUT_OR_FOLDER, check_files
from rprnmf.cli.matrices import matrix_options, missing_option, read_input
from rprnmf.cli.options import folds, seed
from rprnmf.cli.pictures import check_picture, draw, picture_options
from rprnmf.cli.report import Report, Table

SHARES = (0.1, 0.2, 0.4, 0.7, 1.0)


@command("rprnmf plot learning X.csv --row-triplets t.csv --row-prior data --out curve.png")
@click.argument("x", type=INPUT_OR_FOLDER, metavar="X")
@triplet_options
@model_options.components
@folds
@model_options.settings
@seed
@missing_option
@matrix_options
@picture_options
def learning(given: Any) -> Report:
    """Draw the share of unseen comparisons that is predicted, against the number of known ones.

    It says what the answers bought so far, and what twice as many are likely to buy. Takes some 25
    fits. Best with --row-prior data, with which comparisons teach.
    """
    if (given.row_triplets is None) == (given.column_triplets is None):
        raise click.UsageError("one of --row-triplets and --column-triplets is needed.")
    check_files(given.run, [given.out], [given.x, given.row_triplets, given.column_triplets])
    check_picture(given.out)
    from rprnmf.model_selection import triplet_learning_curve
    from rprnmf.plotting import plot_learning

    matrix = read_input(given, given.x)
    side = "row" if given.row_triplets is not None else "column"
    knowledge = knowledge_of(given, matrix)
    triplets = knowledge.pop(f"{side}_triplets")
    sizes = train_sizes(triplets.n_triplets, given.folds)
    curve = triplet_learning_curve(
        *(estimator_of(given, matrix), matrix.X, triplets),
        side=side,
        train_sizes=sizes,
        n_splits=given.folds,
        random_state=given.seed,
        verbose=not given.run.quiet,
        **knowledge,
    )
    draw(lambda: plot_learning(curve), given.out, given.dpi)
    twice = 2 * int(curve.train_sizes[-1])
    expected = [float(value) for value in curve.predict(twice)]
    found = zip(curve.train_sizes, curve.accuracy, curve.low, curve.high, strict=True)
    rows = [[int(n), *map(float, rest), ""] for n, *rest in found]
    rows.append([twice, *expected, "to be expected"])
    document = {
        "out": str(given.out),
        "train_sizes": curve.train_sizes,
        "accuracy": curve.accuracy,
        "low": curve.low,
        "high": curve.high,
        "expected": {"comparisons": twice, "accuracy": expected[0], "interval": expected[1:]},
    }
    columns = ("comparisons", "unseen ones met", "at least", "at most", "")
    return Report(document, [Table("", columns, rows), f"\n{given.out} was written."])


def train_sizes(n: int, folds: int) -> list[float]:
    """Shares of the comparisons that are left when a part is held out: such as are at least two."""
    left = n * (folds - 1) / folds
    found = [share for share in SHARES if share * left >= 2]
    if len(found) < 2:
        raise ValueError(f"{n} comparisons are too few for a curve; some 20 are needed.")
    return found
