"""Figure 1: a comparison that ratings alone get wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.datasets import load_movie_example
from rprnmf.estimators import NMF, RPRNMF
from rprnmf.experiments.algorithms import EDITIONS
from rprnmf.experiments.harness.experiment import Experiment, Row, Settings, Values
from rprnmf.experiments.harness.report import Section, Table
from rprnmf.metrics import rmse, satisfied_rate

SETTINGS: dict[str, Any] = {
    "n_components": 2,
    "missing": "zero",
    "row_prior": None,  # as in the paper
    "column_prior": None,
    "max_iter": 500,
    "random_state": 0,
    "n_jobs": 1,
}


def run(settings: Settings) -> Values:
    """One model: its ratings, the distances from Star Wars, which comparisons hold."""
    bunch = load_movie_example()
    place = {name: number for number, name in enumerate(bunch.movies)}
    triplets = [[place[name] for name in triplet] for triplet in bunch.column_triplets]
    model: Any
    if settings["model"] == "NMF":
        model = NMF(**SETTINGS).fit(bunch.data)
    else:
        model = RPRNMF(**SETTINGS).fit(bunch.data, column_triplets=triplets)
    films = model.components_.T
    films = films / np.linalg.norm(films, axis=1).mean()
    return {
        "made": (model.embedding_ @ model.components_).tolist(),
        "gaps": {
            other: float(np.linalg.norm(films[place["Star Wars"]] - films[place[other]]))
            for other in bunch.movies[1:]
        },
        "held": satisfied_rate(model.components_.T, triplets),
        "comparisons": len(triplets),
        "RMSE": rmse(bunch.data, model.embedding_, model.components_),
    }


def example(settings: Settings) -> Values:
    """What `run` returns."""
    bunch = load_movie_example()
    made, gaps = np.zeros(bunch.data.shape).tolist(), dict.fromkeys(bunch.movies[1:], 0.0)
    return {"made": made, "gaps": gaps, "held": 0.0, "comparisons": 0, "RMSE": 0.0}


def section(rows: list[Row]) -> Section:
    """Ratings, recovered ones in brackets, and the distances between films."""
    bunch = load_movie_example()
    tables = []
    for found in rows:
        name, made = found["model"], found["made"]
        body = [
            [user, *(f"{x:.0f}" if x else f"({y:.1f})" for x, y in zip(row, fitted, strict=True))]
            for user, row, fitted in zip(bunch.users, bunch.data, made, strict=True)
        ]
        caption = f"Ratings, and in brackets what {name} says where there is none"
        tables.append(Table(name, caption, ["", *bunch.movies], body))
    body = [[row["model"], *(f"{gap:.2f}" for gap in row["gaps"].values())] for row in rows]
    caption = "Distance from Star Wars, in units of the mean length of a film's column of H"
    tables.append(Table("distances", caption, ["", *bunch.movies[1:]], body))
    findings = []
    for row in rows:
        near, far = row["gaps"]["Star Trek"], row["gaps"]["Titanic"]
        word, than = ("closer to", "to") if near < far else ("further from", "from")
        findings.append(
            f"{row['model']}: Star Wars is {word} Star Trek ({near:.2f}) than {than} Titanic "
            f"({far:.2f}); {row['held']:.0%} of {row['comparisons']} comparisons hold, RMSE "
            f"{row['RMSE']:.2f}."
        )
    text = (
        "Illustrative data: the paper's ratings are not published. These have the property that "
        "its caption states: plain NMF puts Star Wars closer to Titanic than to Star Trek. "
        "Both factorisations are the library's own (cd)."
    )
    return Section(text, tables, [], findings, findings[-1])


EXPERIMENT = Experiment(
    "movie-example",
    "Figure 1: a small recommender",
    lambda quick: [
        {"model": name, "edition": EDITIONS["incomplete"]} for name in ("NMF", "RPRNMF")
    ],
    run,
    section,
    example,
)
