"""What the workers share; needs numpy and scipy only.

A worker for complete matrices has `fit(X, W, H, n)`: n iterations from a start, the new W and
H. From it come `trace` (how the objective falls, and how many iterations reach a target) and
`timed` (the wall seconds of one fit of so many iterations). `main` reads an .npz file with the
inputs and writes one with the outputs: python WORKER.py INPUTS OUTPUTS.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

Fit = Callable[[Any, np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]]


def objective(X: Any, W: np.ndarray, H: np.ndarray) -> float:
    """0.5 ||X - W H||^2 in float64."""
    W, H = np.asarray(W, dtype=float), np.asarray(H, dtype=float)
    if not sp.issparse(X):
        return 0.5 * float(np.sum((X - W @ H) ** 2))
    match = float(np.sum(W * (X @ H.T)))
    return 0.5 * (float(np.sum(X.data**2)) - 2 * match + float(np.sum((W.T @ W) * (H @ H.T))))


def count_to(fit: Fit, X, W, H, target: float, low: int, high: int) -> int:
    """The smallest number of iterations in (low, high] that ends at or below the target.

    `high` is known, or believed, to do so; W and H are where `low` iterations ended.
    """
    start = low
    while high - low > 1:
        middle = (low + high) // 2
        reached = objective(X, *fit(X, W, H, middle - start)) <= target
        low, high = (low, middle) if reached else (middle, high)
    return high


def trace(fit: Fit, X, W0, H0, target: float, most: int, budget: float) -> dict[str, Any]:
    """Follow a program in portions of iterations until the target, `most`, or the budget.

    Returns seconds (of the fits alone) and value after each portion, and `n`, the number of
    iterations that reaches the target from the start in one fit, 0 if none does.
    """
    W, H, total, spent = W0, H0, 0, 0.0
    seconds, values = [0.0], [objective(X, W0, H0)]
    n = 0
    while total < most and spent < budget and not n:
        portion = min(max(1, total // 5), most - total)
        started = time.perf_counter()
        new_W, new_H = fit(X, W, H, portion)
        spent += time.perf_counter() - started
        seconds.append(spent)
        values.append(objective(X, new_W, new_H))
        if values[-1] <= target:
            n = count_to(fit, X, W, H, target, total, total + portion)
        W, H, total = new_W, new_H, total + portion
    while 0 < n <= most and objective(X, *fit(X, W0, H0, n)) > target:
        n += max(1, n // 20)  # a program with a memory: its portions are not one fit
    return {"seconds": seconds, "values": values, "n": n if n <= most else 0, "total": total}


def timed(fit: Fit, X, W0, H0, n: int) -> dict[str, Any]:
    """Wall seconds and final objective of one fit of n iterations, after a warm-up."""
    fit(X, W0, H0, 1)
    started = time.perf_counter()
    W, H = fit(X, W0, H0, n)
    return {"seconds": time.perf_counter() - started, "values": objective(X, W, H)}


def read() -> dict[str, Any]:
    """The inputs; a sparse matrix is put together again."""
    with np.load(sys.argv[1]) as data:
        inputs: dict[str, Any] = {name: data[name] for name in data.files}
    for name in [key.removesuffix("_indptr") for key in inputs if key.endswith("_indptr")]:
        parts = [inputs.pop(f"{name}_{part}") for part in ("data", "indices", "indptr")]
        inputs[name] = sp.csr_matrix(tuple(parts), shape=tuple(inputs.pop(f"{name}_shape")))
    for value in inputs.values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    return inputs


def main(fit: Fit) -> None:
    """Answer a call of `environments.run` with task="trace" or task="timed"."""
    given = read()
    X, W, H = given["X"], given["W"], given["H"]
    output = os.dup(1)
    os.dup2(2, 1)  # what a program prints goes to the error stream
    if given["task"] == "trace":
        fit(X, W, H, 1)  # warm-up
        limits = float(given["target"]), int(given["most"]), float(given["budget"])
        answer = trace(fit, X, W, H, *limits)
    else:
        answer = timed(fit, X, W, H, int(given["n"]))
    os.dup2(output, 1)
    np.savez(sys.argv[2], **answer)
