"""A first job: what comparisons change, on data that need no download.

1. The paper's movie example (its Figure 1), with illustrative ratings.
2. scikit-learn's handwritten digits, with comparisons made from some of the labels.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from rprnmf import NMF, RPRNMF
from rprnmf.datasets import load_movie_example
from rprnmf.metrics import clustering_accuracy, normalized_mutual_info, rmse, satisfied_rate
from rprnmf.triplets import triplets_from_labels


def movie_example() -> None:
    bunch = load_movie_example()
    number = {name: place for place, name in enumerate(bunch.movies)}
    triplets = [[number[name] for name in triplet] for triplet in bunch.column_triplets]
    settings = {"n_components": 2, "missing": "zero", "max_iter": 500, "random_state": 0}
    plain = NMF(**settings).fit(bunch.data)
    guided = RPRNMF(**settings).fit(bunch.data, column_triplets=triplets)

    print("1. Films (illustrative ratings, 0 = not rated)\n")
    print(" " * 8 + "".join(f"{name:>14}" for name in bunch.movies))
    for user, row in zip(bunch.users, bunch.data, strict=True):
        print(f"{user:8}" + "".join(f"{rating:14.0f}" for rating in row))
    print("\n   Distance from Star Wars to" + f"{'NMF':>16}{'RPRNMF':>10}")
    for name in ("Star Trek", "Titanic"):
        distances = []
        for model in (plain, guided):
            films = model.components_.T / np.linalg.norm(model.components_.T, axis=1).mean()
            distances.append(np.linalg.norm(films[number["Star Wars"]] - films[number[name]]))
        print(f"   {name:26}{distances[0]:16.2f}{distances[1]:10.2f}")
    rates = [satisfied_rate(model.components_.T, triplets) for model in (plain, guided)]
    errors = [rmse(bunch.data, model.embedding_, model.components_) for model in (plain, guided)]
    print(f"   {'comparisons met':26}{rates[0]:16.0%}{rates[1]:10.0%}")
    print(f"   {'error on the ratings':26}{errors[0]:16.2f}{errors[1]:10.2f}\n")


def digits() -> None:
    X, y = load_digits(return_X_y=True)
    given = triplets_from_labels(y, 2000, random_state=0)
    unseen = triplets_from_labels(y, 5000, random_state=1)
    settings = {"n_components": 10, "max_iter": 100, "tol": 0, "random_state": 0}
    models = {
        "NMF": (NMF(**settings), {}),
        "RPRNMF, triplets": (
            RPRNMF(**settings),
            {"row_triplets": given},
        ),
        "RPRNMF, triplets and neighbours": (
            RPRNMF(row_graph="cosine", **settings),
            {"row_triplets": given},
        ),
    }
    print(f"2. Digits: {X.shape[0]} images, {given.n_triplets} comparisons made from labels\n")
    head = f"   {'':32}{'met':>7}{'unseen':>8}{'ACC':>7}{'NMI':>7}{'error':>8}{'seconds':>9}"
    print(head)
    for name, (model, arguments) in models.items():
        started = time.perf_counter()
        W = model.fit_transform(X, **arguments)
        seconds = time.perf_counter() - started
        found = KMeans(10, n_init=10, random_state=0).fit_predict(W)
        print(
            f"   {name:32}{satisfied_rate(W, given):7.1%}{satisfied_rate(W, unseen):8.1%}"
            f"{clustering_accuracy(y, found):7.2f}{normalized_mutual_info(y, found):7.2f}"
            f"{model.reconstruction_err_:8.0f}{seconds:9.1f}"
        )
    print(
        "\n   met: comparisons that hold in W; unseen: others from the same labels;"
        "\n   ACC, NMI: k-means on W against the labels; error: ||X - WH||."
    )


if __name__ == "__main__":
    movie_example()
    digits()
