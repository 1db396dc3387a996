"""Made ratings: people of three groups, films of three genres."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd


class Made(NamedTuple):
    users: np.ndarray
    items: np.ndarray
    ratings: np.ndarray
    people: pd.DataFrame
    films: pd.DataFrame
    truth: np.ndarray  # before rounding, of every pair

    @property
    def known(self):
        return {"user_metadata": self.people, "item_metadata": self.films}


def made_ratings(n=80, m=60, share=0.35, seed=0):
    """Ratings 1 to 5 of some pairs; ids are "u0", "u1", ... and "i0", "i1", ..."""
    rng = np.random.default_rng(seed)
    genre, group = rng.integers(0, 3, m), rng.integers(0, 3, n)
    W = rng.gamma(4, 0.2, (n, 3)) + 1.5 * np.eye(3)[group]
    H = rng.gamma(4, 0.2, (m, 3)) + 1.5 * np.eye(3)[genre]
    truth = W @ H.T
    truth = 1 + 4 * (truth - truth.min()) / (truth.max() - truth.min())
    u, i = np.nonzero(rng.random((n, m)) < share)
    ratings = np.clip(np.round(truth[u, i] + 0.3 * rng.normal(size=len(u))), 1, 5)
    users, items = (
        np.array([f"{letter}{k}" for k in range(size)], dtype=object)
        for letter, size in (("u", n), ("i", m))
    )
    people = pd.DataFrame({"group": [f"g{k}" for k in group]}, index=users)
    films = pd.DataFrame({"genre": [f"t{k}" for k in genre]}, index=items)
    return Made(users[u], items[i], ratings, people, films, truth)


def rmse(found, truth):
    return float(np.sqrt(np.mean((found - truth) ** 2)))


def made_choices(n=90, m=60, seed=0):
    """Ratings of what people of three groups turned to: films of their genre, most of the time."""
    rng = np.random.default_rng(seed)
    genre, group = rng.integers(0, 3, m), rng.integers(0, 3, n)
    chance = np.where(genre[None, :] == group[:, None], 0.6, 0.06)
    u, i = np.nonzero(rng.random((n, m)) < chance)
    quality = rng.normal(size=m)
    ratings = np.clip(np.round(3 + 0.7 * quality[i] + 0.5 * rng.normal(size=len(u))), 1, 5)
    users, items = (
        np.array([f"{letter}{k}" for k in range(size)], dtype=object)
        for letter, size in (("u", n), ("i", m))
    )
    people = pd.DataFrame({"group": [f"g{k}" for k in group]}, index=users)
    films = pd.DataFrame({"genre": [f"t{k}" for k in genre]}, index=items)
    return Made(users[u], items[i], ratings, people, films, chance)
