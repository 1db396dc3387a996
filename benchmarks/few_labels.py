"""A few labels, or a few comparisons: how well are all other rows placed?

`predict_labels` beside scikit-learn's LabelSpreading, and k-means on W with two comparisons a
class. Writes `results/few_labels.csv` and `.md`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from common import MissingError, start_process
from labelled_data import SETS, UNSEEN, accuracy, few, labelled
from report import Report
from sklearn.semi_supervised import LabelSpreading

from rprnmf import NMF, RPRNMF
from rprnmf.triplets import triplets_from_labels

EACH = (2, 4, 8)


def spread(X: Any, part: np.ndarray, neighbors: int) -> np.ndarray:
    """scikit-learn's LabelSpreading by nearest neighbours, else with its defaults."""
    X = X.toarray() if sp.issparse(X) else X
    model = LabelSpreading(kernel="knn", n_neighbors=neighbors, max_iter=200)
    return model.fit(X, part).transduction_


def by_labels(X: Any, y: np.ndarray, each: int, seed: int) -> dict[str, float]:
    """The share of the unknown labels that are found."""
    part, K = few(y, each, seed), len(np.unique(y))
    known = triplets_from_labels(part, 4 * K, random_state=0)
    model = RPRNMF(K, row_graph="cosine", random_state=0, max_iter=100)
    model.fit(X, row_triplets=known)
    plain = NMF(K, random_state=0, max_iter=100).fit(X)
    found = {
        "LabelSpreading 5": spread(X, part, 5),
        "LabelSpreading 7": spread(X, part, 7),
        "NMF, with X": plain.predict_labels(part, X),
        "RPRNMF, W alone": model.predict_labels(part),
        "RPRNMF, with X": model.predict_labels(part, X),
    }
    return {key: float(np.mean(labels[part < 0] == y[part < 0])) for key, labels in found.items()}


def by_comparisons(X: Any, y: np.ndarray, seed: int) -> dict[str, float]:
    """Accuracy of k-means with two comparisons a class."""
    K = len(np.unique(y))
    known = triplets_from_labels(y, 2 * K, random_state=seed)
    settings = {"random_state": 0, "max_iter": 100}
    models = {
        "NMF": NMF(K, **settings).fit(X),
        "comparisons": RPRNMF(K, **settings).fit(X, row_triplets=known),
        "with a graph": RPRNMF(K, row_graph="cosine", **settings).fit(X, row_triplets=known),
    }
    return {key: accuracy(model.embedding_, y) for key, model in models.items()}


def main() -> None:
    quick, folder = start_process("few_labels")
    draws = range(50, 51 if quick else 53)  # no setting was chosen on these
    measured = (
        "Labels: the share of the unknown labels that are found, in per cent, with 2, 4 and 8 "
        "known ones a class. RPRNMF: row_graph='cosine' and 4 comparisons a class made from "
        "the same labels, else defaults. k-means: accuracy on W with two comparisons a class and "
        "as many components as classes. Means over 3 draws. Nothing but the strength of the graph "
        "was chosen on iris and texts 2."
    )
    report = Report(folder, "few_labels", "A few labels", measured)
    for name in SETS[:2] if quick else (*SETS, *UNSEEN):
        try:
            X, y = labelled(name)
        except MissingError as error:
            report.note(f"{error}.")
            continue
        for each in EACH[:1] if quick else EACH:
            found = [by_labels(X, y, each, seed) for seed in draws]
            cells = {key: f"{100 * np.mean([one[key] for one in found]):.1f}" for key in found[0]}
            report.add(data=name, known=f"{each} labels a class", **cells)
        found = [by_comparisons(X, y, seed) for seed in draws]
        cells = {
            f"k-means: {key}": f"{100 * np.mean([one[key] for one in found]):.1f}"
            for key in found[0]
        }
        report.add(data=name, known="2 comparisons a class", **cells)


if __name__ == "__main__":
    main()
