"""What the two face experiments share: fit, cluster, count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from math import nan
from operator import itemgetter
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.utils import Bunch

from rprnmf.datasets import fetch_orl, fetch_pie
from rprnmf.experiments.algorithms import (
    BOTH,
    EXPONENTIAL,
    GRAPH,
    HEAT,
    NEAR,
    NEIGHBOURS,
    OWN,
    PAPER,
    PLAIN,
    SETTINGS,
    recipe,
)
from rprnmf.experiments.beside_paper import section_beside_paper
from rprnmf.experiments.fits import Task, fit, measured, start
from rprnmf.experiments.fits import example as fit_example
from rprnmf.experiments.harness.drawing import Axis, Panel, draw_panels
from rprnmf.experiments.harness.experiment import (
    Experiment,
    Row,
    Settings,
    Values,
    column,
    where,
)
from rprnmf.experiments.harness.report import Figure, Section, Table
from rprnmf.experiments.harness.tables import summary
from rprnmf.metrics import clustering_accuracy, normalized_mutual_info
from rprnmf.triplets import Triplets, triplets_from_labels

ALGORITHMS = (*PAPER, PLAIN, OWN, EXPONENTIAL, GRAPH, BOTH)
STRENGTH = {"euclidean": 20.0, "divergence": 2.0}
SWEEPS, RESTARTS = 500, 20
FETCH: dict[str, Callable[..., Bunch]] = {"orl": fetch_orl, "pie": fetch_pie}
TAG = {"orl": 1, "pie": 2}  # of the random draws


@lru_cache(maxsize=2)
def faces(dataset: str) -> Bunch:
    """The images, read once in every process."""
    return FETCH[dataset]()


@dataclass(frozen=True)
class Plan:
    """How much of it is done: the paper's table, and fits with more and more triplets."""

    classes: tuple[int, ...]
    repetitions: int
    people: int  # with more and more triplets
    repetitions_of_these: int
    counts: tuple[int, ...] = (0, 1, 2, 5, 10, 50)  # triplets per person


def experiment(name: str, title: str, protocol: str, full: Plan, quick: Plan) -> Experiment:
    """That of one set of faces; ``protocol`` says in words which triplets it has."""
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
    table = [
        {
            "dataset": dataset,
            "K": K,
            "repetition": repetition,
            "algorithm": algorithm,
            "measure": measure,
            "strength": STRENGTH[measure],
            "sweeps": SWEEPS,
            "triplets": "protocol",
            **recipe(algorithm),
        }
        for repetition in range(plan.repetitions)
        for K in plan.classes
        for algorithm in ALGORITHMS
        for measure in STRENGTH
        if measure == "euclidean" or algorithm in PAPER
    ]
    answers = [
        {
            "dataset": dataset,
            "K": plan.people,
            "repetition": repetition,
            "algorithm": algorithm,
            "measure": "euclidean",
            "triplets": count * plan.people,
            **recipe(algorithm),
        }
        for repetition in range(plan.repetitions_of_these)
        for count in plan.counts
        for algorithm in ((PLAIN, GRAPH, BOTH) if count == 0 else (OWN, BOTH))
    ]
    return table + answers


