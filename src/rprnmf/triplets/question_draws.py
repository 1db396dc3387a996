"""Questions at random: which there are, each once, none that is known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from rprnmf.triplets.pairs import distinct
from rprnmf.triplets.triplets import as_triplets

ENOUGH = 5000  # questions that are drawn at least, so that few items run out of them
SPARE = 4  # times as many are drawn as are wanted: some were asked, some are drawn twice


class Wish(NamedTuple):
    """How many questions are wanted, how many to weigh for them, and which come in question."""

    wanted: int
    size: int
    items: Any
    candidates: Any


def questions(n: int, wish: Wish, known: np.ndarray, random_state: Any) -> np.ndarray:
    """Questions to weigh: at random, each once, none that is known."""
    rng = check_random_state(random_state)
    items = wish.items
    if wish.candidates is not None:
        drawn = as_triplets(wish.candidates).positions(n).items
        if items is not None:
            drawn = drawn[np.isin(drawn, np.asarray(items)).all(axis=1)]
        drawn = drawn[rng.permutation(len(drawn))]
    else:
        pool = np.arange(n) if items is None else np.unique(np.asarray(items))
        if len(pool) and not 0 <= pool[0] <= pool[-1] < n:
            raise ValueError(
                f"items must be positions from 0 to {n - 1}, got {pool[0]} to {pool[-1]}."
            )
        if len(pool) < 3:
            raise ValueError(f"a question needs three items, got {len(pool)}.")
        enough = max(wish.size, SPARE * wish.wanted, ENOUGH)
        drawn = _draw_or_list(pool, enough, len(known), rng)
    return drawn[_first(drawn, known)][: wish.size]


def _draw_or_list(pool: np.ndarray, size: int, n_asked: int, rng: Any) -> np.ndarray:
    """Questions at random; all there are, each once, if that is not many more."""
    n = len(pool)
    if n * (n - 1) * (n - 2) // 2 > 2 * (size + n_asked):
        return _draw(pool, size, rng)
    r, s = np.triu_indices(n - 1, 1)
    q = np.repeat(np.arange(n), len(r))
    r, s = np.tile(r, n), np.tile(s, n)
    questions = np.column_stack((q, r + (r >= q), s + (s >= q)))
    return pool[rng.permutation(questions)]


def _draw(pool: np.ndarray, size: int, rng: Any) -> np.ndarray:
    """Questions at random; some may come twice."""
    n = len(pool)
    q, r, s = (rng.randint(0, n - less, size) for less in (0, 1, 2))
    r += r >= q
    low, high = np.minimum(q, r), np.maximum(q, r)
    s += s >= low
    s += s >= high
    return pool[np.column_stack((q, r, s))]


def _first(drawn: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The numbers of questions that were not asked, each once, whichever way round."""
    q, r, s = np.concatenate((known, drawn)).T
    first, _ = distinct(q, np.minimum(r, s), np.maximum(r, s))
    return np.sort(first[first >= len(known)]) - len(known)
