"""``rprnmf recommend-test``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.files import INPUT_OR_FOLDER, OUTPUT, check_files, write_csv
from rprnmf.cli.matrices import matrix_options
from rprnmf.cli.options import Numbers, folds, seed
from rprnmf.cli.recommender_options import (
    TABLES,
    fit_options,
    knowledge_of,
    knowledge_options,
    read_ratings,
    side_files,
    unfitted,
)
from rprnmf.cli.report import Report, Table

SPLITS = ("random", "time", "cold-items", "cold-users")
SHOWN = ("RMSE", "MAE", "precision", "recall", "NDCG")


@command("rprnmf recommend-test ratings.csv -k 10,20,40 --folds 5")
@click.argument("ratings", type=INPUT_OR_FOLDER)
@click.option(
    "--split",
    type=click.Choice(SPLITS),
    default=SPLITS[0],
    show_default=True,
    help="What is held out: each rating once, the latest, or all but a few of some items or users.",
)
@folds
@click.option(
    "-n",
    "--count",
    type=click.IntRange(1),
    metavar="N",
    default=10,
    show_default=True,
    help="The length of lists.",
)
@knowledge_options
@fit_options
@click.option(
    "-k", "--components", type=Numbers(whole=True), metavar="N,...", help="Compare these numbers."
)
@seed
@matrix_options
@click.option("--out", type=OUTPUT, metavar="FILE", help="Write the measures of all folds, CSV.")
def recommend_test(given: Any) -> Report:
    """Say how well a recommender predicts ratings that it has not seen.

    A part of the ratings is held out, the others are fitted. RMSE and MAE are errors of predicted
    ratings; precision, recall and NDCG tell how many of the held-out favourites are on lists.
    """
    check_files(given.run, [given.out], [given.ratings, *side_files(given)])
    from rprnmf.recommend import evaluate
    from rprnmf.triplets import Triplets

    ratings, names = read_ratings(given)
    knowledge = knowledge_of(given, names)
    for name in TABLES[2:]:
        if knowledge[name] is not None:  # a fold may lack what a comparison names
            knowledge[name] = Triplets(knowledge[name], absent="drop")
    wanted = given.components or [None]
    if any(K is not None and K < 1 for K in wanted):
        raise click.UsageError("-k: a model needs at least one component.")
    found = evaluate(
        {"default" if K is None else f"k={K}": unfitted(given, K) for K in wanted},
        *ratings,
        split=given.split.replace("-", " "),
        n_splits=given.folds,
        n=given.count,
        random_state=given.seed,
        verbose=0 if given.run.quiet else 1,
        **knowledge,
    )
    means = found.summary()
    document = {"split": given.split, "means": means, "folds": found.rows}
    # what there is room for; --json and --out have all measures
    columns = ["model", "folds", *(name for name in found.measures if name.startswith(SHOWN))]
    parts: list[Any] = [Table("", columns, [[one[name] for name in columns] for one in means])]
    if given.out:
        header = list(found.rows[0])
        write_csv(given.out, header, [[row[name] for name in header] for row in found.rows])
        document["out"] = str(given.out)
        parts.append(f"wrote {given.out}")
    return Report(document, parts)
