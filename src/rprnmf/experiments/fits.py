"""One fit by one of the algorithms that are compared, and what is measured of it.

All algorithms start from the same factors, uniform as published.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from math import nan
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.estimators import GNMF, LCNMF, NMF, RPRNMF
from rprnmf.experiments import algorithms
from rprnmf.experiments.algorithms import BOTH, GRAPH, PAPER, PLAIN, PLAIN_L2
from rprnmf.losses import LOSSES
from rprnmf.metrics import constraint_satisfied_rate, mean_divergence, mean_squared_loss
from rprnmf.observed import make_view
from rprnmf.scale import ScaleRule
from rprnmf.triplets import Triplets, triplets_to_graph, triplets_to_labels

LOSS = {"euclidean": "frobenius", "divergence": "kullback-leibler"}
ERROR = {"euclidean": ("MSL", mean_squared_loss), "divergence": ("MD", mean_divergence)}


@dataclass
class Task:
    """What is factorised, what is known about it, and where all algorithms start.

    ``strength`` is the paper's, for both sides: it multiplies the mean penalty of triplets for the
    Euclidean measure, and its sum for the Divergence.
    """

    X: Any
    W: np.ndarray
    H: np.ndarray
    row_triplets: Triplets | None = None
    column_triplets: Triplets | None = None
    strength: float = 1.0
    sweeps: int = 500
    missing: str | None = None

    @property
    def sides(self) -> dict[str, tuple[Triplets, int]]:
        """The triplets of each side that has any, and how many points it has."""
        found = {
            "row": (self.row_triplets, self.X.shape[0]),
            "column": (self.column_triplets, self.X.shape[1]),
        }
        return {side: (t, n) for side, (t, n) in found.items() if t is not None and t.n_triplets}

    @property
    def triplets(self) -> dict[str, Triplets]:
        """As `fit` takes them."""
        return {f"{side}_triplets": triplets for side, (triplets, _) in self.sides.items()}


@dataclass
class Fit:
    """The factors and what they took, in seconds of processor time."""

    algorithm: str
    W: np.ndarray
    H: np.ndarray
    seconds: float
    n_iter: int


def start(rng: Any, shape: tuple[int, int], K: int) -> tuple[np.ndarray, np.ndarray]:
    """Factors uniform on [0, 1), as in the paper."""
    return rng.random_sample((shape[0], K)), rng.random_sample((K, shape[1]))


def fit(algorithm: str, measure: str, task: Task) -> Fit:
    """Run one algorithm, after a small fit: time to load and compile is not counted."""
    warm_up(algorithm, measure, task.missing, tuple(task.sides))
    return fit_cold(algorithm, measure, task)


@cache
def warm_up(algorithm: str, measure: str, missing: str | None, sides: tuple[str, ...]) -> None:
    """One small fit of this kind, once per process."""
    rng = np.random.RandomState(0)
    X = rng.random_sample((12, 12)) + 0.1
    known = Triplets([[0, 1, 2], [3, 4, 5]])
    triplets: dict[str, Any] = {f"{side}_triplets": known for side in sides}
    small = sp.csr_array(X) if missing else X
    task = Task(small, *start(rng, X.shape, 3), sweeps=5, missing=missing, **triplets)
    fit_cold(algorithm, measure, task)


def fit_cold(algorithm: str, measure: str, task: Task) -> Fit:
    """Run one algorithm on a task."""
    common: dict[str, Any] = {
        "n_components": task.W.shape[1],
        "beta_loss": LOSS[measure],
        "missing": task.missing,
        "init": "custom",
        "random_state": 0,
        "n_jobs": 1,
    }
    if algorithm in PAPER:
        model, known = by_the_paper(algorithm, measure, task, common)
    elif algorithm in algorithms.SETTINGS:
        model, known = by_the_library(algorithm, measure, task, common)
    else:
        raise ValueError(f"no algorithm is called {algorithm!r}.")
    started = time.process_time()
    W = model.fit_transform(task.X, **known, W=task.W.copy(), H=task.H.copy())
    found = Fit(algorithm, W, model.components_, time.process_time() - started, model.n_iter_)
    if algorithm == PLAIN:
        rescale(found, measure, task)
    return found


def by_the_paper(
    algorithm: str, measure: str, task: Task, common: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """A model that follows the authors' program, and the arguments of `fit` beside X."""
    common = {**common, "solver": "paper", "max_iter": task.sweeps}
    if algorithm == "GNMF":
        graphs = {
            f"{side}_graph": triplets_to_graph(triplets, n, on_cycle="condense")
            for side, (triplets, n) in task.sides.items()
        }
        return GNMF(**common, **graphs), {}
    if algorithm == "LCNMF":
        labels = {side: triplets_to_labels(*given) for side, given in task.sides.items()}
        return LCNMF(**common), {"y": labels.get("row"), "column_labels": labels.get("column")}
    if algorithm == "RPR-NMF":
        strengths = {
            f"{side}_strength": task.strength * (t.n_triplets if measure == "divergence" else 1)
            for side, (t, _) in task.sides.items()
        }
        return RPRNMF(**common, **strengths), task.triplets
    return NMF(**common), {}


def by_the_library(
    algorithm: str, measure: str, task: Task, common: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """A model with the library's own solver, and the arguments of `fit` beside X."""
    # no priors: what the tables compare is L2 terms and none
    priors = {"row_prior": None, "column_prior": None}
    common = {**common, **priors, **algorithms.SETTINGS[algorithm]}
    if algorithm in (PLAIN, PLAIN_L2):
        return NMF(**common), {}
    if algorithm in (GRAPH, BOTH):
        graph = algorithms.correlated(task.X.T)
        if algorithm == BOTH and "column" in task.sides:
            pairs = algorithms.near_pairs(*task.sides["column"])
            graph = graph.maximum(algorithms.NEAR * pairs)
        common["column_graph"] = graph
    return RPRNMF(**common, distance=measure), {} if algorithm == GRAPH else task.triplets


def rescale(found: Fit, measure: str, task: Task) -> None:
    """Scale the factors as if there were triplets; without any, as if they were about H.

    NMF may leave any scale on either factor of a component, and distances depend on it.
    """
    rows = "row" in task.sides
    columns = "column" in task.sides or not rows
    view = make_view(task.X, task.missing)
    rule = ScaleRule(view, LOSSES[LOSS[measure]], len(found.H), rows, columns)
    found.W, Ht = rule.apply(found.W, np.ascontiguousarray(found.H.T))
    found.H = np.ascontiguousarray(Ht.T)


def measured(found: Fit, measure: str, task: Task) -> dict[str, float]:
    """The error and the percentage of triplets met, both by the measure, and what the fit took.

    Logarithms are those of the algorithm: the authors' smallest argument is eps in any unit.
    """
    name, error = ERROR[measure]
    floor = float(np.finfo(float).eps) if found.algorithm in PAPER else None
    rate = constraint_satisfied_rate(
        found.W, found.H, **task.triplets, distance=measure, floor=floor
    )
    return {
        name: error(task.X, found.W, found.H, missing=task.missing),
        "CSR": 100.0 * rate,
        "seconds": found.seconds,
        "n_iter": found.n_iter,
    }


def example(settings: dict[str, Any]) -> dict[str, float]:
    """What `measured` may return; NaN stands for what is not finite if the fit diverges."""
    return {ERROR[settings["measure"]][0]: nan, "CSR": nan, "seconds": 0.0, "n_iter": 0}
