"""Figure 1: a comparison that ratings alone get wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.datasets import load_movie_example
from rprnmf.estimators import NMF, RPRNMF
from rprnmf.experiments.base import Experiment, Row
from rprnmf.experiments.page import Section, Table
from rprnmf.metrics import rmse, satisfied_rate

SETTINGS: dict[str, Any] = {
    "n_components": 2,
    "missing": "zero",
    "max_iter": 500,
    "random_state": 0,
    "n_jobs": 1,
}


def section(rows: list[Row]) -> Section:
    """Ratings, recovered ones in brackets, and the distances between films."""
    bunch = load_movie_example()
    place = {name: number for number, name in enumerate(bunch.movies)}
    triplets = [[place[name] for name in triplet] for triplet in bunch.column_triplets]
    models = {
        "NMF": NMF(**SETTINGS).fit(bunch.data),
        "RPRNMF": RPRNMF(**SETTINGS).fit(bunch.data, column_triplets=triplets),
    }
    tables, gaps = [], {}
    for name, model in models.items():
        made = model.embedding_ @ model.components_
        body = [
            [user, *(f"{x:.0f}" if x else f"({y:.1f})" for x, y in zip(row, fitted, strict=True))]
            for user, row, fitted in zip(bunch.users, bunch.data, made, strict=True)
        ]
        caption = f"Ratings, and in brackets what {name} says where there is none"
        tables.append(Table(f"movie-example-{name}", caption, ["", *bunch.movies], body))
        films = model.components_.T
        films = films / np.linalg.norm(films, axis=1).mean()
        gaps[name] = {
            other: float(np.linalg.norm(films[place["Star Wars"]] - films[place[other]]))
            for other in bunch.movies[1:]
        }
    body = [[name, *(f"{gap:.2f}" for gap in found.values())] for name, found in gaps.items()]
    caption = "Distance from Star Wars, in units of the mean length of a film's column of H"
    tables.append(Table("movie-example-distances", caption, ["", *bunch.movies[1:]], body))
    findings = []
    for name, model in models.items():
        near, far = gaps[name]["Star Trek"], gaps[name]["Titanic"]
        word = "closer to" if near < far else "further from"
        rate = satisfied_rate(model.components_.T, triplets)
        error = rmse(bunch.data, model.embedding_, model.components_)
        findings.append(
            f"{name}: Star Wars is {word} Star Trek ({near:.2f}) than Titanic ({far:.2f}); "
            f"{rate:.0%} of {len(triplets)} comparisons hold, RMSE {error:.2f}."
        )
    text = (
        "Illustrative data: the paper's ratings are not published. These have the property that "
        "its caption states: plain NMF puts Star Wars closer to Titanic than to Star Trek. "
        "Both factorisations are the library's own (cd)."
    )
    return Section("movie-example", EXPERIMENT.title, text, tables, findings=findings)


EXPERIMENT = Experiment(
    "movie-example",
    "Figure 1: a small recommender",
    lambda quick: [],
    lambda settings: {},
    section,
)
