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
from rprnmf.experiments.harness.drawing import draw
from rprnmf.experiments.harness.experiment import Experiment, Row, Settings, Values
from rprnmf.experiments.harness.report import Section, Table
from rprnmf.metrics import satisfied_rate
from rprnmf.triplets import triplets_to_labels

PAIRS = list(combinations(range(4), 2))
LABELS = (0.5, 0.4, 0.4, 0.5, 0.62, 0.5)  # where on its line a distance is written: no overlaps
SEED = 0
BOX = {"boxstyle": "square,pad=0.05", "facecolor": "#ffffff", "edgecolor": "none"}
CENTRE: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 4}
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
    """The distances of all pairs, divided by the largest."""
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
    table = Table("", "Distances, the largest of each line 1", head, body)
    text = (
        "Illustrative data: the paper's points are not published. All comparisons of two distances "
        "with a common point are given. GNMF gets weights, the largest distance less that of a "
        "pair, LCNMF the labels that Algorithm 4 makes of the comparisons (one for all points), "
        "RPR-NMF the comparisons; all by the authors' rules. At its usual strength of 100 GNMF "
        "draws the points together nearly into one: mind its axes."
    )
    caption = "Four points and their distances, the largest 1: in three dimensions, and in two."
    figure = draw("", caption, lambda canvas: paint(canvas, found), (9, 7.5))
    return Section(text, [table], [figure], findings, findings[-1])


def paint(canvas: Any, found: dict[str, np.ndarray]) -> None:
    """One panel per algorithm; the original is drawn in three dimensions."""
    for name, points in found.items():
        number = NAMES.index(name)
        deep = {"projection": "3d"} if number == 0 else {}
        axis = canvas.add_subplot(2, 2, number + 1, **deep)
        axis.set_title(f"({'abcd'[number]}) {name}")
        apart = normalised(points)
        for (i, j), gap, way in zip(PAIRS, apart, LABELS, strict=True):
            axis.plot(*np.array([points[i], points[j]]).T, ":", color="#8a93a0", linewidth=1)
            if gap > 0:
                at = points[i] + way * (points[j] - points[i])
                axis.text(*at, f"{gap:.2f}", fontsize=8, color="#0b5cad", bbox=BOX, **CENTRE)
        axis.scatter(*points.T, s=130, color="#ffffff", edgecolors="#1d2430", zorder=3)
        named = dict(enumerate(points, 1)) if apart.any() else {"1-4": points[0]}
        for text, point in named.items():
            axis.text(*point, str(text), fontsize=8, **CENTRE)
        if deep:
            axis.view_init(*seen_from(points))
            axis.set_box_aspect(None, zoom=0.95)
        else:
            axis.set_aspect("equal", adjustable="datalim")  # lengths are distances
        axis.margins(0.2)
        axis.locator_params(nbins=4)


def seen_from(points: np.ndarray) -> tuple[float, float]:
    """Elevation and azimuth, in degrees, from where the points lie furthest apart."""
    x, y, z = np.linalg.svd(points - points.mean(axis=0))[2][-1]
    return float(np.degrees(np.arcsin(z))), float(np.degrees(np.arctan2(y, x)))


EXPERIMENT = Experiment(
    "four-points",
    "Figure 2: four points from three dimensions into two",
    lambda quick: [{"points": name, "edition": EDITIONS["paper"]} for name in NAMES],
    run,
    section,
    lambda settings: {"at": [[0.0] * (3 if settings["points"] == "original" else 2)] * 4},
)
