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