def run(settings: Settings) -> Values:
    """One fit, k-means on its factor, and how well the people are found."""
    dataset, K = settings["dataset"], settings["K"]
    bunch = faces(dataset)
    rng = np.random.RandomState([TAG[dataset], K, settings["repetition"]])
    people = rng.choice(np.unique(bunch.target), K, replace=False)
    mixed = rng.permutation(np.flatnonzero(np.isin(bunch.target, people)))
    X, y = bunch.data[mixed].T, bunch.target[mixed]
    seed = rng.randint(2**31 - 1)
    W, H = start(rng, X.shape, K)
    task = Task(
        X,
        W,
        H,
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
    """By the paper's protocol for a data set, or so many at random."""
    if wanted == "protocol":
        if dataset == "orl":
            return triplets_from_labels(y, per_class=2, random_state=rng)
        return triplets_from_labels(y, per_class=4, features=X.T, random_state=rng)
    return triplets_from_labels(y, wanted, random_state=rng) if wanted else None


def example(settings: Settings) -> Values:
    """What `run` returns."""
    return {**fit_example(settings), "ACC": nan, "NMI": nan, "n_triplets": 0}


def cost(settings: Settings) -> float:
    """Seconds, about."""
    K = settings["K"]
    images = {"orl": 10, "pie": 42}[settings["dataset"]] * K
    entries = 1024 * images * K
    kmeans = 2e-6 * images * K
    if settings["algorithm"] not in PAPER:
        return entries * 4e-8 + kmeans
    slow = settings["measure"] == "divergence" and settings["algorithm"] != "GNMF"
    return entries * settings["sweeps"] * (1.2e-9 if slow else 5e-10) + kmeans


def section(name: str, protocol: str, rows: list[Row]) -> Section:
    """The table beside the paper's, and what more triplets bring."""
    table = where(rows, triplets="protocol")
    answers = [row for row in rows if row["triplets"] != "protocol"]
    text = (
        f"Images of K people chosen at random are factorised with K components, {protocol}; "
        "k-means on the columns of H then has to find the people."
    )
    found = section_beside_paper(name, text, table, BOTH)
    found.notes = notes()
    if answers:
        lines = with_controls(answers)
        found.figures.append(answers_figure(lines))
        found.tables.append(answers_table(lines))
    return found


def notes() -> list[str]:
    """How it was done."""
    weak, strong = SETTINGS[GRAPH], SETTINGS[BOTH]
    tried = "benchmarks/results/face_settings.md"
    return [
        "All algorithms start from the same uniform factors; k-means has the same seeds and "
        f"{RESTARTS} restarts. NMI is normalised by the larger entropy. The paper's tables imply "
        "five repetitions; the captions say how many there are here.",
        f"NMF, GNMF, LCNMF, RPR-NMF: the authors' rules, {SWEEPS} sweeps, strength "
        f"{STRENGTH['euclidean']:g} (Euclidean) and {STRENGTH['divergence']:g} (Divergence). "
        "GNMF's weights and LCNMF's labels are made of the same triplets (Algorithms 3 and 4); "
        "triplets that contradict each other in a circle count as one depth.",
        f"{PLAIN}, {OWN}: the library's own solver with default settings (200 iterations at most) "
        f"and the measure of k-means, the Euclidean. {PLAIN} has its scale where triplets have it: "
        "columns of W of length 1.",
        f"{EXPONENTIAL}: the same with the paper's penalty in place of the default one. It was "
        "picked by looking, after other ways to use triplets alone had been tried on other draws "
        "of the same ORL pictures, so that its lead on ORL flatters it and PIE is the fairer test. "
        f"`{tried}` has the main ones, measured again in one run.",
        f"{GRAPH}: a graph of pictures that are among each other's {NEIGHBOURS} nearest by "
        f"correlation r, weights exp((r - 1) / {HEAT:g}), strength {weak['graph_strength']:g}.",
        f"{BOTH}: that graph, and the pairs (q, r) of the triplets as edges of weight {NEAR:g}, "
        f"with strength {strong['graph_strength']:g}; triplets with margin {strong['margin']:g} "
        f"and strength {strong['column_strength']:g}. These numbers are the same for both sets of "
        "faces, and were chosen by the labels: on other draws than the table's (repetitions from "
        f"100 on), but of the same pictures. `{tried}` has what others give.",
    ]


def with_controls(rows: list[Row]) -> list[Row]:
    """Plain NMF is where the line of triplets starts, the graph alone is a line of its own."""
    counts = sorted({row["triplets"] for row in rows})
    found = [{**row, "algorithm": OWN} for row in where(rows, algorithm=PLAIN)]
    found += [{**row, "triplets": n} for row in where(rows, algorithm=GRAPH) for n in counts]
    return found + [row for row in rows if row["algorithm"] in (OWN, BOTH)]


def answers_figure(rows: list[Row]) -> Figure:
    """ACC and NMI over the number of triplets."""
    caption = (
        f"What triplets buy: {rows[0]['K']} people, triplets drawn at random from the labels; at "
        "0 plain NMF, and the strong graph that goes with triplets, without any; flat: a weaker "
        "graph alone."
    )
    panels = [Panel(f"{metric} (%)", itemgetter(metric)) for metric in ("ACC", "NMI")]
    return draw_panels("answers", caption, rows, Axis("triplets", "triplets", log=True), panels)


def answers_table(rows: list[Row]) -> Table:
    """The numbers of the figure."""
    shown = [
        (algorithm, word, metric)
        for algorithm, word in ((OWN, "triplets"), (GRAPH, "graph"), (BOTH, "both"))
        for metric in ("ACC", "NMI", "CSR")
        if (algorithm, metric) != (GRAPH, "CSR")  # there are no triplets to meet
    ]
    body: list[list[Any]] = []
    for count in sorted({row["triplets"] for row in rows}):
        line: list[Any] = [str(count)]
        for algorithm, _, metric in shown:
            values = column(where(rows, triplets=count, algorithm=algorithm), metric)
            values = [value for value in values if value == value]
            line.append(summary(values) if values else "")
        body.append(line)
    weak, strong = (SETTINGS[one]["graph_strength"] for one in (GRAPH, BOTH))
    caption = (
        f"What triplets buy, {rows[0]['K']} people; at 0: plain NMF, the graph alone (strength "
        f"{weak:g}), and the stronger one that goes with triplets ({strong:g}), without any"
    )
    head = ["triplets", *(f"{metric}, {word}" for _, word, metric in shown)]
    return Table("answers", caption, head, body)
