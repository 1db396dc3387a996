"""What the workers for incomplete matrices share; needs numpy and scipy only.

A worker has `fit(train, n, **setting)`: train is a COO matrix, n the number of
iterations; it prepares the data as its program needs it, fits, and returns a function that
predicts (rows, columns). `follow` looks for the smallest n that reaches an RMSE on held-out
ratings, `timed` times one whole fit.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Fold(NamedTuple):
    """Training ratings and held-out ratings."""

    train: sp.coo_matrix
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    def rmse(self, predict: Callable) -> float:
        """Of predictions clipped to [1, 5]."""
        guess = np.clip(np.asarray(predict(self.rows, self.columns), dtype=float), 1, 5)
        return float(np.sqrt(np.mean((guess - self.values) ** 2)))


def inner(W: np.ndarray, V: np.ndarray) -> Callable:
    """Predictions of a factorisation with factors W and V, one row an object."""
    return lambda rows, columns: np.einsum("ik,ik->i", W[rows], V[columns])


def timed(fit: Callable, fold: Fold, n: int, setting: dict) -> dict[str, Any]:
    """Wall seconds and RMSE of one whole fit."""
    started = time.perf_counter()
    predict = fit(fold.train, n, **setting)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "values": fold.rmse(predict)}


def follow(
    fit: Callable,
    fold: Fold,
    goal: float,
    counts: Iterable[int],
    budget: float,
    stop: bool,
    setting: dict,
) -> dict[str, Any]:
    """Whole fits of more and more iterations, until the counts or the budget are spent.

    With `stop` only until the goal is reached.
    `n` is the smallest number of iterations that reaches the goal, 0 if none does.
    """
    tried, seconds, values, n = [0], [], [], 0
    for count in counts:
        done = timed(fit, fold, count, setting)
        seconds.append(done["seconds"])
        values.append(done["values"])
        if values[-1] <= goal and not n:
            low, n = tried[-1], count
            while n - low > 1 and sum(seconds) < budget:
                middle = (low + n) // 2
                there = timed(fit, fold, middle, setting)["values"] <= goal
                low, n = (low, middle) if there else (middle, n)
        tried.append(count)
        if sum(seconds) > budget or (stop and n):
            break
    return {"counts": tried[1:], "seconds": seconds, "values": values, "n": n}


def main(fit: Callable, numbers: dict[str, type]) -> None:
    """Answer a call of `environments.run`; `numbers` are the settings and their types."""
    with np.load(sys.argv[1]) as data:
        given = {name: data[name] for name in data.files}
    shape = tuple(int(size) for size in given["shape"])
    entries = given["values"].astype(float), (given["rows"], given["columns"])
    train = sp.coo_matrix(entries, shape=shape)
    fold = Fold(train, given["test_rows"], given["test_columns"], given["test_values"])
    setting = {name: kind(given[name]) for name, kind in numbers.items()}
    output = os.dup(1)
    os.dup2(2, 1)  # what a program prints goes to the error stream
    small = sp.coo_matrix(train.tocsr()[:200])
    fit(small, 1, **setting)  # warm-up
    if given["task"] == "follow":
        search = float(given["goal"]), given["counts"].tolist(), float(given["budget"])
        answer = follow(fit, fold, *search, bool(given["stop"]), setting)
    else:
        answer = timed(fit, fold, int(given["n"]), setting)
    os.dup2(output, 1)
    np.savez(sys.argv[2], **answer)
