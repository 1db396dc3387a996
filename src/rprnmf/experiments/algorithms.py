"""The algorithms that the experiments compare: names, settings, editions, graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize

from rprnmf.triplets import Triplets

PAPER = ("NMF", "GNMF", "LCNMF", "RPR-NMF")  # by the authors' rules
# the library's own, with the distance of the measure: without triplets, and with them
PLAIN, OWN = "NMF (cd)", "triplets (cd)"
EXPONENTIAL = "exponential (cd)"
GRAPH, BOTH = "graph (cd)", "triplets + graph (cd)"
PLAIN_L2, OWN_L2 = "NMF, L2 (cd)", "triplets, L2 (cd)"
RATINGS = {"alpha_W": 0.35, "alpha_power": 0.7}  # for ratings: factors need it
SETTINGS: dict[str, dict[str, Any]] = {
    PLAIN: {},
    OWN: {},
    EXPONENTIAL: {"penalty": "exponential"},  # that of the paper
    PLAIN_L2: RATINGS,
    OWN_L2: RATINGS,
    # To find people is more than to meet the triplets that are known: a wide margin, and a strength
    # that is not the least that will do. One setting for all faces, looked for on draws of both
    # sets that the tables do not count (repetitions from 100 on). The graph alone is better weak.
    GRAPH: {"graph_strength": 1.0},
    BOTH: {"graph_strength": 80.0, "margin": 2.0, "column_strength": 5.0},
}
CONTROL = {  # without triplets; a graph has the strength that is good without them
    "RPR-NMF": "NMF",
    OWN: PLAIN,
    EXPONENTIAL: PLAIN,
    OWN_L2: PLAIN_L2,
    BOTH: GRAPH,
}
NEIGHBOURS, HEAT = 7, 0.03
# The near pair of every triplet is an edge too, of this weight beside triplets: there are few of
# them, but unlike neighbours by correlation they are known.
NEAR = 0.1
# Counted up when a change of the library changes what algorithms give, so that what is stored is
# not taken for what it would be now: by the authors' rules, and the library's own on either data.
EDITIONS = {"paper": 3, "complete": 3, "incomplete": 5}


def recipe(algorithm: str, missing: bool = False) -> dict[str, Any]:
    """What the result of an algorithm depends on beside the task, for the store."""
    if algorithm in PAPER:
        return {"edition": EDITIONS["paper"]}
    found = {"edition": EDITIONS["incomplete" if missing else "complete"], **SETTINGS[algorithm]}
    if algorithm in (GRAPH, BOTH):
        found |= {"neighbours": NEIGHBOURS, "heat": HEAT}
    if algorithm == BOTH:
        found |= {"near": NEAR}
    return found


def correlated(points: np.ndarray) -> sp.csr_matrix:
    """A graph of neighbours by correlation r, for pictures differ in brightness and contrast.

    Both must be among the other's nearest. Weights are exp((r - 1) / HEAT): neighbours that are
    not much alike hardly count.
    """
    centred = points - points.mean(axis=1, keepdims=True)
    graph = kneighbors_graph(normalize(centred), NEIGHBOURS, mode="distance")
    graph.data = np.exp(-(graph.data**2) / (2.0 * HEAT))  # of unit vectors: d^2 = 2 (1 - r)
    return graph.minimum(graph.T)


def near_pairs(triplets: Triplets, n: int) -> sp.csr_matrix:
    """A graph of what is said to be closer than something else."""
    q, r, _ = triplets.items.T
    graph = sp.csr_matrix((np.ones(len(q)), (q, r)), shape=(n, n)) > 0
    return graph.maximum(graph.T).astype(np.float64)
