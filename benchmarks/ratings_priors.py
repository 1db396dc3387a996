"""Ratings with default settings, and with what is known about people and films.

MovieLens 1M and 100K, a fifth of the ratings held out: RMSE, the range of predictions, and the
RMSE of films with few ratings. Writes `results/ratings_priors.csv` and `.md`.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import MissingError, start_process
from report import Report

from rprnmf import NMF
from rprnmf.datasets import fetch_movielens_1m, fetch_movielens_100k

SEEDS = range(100, 102)
COLD = 5


def split(X: sp.csr_array, seed: int) -> tuple[sp.csr_array, sp.coo_array]:
    """Four fifths of the ratings, and the others."""
    X = sp.coo_array(X)
    out = np.random.default_rng(seed).random(X.nnz) < 0.2
    parts = (
        sp.coo_array((X.data[part], tuple(index[part] for index in X.coords)), shape=X.shape)
        for part in (~out, out)
    )
    train, test = parts
    return sp.csr_array(train), test


def measured(model: NMF, X: sp.csr_array, seed: int) -> dict[str, float]:
    """One fit."""
    train, test = split(X, seed)
    started = time.perf_counter()
    model.fit(train)
    seconds = time.perf_counter() - started
    rows, columns = test.coords
    found = np.einsum("ik,ik->i", model.embedding_[rows], model.components_.T[columns])
    square = (found - test.data) ** 2
    cold = np.diff(train.tocsc().indptr)[columns] <= COLD
    return {
        "RMSE": float(np.sqrt(square.mean())),
        "films with at most 5 ratings": float(np.sqrt(square[cold].mean())),
        "lowest": float(found.min()),
        "highest": float(found.max()),
        "seconds": seconds,
    }


def tables(bunch: Any) -> tuple[Any, Any]:
    """What is known of people and films."""
    import pandas as pd

    people = pd.DataFrame({"gender": bunch.gender, "job": bunch.occupation})
    age = pd.Series(bunch.age)
    people["age"] = age if age.nunique() > 10 else age.astype(str)  # codes of seven classes
    title = pd.Series(bunch.titles)
    films = pd.DataFrame({"genres": ["|".join(one) for one in map(labels, bunch.genres)]})
    films["year"] = title.str.extract(r"\((\d{4})\)")[0].astype(float)
    films["words"] = title.str.lower().str.findall(r"[a-z]{3,}")
    return people.assign(job=people["job"].astype(str)), films


def labels(genres: Any) -> list[str]:
    """The genres of a film."""
    return genres.split("|") if isinstance(genres, str) else list(genres)


def main() -> None:
    quick, folder = start_process("ratings_priors")
    seeds = SEEDS[:1] if quick else SEEDS
    text = (
        f"missing='zero', a fifth of the ratings held out, means over {len(seeds)} splits "
        "(lowest, highest: of all splits). How the pull grows with entries, and how much stronger "
        "it is than short fits ask for, was chosen on MovieLens 1M, split 100 among others. "
        "nothing: row_prior=None; default: NMF(K, missing='zero'); tables: gender, age and job, "
        "genres, year and words of the title; rated: which films were rated ('data'). One thread."
    )
    report = Report(folder, "ratings_priors", "Ratings and what is known beside them", text)
    fetchers = {"MovieLens 100K": fetch_movielens_100k, "MovieLens 1M": fetch_movielens_1m}
    for name, fetch in list(fetchers.items())[: 1 if quick else 2]:
        try:
            bunch = fetch()
        except Exception as error:
            raise MissingError(f"{name}: {error}") from error
        people, films = tables(bunch)
        settings = {
            "nothing": {"row_prior": None, "column_prior": None},
            "default": {},
            "tables": {"row_prior": people, "column_prior": films},
            "tables, rated": {"row_prior": [people, "data"], "column_prior": [films, "data"]},
        }
        for K in (20,) if quick else (10, 20, 50):
            for what, prior in settings.items():
                if K != 20 and what != "default":
                    continue
                model = NMF(K, missing="zero", random_state=0, **prior)
                found = [measured(model, bunch.data, seed) for seed in seeds]
                row = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
                row["lowest"] = min(one["lowest"] for one in found)
                row["highest"] = max(one["highest"] for one in found)
                row["RMSE"] = f"{row['RMSE']:.4f}"  # type: ignore[assignment]
                report.add(data=name, components=K, prior=what, **row)


if __name__ == "__main__":
    main()
