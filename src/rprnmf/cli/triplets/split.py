"""``rprnmf triplets split``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.comparisons import SUFFIXES, read_triplets
from rprnmf.cli.files import INPUT, OUTPUT, check_files
from rprnmf.cli.options import seed
from rprnmf.cli.report import Report, counted


@command("rprnmf triplets split triplets.csv --out train.csv --test-out test.csv")
@click.argument("file", type=INPUT)
@click.option(
    "--test-size",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="N",
    default=0.25,
    show_default=True,
    help="The share of the comparisons to test on, about.",
)
@click.option("--out", type=OUTPUT, required=True, metavar="FILE", help="The part to fit on.")
@click.option("--test-out", type=OUTPUT, required=True, metavar="FILE", help="The part to test on.")
@seed
def split(given: Any) -> Report:
    """Split comparisons at random into a part to fit on and a part to test on.

    All answers to one question, whichever way they went, are in the same part: what was fitted
    must not say what to expect of the test.
    """
    check_files(given.run, [given.out, given.test_out], [given.file], SUFFIXES)
    from rprnmf.triplets.pairs import questions

    known = read_triplets(given.file)
    if known.n_triplets < 2:
        raise ValueError(f"{given.file} has fewer than two comparisons; there is nothing to split.")
    groups = questions(known.numbers()) // 2
    train, test = known.split(given.test_size, groups=groups, random_state=given.seed)
    train.write(given.out)
    test.write(given.test_out)
    document = {
        "out": str(given.out),
        "test_out": str(given.test_out),
        "train": train.n_triplets,
        "test": test.n_triplets,
    }
    sizes = ((given.out, train), (given.test_out, test))
    return Report(
        document, [f"{path}: {counted(part.n_triplets, 'comparison')}." for path, part in sizes]
    )
