"""Algorithms 3 and 4 against the authors' program on a chain of five triplets."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rprnmf.triplets import triplets_to_graph, triplets_to_labels

FILE = Path(__file__).parent / "reference" / "smx_lmx_chain.npz"


def test_conversions_equal_those_of_the_authors():
    with np.load(FILE) as given:
        rows, classes, S = given["L"].astype(np.int64), given["A"].argmax(axis=1), given["S"]
    n = len(S)
    np.testing.assert_allclose(triplets_to_graph(rows, n).toarray(), S, atol=1e-12)
    labels = triplets_to_labels(rows, n)
    alone = labels < 0
    ours = (labels[:, None] == labels[None]) & ~alone[:, None] & ~alone[None] | np.eye(
        n, dtype=bool
    )
    np.testing.assert_array_equal(ours, classes[:, None] == classes[None])
