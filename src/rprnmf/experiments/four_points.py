"""Figure 2: four points from three dimensions into two."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances

from rprnmf.datasets import load_four_points
from rprnmf.estimators import GNMF, LCNMF, RPRNMF
from rprnmf.experiments.algorithms import EDITIONS
from rprnmf.experiments.base import Experiment, Row, Settings, Values
from rprnmf.experiments.drawing import draw
from rprnmf.experiments.page import Section, Table
from rprnmf.metrics import satisfied_rate
from rprnmf.triplets import triplets_to_labels

PAIRS = list(combinations(range(4), 2))
SEED = 0
NAMES = ("original", "GNMF", "LCNMF", "RPR-NMF")


def run(settings: Settings) -> Values:
    """The points in three dimensions, or in two by an algorithm."""
    bunch = load_four_points()
    X, known = bunch.data, bunch.column_triplets
    paper: dict[str, Any] = {"n_components": 2, "random_state": SEED, "n_jobs": 1}
    paper |= {"solver": "paper", "max_iter": 500}
    graph = pairwise_distances(X.T)
    graph = graph.max() - graph  # the closer, the heavier
    np.fill_diagonal(graph, 0.0)
    labels = triplets_to_labels(known, X.shape[1])
    models: dict[str, Callable[[], Any]] = {
        "GNMF": lambda: GNMF(**paper, column_graph=graph).fit(X),
        "LCNMF": lambda: LCNMF(**paper).fit(X, column_labels=labels),
        "RPR-NMF": lambda: RPRNMF(**paper).fit(X, column_triplets=known),
    }
    name = settings["points"]
    return {"at": (X if name == "original" else models[name]().components_).T.tolist()}


def normalised(points: np.ndarray) -> np.ndarray:
    """Distances of all pairs, the largest 1."""
    apart = np.array([np.linalg.norm(points[i] - points[j]) for i, j in PAIRS])
    return apart / apart.max() if apart.max() > 1e-9 else np.zeros(len(PAIRS))


def section(rows: list[Row]) -> Section:
    """The four pictures and the distances in them."""
    found = {row["points"]: np.array(row["at"]) for row in rows}
    known = load_four_points().column_triplets
    body: list[list[Any]] = []
    findings = []
    for name, points in found.items():
        apart = normalised(points)
        body.append([name, *(f"{gap:.2f}" for gap in apart)])
        rate = satisfied_rate(points, known) if apart.any() else 0.0
        d24, d34 = apart[PAIRS.index((1, 3))], apart[PAIRS.index((2, 3))]
        order = "equal to" if d24 == d34 else "less than" if d24 < d34 else "greater than"
        findings.append(
            f"{name}: the distance 2-4 ({d24:.2f}) is {order} the distance 3-4 ({d34:.2f}); "
            f"{rate:.0%} of {known.n_triplets} comparisons hold."
        )
    head = ["", *(f"{i + 1}-{j + 1}" for i, j in PAIRS)]
    table = Table("four-points", "Distances, the largest of each line 1", head, body)
    text = (
        "Illustrative data: the paper's points are not published. All comparisons of two distances "
        "with a common point are given. GNMF gets weights from the distances, LCNMF the labels "
        "that Algorithm 4 makes of the comparisons (one for all points), RPR-NMF the comparisons; "
        "all by the authors' rules."
    )
    caption = "Four points and their distances, the largest 1: in three dimensions, and in two."
    figure = draw("four-points", caption, lambda canvas: paint(canvas, found), (12, 3.4))
    return Section("four-points", EXPERIMENT.title, text, [table], [figure], findings, findings[-1])


def paint(canvas: Any, found: dict[str, np.ndarray]) -> None:
    """One panel an algorithm; the original is drawn in three dimensions."""
    for name, points in found.items():
        number = NAMES.index(name)
        axis = canvas.add_subplot(1, 4, number + 1, **({"projection": "3d"} if number == 0 else {}))
        axis.set_title(f"({'abcd'[number]}) {name}")
        for (i, j), gap in zip(PAIRS, normalised(points), strict=True):
            ends = np.array([points[i], points[j]]).T
            axis.plot(*ends, ":", color="#8a93a0", linewidth=1)
            if gap > 0:
                axis.text(*ends.mean(axis=1), f"{gap:.2f}", fontsize=7, color="#0b5cad")
        axis.scatter(*points.T, s=160, color="#ffffff", edgecolors="#1d2430", zorder=3)
        for place, point in enumerate(points):
            name = str(place + 1) if np.ptp(points, axis=0).any() else "1-4"
            axis.text(*point, name, ha="center", va="center", fontsize=8, zorder=4)
        axis.margins(0.15)


EXPERIMENT = Experiment(
    "four-points",
    "Figure 2: four points from three dimensions into two",
    lambda quick: [{"points": name, "edition": EDITIONS["paper"]} for name in NAMES],
    run,
    section,
)
