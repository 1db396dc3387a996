"""``rprnmf cluster``."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.files import INPUT, OUTPUT, check_files, write_csv
from rprnmf.cli.models import called, factor_of, load_model, names_of
from rprnmf.cli.options import seed, side
from rprnmf.cli.report import Report, Table, counted
from rprnmf.cli.side_files import labels_of

STARTS = 10


@command("rprnmf cluster model.rprnmf --clusters 10 --labels labels.csv --out clusters.csv")
@click.argument("model", type=INPUT)
@click.option(
    "-c",
    "--clusters",
    type=click.IntRange(1),
    metavar="N",
    help="How many (default: as many as there are components).",
)
@side
@click.option(
    "--labels",
    type=INPUT,
    metavar="FILE",
    help="Known classes, CSV with names and labels: how well do clusters agree with them?",
)
@click.option("--normalize", is_flag=True, help="Compare directions: rows are brought to length 1.")
@seed
@click.option("--out", type=OUTPUT, metavar="FILE", help="Write name and cluster, CSV.")
def cluster(given: Any) -> Report:
    """Group the rows, or columns, of a model by k-means on their factor."""
    check_files(given.run, [given.out], [given.model, given.labels], (".csv",))
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize

    model = load_model(given.model)
    F, names = factor_of(model, given.side), called(model, given.side)
    n = len(F)
    wanted = given.clusters or min(model.n_components_, n)
    if wanted > n:
        raise ValueError(f"--clusters {wanted} is more than there are {given.side}s, {n}.")
    labels = None
    if given.labels is not None:
        labels = labels_of(given.labels, n, names_of(model, given.side))
    points = np.ascontiguousarray(normalize(F) if given.normalize else F)
    found = KMeans(wanted, n_init=STARTS, random_state=given.seed).fit_predict(points)
    sizes = np.bincount(found, minlength=wanted)
    document: dict[str, Any] = {
        "clusters": wanted,
        "sizes": sizes,
        "out": None if given.out is None else str(given.out),
    }
    columns, rows = ["cluster", "size"], [[k, int(size)] for k, size in enumerate(sizes)]
    parts: list[Any] = []
    if labels is not None:
        agreement = agree(labels, found)
        document.update(agreement)
        columns += ["most common label", "share"]
        rows = [row + most_common(labels, found == row[0]) for row in rows]
        parts.append(
            f"\nACC {agreement['accuracy']:.3f}, NMI {agreement['nmi']:.3f} on the "
            f"{agreement['labelled']} that have labels."
        )
    if given.out is not None:
        write_csv(given.out, ("name", "cluster"), list(zip(names, found.tolist(), strict=True)))
        parts.append(f"\n{given.out}: the cluster of {counted(n, given.side)}.")
    return Report(document, [Table("", columns, rows), *parts])


def agree(labels: list[Any], found: Any) -> dict[str, Any]:
    """How well clusters agree with the labels that are known."""
    from rprnmf.metrics import clustering_accuracy, normalized_mutual_info

    known = [k for k, label in enumerate(labels) if label != -1]
    if not known:
        raise ValueError("no label is known.")
    true, clusters = [str(labels[k]) for k in known], found[known]
    return {
        "labelled": len(known),
        "accuracy": clustering_accuracy(true, clusters),
        "nmi": normalized_mutual_info(true, clusters),
    }


def most_common(labels: list[Any], inside: Any) -> list[Any]:
    """The most common label of a cluster, and its share of those that have one."""
    counts = Counter(
        label for label, here in zip(labels, inside, strict=True) if here and label != -1
    )
    if not counts:
        return [None, None]
    label, count = counts.most_common(1)[0]
    return [label, count / counts.total()]
