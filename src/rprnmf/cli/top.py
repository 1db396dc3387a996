"""``rprnmf top``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.choices import MEASURES
from rprnmf.cli.command import command
from rprnmf.cli.files import INPUT, check_files
from rprnmf.cli.models import load_model
from rprnmf.cli.report import Report, Table


@command("rprnmf top model.rprnmf --count 8 --by relevance")
@click.argument("model", type=INPUT)
@click.option(
    "-n",
    "--count",
    type=click.IntRange(1),
    metavar="N",
    default=8,
    show_default=True,
    help="Of each component.",
)
@click.option(
    "--side",
    type=click.Choice(("row", "column", "both")),
    default="column",
    show_default=True,
    help="List items (rows of X), features (columns), or both.",
)
@click.option(
    "--by",
    type=click.Choice(MEASURES),
    default=MEASURES[0],
    show_default=True,
    help="weight: large in the component; lift: larger than elsewhere; relevance: both.",
)
def top(given: Any) -> Report:
    """List what the components of a model are made of."""
    check_files(given.run, [], [given.model])
    from rprnmf.tops import top_features, top_items

    model = load_model(given.model)
    document: dict[str, Any] = {"by": given.by}
    parts = []
    for side, word, listed in (("column", "features", top_features), ("row", "items", top_items)):
        if given.side not in (side, "both"):
            continue
        found = listed(model, given.count, by=given.by)
        document[word] = [
            [{"name": name, given.by: value} for name, value in component] for component in found
        ]
        rows = [[k, ", ".join(str(name) for name, _ in each)] for k, each in enumerate(found)]
        parts.append(Table("", ("component", f"strongest {word}"), rows))
    return Report(document, parts)
