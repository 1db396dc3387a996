"""Crowds that answered comparisons, and what is known of the things that they compared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from common import data_file

Draw = tuple[np.ndarray, np.ndarray, np.ndarray]  # X, known answers, unseen ones
COUNTS = (50, 300, 1000, 3000)  # of known answers
SEEDS = range(100, 105)  # no setting was chosen on these draws


def food(count: int, rng: np.random.Generator) -> Draw:
    """Ingredients of dishes; rows of one screen are not independent and stay together."""
    data = data_file("triplets_food100.npz")
    triplets, screen = data["triplets"].astype(np.int64), data["screen"]
    screens = rng.permutation(np.unique(screen))
    out = np.isin(screen, screens[: len(screens) // 5])
    known = triplets[~out][rng.permutation(int(np.sum(~out)))[:count]]
    return data["ingredients"].astype(float), known, triplets[out]


def materials(count: int, rng: np.random.Generator) -> Draw:
    """Block means of pictures; ties are left out."""
    data = data_file("triplets_materials100.npz")
    X = data["images_stpeters"].astype(float).reshape(100, 16, 4, 16, 4, 3).mean((2, 4))
    known, unseen = (
        data[f"{part}_triplets"][np.diff(data[f"{part}_votes"].astype(int), axis=1)[:, 0] != 0]
        for part in ("train", "test")
    )
    chosen = rng.permutation(len(known))[:count]
    return X.reshape(100, -1), known[chosen].astype(np.int64), unseen.astype(np.int64)


SETS: dict[str, Callable[[int, np.random.Generator], Draw]] = {"food": food, "materials": materials}


def made(count: int, rng: np.random.Generator) -> Draw:
    """100 rows of six topics; answers look at two of them, and some are wrong."""
    topics = rng.gamma(0.5, 1.0, (100, 6))
    X = topics @ (rng.random((6, 60)) < 0.3) + 0.1 * rng.random((100, 60))
    asked = np.array([rng.choice(100, 3, replace=False) for _ in range(count + 5000)])
    q, r, s = np.sqrt(topics[asked.T, :2])
    doubt = rng.logistic(scale=0.3, size=len(asked))
    other = np.sum((q - r) ** 2, axis=1) + doubt > np.sum((q - s) ** 2, axis=1)
    asked[other] = asked[other][:, [0, 2, 1]]
    return X, asked[:count], asked[count:]
