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
RATINGS = {"alpha_W": 0.35, "alpha_power": 0.7}  # ratings need regularisation
SETTINGS: dict[str, dict[str, Any]] = {
    PLAIN: {},
    OWN: {},
    EXPONENTIAL: {"penalty": "exponential"},  # that of the paper
    PLAIN_L2: RATINGS,
    OWN_L2: RATINGS,
    # To find people takes more than to meet the known triplets: a wide margin, and a strength above
    # the least that meets them. One setting for both sets of faces, chosen on draws that are not
    # in the tables (repetitions from 100 on). Without triplets a weak graph is better.
    GRAPH: {"graph_strength": 1.0},
    BOTH: {"graph_strength": 80.0, "margin": 2.0, "column_strength": 5.0},
}
CONTROL = {  # the same without triplets
    "RPR-NMF": "NMF",
    OWN: PLAIN,
    EXPONENTIAL: PLAIN,
    OWN_L2: PLAIN_L2,
    BOTH: GRAPH,
}
NEIGHBOURS, HEAT = 7, 0.03  # of the graph: how many, and how fast weights fall with distance
NEAR = 0.1  # weight of the edge (q, r) of every triplet: such pairs are few, but known to be near
# Counted up when a change of the library changes results, so that older stored results are not
# used: of the authors' rules, and of the library's own solver on complete and incomplete data.
EDITIONS = {"paper": 3, "complete": 3, "incomplete": 5}


def recipe(algorithm: str, missing: bool = False) -> dict[str, Any]:
    """The settings that a result depends on beside its task; they are stored with it."""
    if algorithm in PAPER:
        return {"edition": EDITIONS["paper"]}
    found = {"edition": EDITIONS["incomplete" if missing else "complete"], **SETTINGS[algorithm]}
    if algorithm in (GRAPH, BOTH):
        found |= {"neighbours": NEIGHBOURS, "heat": HEAT}
    if algorithm == BOTH:
        found |= {"near": NEAR}
    return found


def correlated(points: np.ndarray) -> sp.csr_matrix:
    """A graph of neighbours by correlation r, which brightness and contrast do not change.

    Two points are linked if each is among the other's nearest, with weight exp((r - 1) / HEAT).
    """
    centred = points - points.mean(axis=1, keepdims=True)
    graph = kneighbors_graph(normalize(centred), NEIGHBOURS, mode="distance")
    graph.data = np.exp(-(graph.data**2) / (2.0 * HEAT))  # of unit vectors: d^2 = 2 (1 - r)
    return graph.minimum(graph.T)


def near_pairs(triplets: Triplets, n: int) -> sp.csr_matrix:
    """A graph with the edge (q, r) of every triplet."""
    q, r, _ = triplets.items.T
    graph = sp.csr_matrix((np.ones(len(q)), (q, r)), shape=(n, n)) > 0
    return graph.maximum(graph.T).astype(np.float64)
