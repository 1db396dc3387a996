"""Which neighbours are of one class? Points by their leading singular vectors, taken down or not.

A coordinate is divided by a power of its singular value: 0 is the cosine, 1 makes all coordinates
equal. The share of the weights of a neighbour graph that join rows of one class, without any
comparison. Writes `results/graph_points.csv` and `.md`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from common import MissingError, start_process
from labelled_data import SETS, UNSEEN, labelled
from report import Report
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from rprnmf.graphs import leading_parts, weighted_neighbours

VECTORS, POWERS = (15, 30, 40, 60, 100, 200), (0.0, 0.25, 0.5, 0.75, 1.0)
NEIGHBORS = 5


def in_class(points: Any, y: np.ndarray) -> str:
    """The share of the weights that join rows of one class, in per cent."""
    graph = sp.coo_array(weighted_neighbours(points, NEIGHBORS))
    i, j = graph.coords
    return f"{100 * graph.data[y[i] == y[j]].sum() / graph.data.sum():.1f}"


def main() -> None:
    quick, folder = start_process("graph_points")
    text = (
        "Share of the weights of a graph of 5 neighbours that join rows of one class, in per "
        "cent. X: neighbours by the angles between rows of X. Columns: by their leading singular "
        "vectors, divided by this power of the singular value. cosine: row_graph='cosine', 40 "
        "vectors and the power 0.5, chosen on the first six sets; nothing was chosen on iris and "
        "texts 2."
    )
    report = Report(folder, "graph_points", "Which neighbours are of one class?", text)
    for name in SETS[:2] if quick else (*SETS, *UNSEEN):
        try:
            X, y = labelled(name)
        except MissingError as error:
            report.note(f"{error}.")
            continue
        both = {"X": in_class(normalize(X), y), "cosine": in_class(leading_parts(X), y)}
        for n in [n for n in VECTORS if n < min(X.shape)] or [min(X.shape) - 1]:
            parts = TruncatedSVD(n, random_state=0).fit_transform(normalize(X))
            sizes = np.linalg.norm(parts, axis=0)
            cells = {f"{p:g}": in_class(normalize(parts / sizes**p), y) for p in POWERS}
            report.add(data=name, vectors=n, **both, **cells)


if __name__ == "__main__":
    main()
