"""``rprnmf triplets ask``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.comparisons import triplet_reading, triplets_of
from rprnmf.cli.files import INPUT, OUTPUT, check_files, write_csv
from rprnmf.cli.models import factor_of, load_model, names_of
from rprnmf.cli.options import seed, side
from rprnmf.cli.report import Report, counted


@command("rprnmf triplets ask model.rprnmf --count 20 --out questions.csv")
@click.argument("model", type=INPUT)
@click.option(
    "-n",
    "--count",
    type=click.IntRange(1),
    metavar="N",
    default=20,
    show_default=True,
    help="How many questions.",
)
@side
@click.option(
    "--asked",
    type=INPUT,
    multiple=True,
    metavar="FILE",
    help="Comparisons that need not be asked, beside those of the fit.",
)
@triplet_reading
@seed
@click.option("--out", type=OUTPUT, required=True, metavar="FILE", help="A CSV file, to fill in.")
@click.option("--force", is_flag=True, help="Replace FILE, with the answers that it may hold.")
def ask(given: Any) -> Report:
    """Write the questions whose answers would teach a model most.

    Fill in the column answer: r or s, whichever is closer to q, or nothing. Then
    `rprnmf triplets make answers` turns the file into comparisons. A file that exists is not
    replaced: it may hold answers.
    """
    import numpy as np

    check_files(given.run, [given.out], [given.model, *given.asked], (".csv",))
    from rprnmf.triplets import Triplets, next_queries

    if given.out.exists() and not given.force:
        raise ValueError(f"{given.out} exists and may hold answers; --force replaces it.")
    model = load_model(given.model)
    names, n = names_of(model, given.side), len(factor_of(model, given.side))
    asked = [triplets_of(path, n, names, given) for path in given.asked]
    found = next_queries(
        *(model, given.count),
        side=given.side,
        asked=Triplets.concat(asked) if asked else None,
        random_state=given.seed,
    )
    # r is what the model has nearer: in that order people would learn what it expects
    turned = np.random.RandomState(given.seed).uniform(size=found.n_triplets) < 0.5
    items = np.where(turned[:, None], found.items[:, [0, 2, 1]], found.items).tolist()
    write_csv(given.out, ("q", "r", "s", "answer"), [[*row, ""] for row in items])
    document = {"out": str(given.out), "questions": items}
    said = f"{counted(len(items), 'question')} to answer: is q closer to r or to s?"
    return Report(document, [f"{given.out}: {said}"])
