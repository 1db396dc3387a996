"""``rprnmf triplets convert``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.comparisons import read_triplets, triplet_reading, triplets_of
from rprnmf.cli.files import INPUT, INPUT_OR_FOLDER, OUTPUT, check_files, write_csv
from rprnmf.cli.matrices import matrix_options, read_input
from rprnmf.cli.options import side
from rprnmf.cli.report import Report, counted


@command("rprnmf triplets convert triplets.csv --to graph --out graph.csv")
@click.argument("file", type=INPUT)
@click.option(
    "--to",
    type=click.Choice(("graph", "labels")),
    required=True,
    help="graph: weights between items, for --row-graph; labels: classes, for --row-labels.",
)
@click.option(
    "--like", type=INPUT_OR_FOLDER, metavar="X", help="The data whose rows the comparisons name."
)
@side
@triplet_reading
@click.option(
    "--condense", is_flag=True, help="Give pairs that contradict each other in a circle one weight."
)
@matrix_options
@click.option("--out", type=OUTPUT, required=True, metavar="FILE", help="A CSV file.")
def convert(given: Any) -> Report:
    """Turn comparisons into a graph or into labels (Algorithms 3 and 4 of the paper).

    A graph is a list of edges with the columns a, b and weight: pairs that are called closer weigh
    more. Labels are a list with the columns name and label: q and r of every comparison are in one
    class. With --like only the names of that file may occur.
    """
    check_files(given.run, [given.out], [given.file, given.like], (".csv",))
    from rprnmf.triplets import triplets_to_graph, triplets_to_labels

    if given.like is None:
        known = read_triplets(given.file)
        items, names = known.codes()
    else:
        matrix = read_input(given, given.like)
        index = ("row", "column").index(given.side)
        names = (matrix.row_names, matrix.column_names)[index]
        n = matrix.X.shape[index]
        known = triplets_of(given.file, n, names, given)
        items = known.positions(n, names, given.side).items
        names = list(range(n)) if names is None else list(names)
    n = len(names)
    if given.to == "labels":
        labels = triplets_to_labels(items, n)
        rows = [[names[k], label] for k, label in enumerate(labels.tolist()) if label >= 0]
        write_csv(given.out, ("name", "label"), rows)
        classes = int(labels.max(initial=-1)) + 1
        document = {"out": str(given.out), "items": len(rows), "classes": classes}
        sentence = f"{counted(len(rows), 'item')} in {counted(classes, 'class')}."
        return Report(document, [f"{given.out}: {sentence}".replace("classs", "classes")])
    graph = triplets_to_graph(items, n, on_cycle="condense" if given.condense else "error").tocoo()
    edges = [
        [names[i], names[j], weight]
        for i, j, weight in zip(
            *(index.tolist() for index in graph.coords), graph.data.tolist(), strict=True
        )
        if i < j
    ]
    write_csv(given.out, ("a", "b", "weight"), edges)
    document = {"out": str(given.out), "items": n, "edges": len(edges)}
    return Report(
        document, [f"{given.out}: {counted(len(edges), 'edge')} between {counted(n, 'item')}."]
    )
