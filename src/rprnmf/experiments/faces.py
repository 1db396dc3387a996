"""What the two face experiments share: fit, cluster, count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from math import nan
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.utils import Bunch

from rprnmf.datasets import fetch_orl, fetch_pie
from rprnmf.experiments import fits
from rprnmf.experiments.algorithms import BOTH, EXPONENTIAL, GRAPH, OWN, PAPER, PLAIN, recipe
from rprnmf.experiments.faces_report import RESTARTS, STRENGTH, SWEEPS, section
from rprnmf.experiments.fits import Task, fit, measured, start
from rprnmf.experiments.harness.experiment import Experiment, Settings, Values
from rprnmf.metrics import clustering_accuracy, normalized_mutual_info
from rprnmf.triplets import Triplets, triplets_from_labels

ALGORITHMS = (*PAPER, PLAIN, OWN, EXPONENTIAL, GRAPH, BOTH)
FETCH: dict[str, Callable[..., Bunch]] = {"orl": fetch_orl, "pie": fetch_pie}
TAG = {"orl": 1, "pie": 2}  # makes their random draws different


@lru_cache(maxsize=2)
def faces(dataset: str) -> Bunch:
    """The images, read once in every process."""
    return FETCH[dataset]()


@dataclass(frozen=True)
class Plan:
    """How many fits: for the paper's table, and with more and more triplets."""

    classes: tuple[int, ...]
    repetitions: int
    people: int  # in fits with more and more triplets
    repetitions_with_more: int
    counts: tuple[int, ...] = (0, 1, 2, 5, 10, 50)  # of triplets per person


def experiment(name: str, title: str, protocol: str, full: Plan, quick: Plan) -> Experiment:
    """The experiment on one set of faces; ``protocol`` says in words which triplets it has."""
    return Experiment(
        name,
        title,
        lambda is_quick: jobs(name, quick if is_quick else full),
        run,
        partial(section, name, protocol),
        example,
        cost,
        partial(faces, name),
    )


def jobs(dataset: str, plan: Plan) -> list[Settings]:
    """All fits of the paper's table, repetition by repetition, then those with more triplets."""

    def job(K: int, repetition: int, algorithm: str, measure: str, triplets: Any) -> Settings:
        who = {"algorithm": algorithm, "measure": measure, "triplets": triplets}
        return {"dataset": dataset, "K": K, "repetition": repetition, **who, **recipe(algorithm)}

    table = [
        {
            **job(K, repetition, algorithm, measure, "protocol"),
            "strength": STRENGTH[measure],
            "sweeps": SWEEPS,
        }
        for repetition in range(plan.repetitions)
        for K in plan.classes
        for algorithm in ALGORITHMS
        for measure in STRENGTH
        if measure == "euclidean" or algorithm in PAPER
    ]
    answers = [
        job(plan.people, repetition, algorithm, "euclidean", count * plan.people)
        for repetition in range(plan.repetitions_with_more)
        for count in plan.counts
        for algorithm in ((PLAIN, GRAPH, BOTH) if count == 0 else (OWN, BOTH))
    ]
    return table + answers


def run(settings: Settings) -> Values:
    """One fit, k-means on its H, and how well the clusters agree with the people."""
    dataset, K = settings["dataset"], settings["K"]
    bunch = faces(dataset)
    rng = np.random.RandomState([TAG[dataset], K, settings["repetition"]])
    people = rng.choice(np.unique(bunch.target), K, replace=False)
    mixed = rng.permutation(np.flatnonzero(np.isin(bunch.target, people)))
    X, y = bunch.data[mixed].T, bunch.target[mixed]
    seed = rng.randint(2**31 - 1)
    task = Task(
        X,
        *start(rng, X.shape, K),
        column_triplets=triplets(dataset, settings["triplets"], X, y, rng),
        strength=settings.get("strength", 1.0),
        sweeps=settings.get("sweeps", SWEEPS),
    )
    found = fit(settings["algorithm"], settings["measure"], task)
    clusters = KMeans(K, n_init=RESTARTS, random_state=seed).fit_predict(found.H.T)
    return {
        **measured(found, settings["measure"], task),
        "ACC": 100.0 * clustering_accuracy(y, clusters),
        "NMI": 100.0 * normalized_mutual_info(y, clusters),
        "n_triplets": task.column_triplets.n_triplets if task.column_triplets else 0,
    }


def triplets(dataset: str, wanted, X: np.ndarray, y: np.ndarray, rng) -> Triplets | None:
    """Triplets by the paper's protocol for a data set, or a number of random ones."""
    if wanted == "protocol":
        if dataset == "orl":
            return triplets_from_labels(y, per_class=2, random_state=rng)
        return triplets_from_labels(y, per_class=4, features=X.T, random_state=rng)
    return triplets_from_labels(y, wanted, random_state=rng) if wanted else None


def example(settings: Settings) -> Values:
    """What `run` returns."""
    return {**fits.example(settings), "ACC": nan, "NMI": nan, "n_triplets": 0}


def cost(settings: Settings) -> float:
    """About how many seconds a fit takes."""
    K = settings["K"]
    images = {"orl": 10, "pie": 42}[settings["dataset"]] * K
    entries = 1024 * images * K
    kmeans = 2e-6 * images * K
    if settings["algorithm"] not in PAPER:
        return entries * 4e-8 + kmeans
    slow = settings["measure"] == "divergence" and settings["algorithm"] != "GNMF"
    return entries * settings["sweeps"] * (1.2e-9 if slow else 5e-10) + kmeans
