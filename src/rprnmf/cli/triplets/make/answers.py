"""``rprnmf triplets make answers``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.comparisons import read_triplets
from rprnmf.cli.files import INPUT
from rprnmf.cli.report import Report
from rprnmf.cli.side_files import UNKNOWN
from rprnmf.cli.tables import read_table
from rprnmf.cli.triplets.make import common


@command("rprnmf triplets make answers questions.csv --out answers.csv")
@click.argument("file", type=INPUT)
@click.option(
    "--add",
    type=INPUT,
    metavar="FILE",
    help="Comparisons that are known already, to be put before the answers.",
)
@common.out
def answers(given: Any) -> Report:
    """Make comparisons from answers of people.

    FILE is CSV with the columns q, r, s and answer, as `rprnmf triplets ask` writes it: the answer
    is the letter r or s, or the name of the one that is closer to q; empty if nobody knows. With a
    column worker, what a worker says twice counts once. Equal answers become one, with their number
    as weight.
    """
    common.check(given, given.file, given.add)
    from rprnmf.triplets import triplets_from_survey

    table = read_table(given.file)
    q, r, s, said = (table.column(name) for name in ("q", "r", "s", "answer"))
    worker = table.columns.get("worker")
    rows = []
    for place, (near, far, word) in enumerate(zip(r, s, said, strict=True)):
        word = word.strip()
        if word in (near, far):
            first = word == near
        elif word.lower() in ("r", "s"):
            first = word.lower() == "r"
        elif word.lower() in UNKNOWN:
            continue
        else:
            raise ValueError(
                f"{table.path}, row {place + 1}: the answer must be r, s, {near!r}, {far!r} or "
                f"empty, found {word!r}."
            )
        who = None if worker is None else worker[place] or None
        rows.append((q[place], near if first else far, far if first else near, who))
    if not rows:
        raise ValueError(f"{table.path} has no answer yet.")
    head, winner, loser, workers = zip(*rows, strict=True)
    made = triplets_from_survey(head, winner, loser, workers)
    if given.add is not None:
        made = (read_triplets(given.add) + made).deduplicate()
    report = common.written(given, made)
    left = len(q) - len(rows)
    report.document["unanswered"] = left
    return report
