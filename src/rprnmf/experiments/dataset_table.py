"""Table 1: the data sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.datasets import fetch_movielens_1m, fetch_orl, fetch_pie, make_chains
from rprnmf.experiments import synthetic_size
from rprnmf.experiments.harness.experiment import Experiment, Row, Settings, Values, published
from rprnmf.experiments.harness.metric import counted
from rprnmf.experiments.harness.report import Section, Table

SIZES = synthetic_size.SIZES
HEAD = ("rows", "columns", "entries", "density")
FOUND: dict[str, Callable[[], list[Any]]] = {
    "Synthetic 1": lambda: [make_chains(random_state=0).data],
    "Synthetic 2": lambda: [
        make_chains(n, n, n // 5, n_column_triplets=n // 5, random_state=0).data
        for n in (SIZES[0], SIZES[-1])
    ],
    "AT&T ORL": lambda: [fetch_orl().data.T],
    "CMU PIE": lambda: [fetch_pie().data.T],
    "Movielens 1M": lambda: [fetch_movielens_1m().data],
}


def run(settings: Settings) -> Values:
    """Rows, columns, observed entries and their share, from the smallest to the largest."""
    matrices = FOUND[settings["dataset"]]()
    counts = [(*X.shape, X.nnz if sp.issparse(X) else X.size) for X in matrices]
    columns = [sorted({count[place] for count in counts}) for place in range(3)]
    density = [count[2] / (count[0] * count[1]) for count in counts]
    shown = ["-".join(map(str, column)) for column in columns] + [f"{np.max(density):.3g}"]
    return dict(zip(HEAD, shown, strict=True))


def section(rows: list[Row]) -> Section:
    """What the data sets are here, and in the paper."""
    body, same = [], 0
    known = {row["dataset"]: row for row in rows}
    for row in published("datasets"):
        name, figures = row["dataset"], [row[k] for k in ("rows", "columns", "non-zeros")]
        here = [known[name][k] if name in known else "missing" for k in HEAD]
        same += here[:3] == figures
        body.append([name, *here, *figures, row["density"]])
    table = Table(
        "",
        "Matrices as they are factorised",
        ["data set", *HEAD, *(f"{name}, published" for name in HEAD)],
        body,
    )
    absent = len(body) - len(known)
    findings = [
        f"{same} of {counted(len(known), 'data set')} have the published shape and entries"
        + (f"; {absent} of the paper's are missing." if absent else ".")
    ]
    text = (
        "Faces are columns. The entries of MovieLens are ratings; of the other matrices all count, "
        "as in the paper, where they are called non-zeros: some pixels are 0."
    )
    return Section(text, [table], findings=findings)


EXPERIMENT = Experiment(
    "datasets",
    "Table 1: the data sets",
    lambda quick: [{"dataset": name} for name in FOUND],
    run,
    section,
    lambda settings: dict.fromkeys(HEAD, ""),
)
