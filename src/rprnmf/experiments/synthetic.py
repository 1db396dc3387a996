"""What the synthetic experiments share: one fit on a matrix that is made for it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

from rprnmf.datasets import make_chains
from rprnmf.experiments.algorithms import OWN, PAPER, PLAIN, recipe
from rprnmf.experiments.fits import Task, fit, measured, start
from rprnmf.experiments.harness.experiment import Settings, Values

ALGORITHMS = (*PAPER, PLAIN, OWN)
MEASURES = ("euclidean", "divergence")
SWEEPS, REPETITIONS = 500, 10
CASE = ("size", "K", "row_triplets", "column_triplets", "strength")


def jobs(cases: Iterable[tuple], repetitions: int, algorithms=ALGORITHMS) -> list[Settings]:
    """Every case with every algorithm and measure, repetition by repetition."""
    return [
        {
            **dict(zip(CASE, case, strict=True)),
            "repetition": repetition,
            "sweeps": SWEEPS,
            "algorithm": algorithm,
            "measure": measure,
            **recipe(algorithm),
        }
        for repetition in range(repetitions)
        for case, algorithm, measure in product(cases, algorithms, MEASURES)
    ]


def run(settings: Settings) -> Values:
    """One fit; data and start are the same for all algorithms, measures and strengths."""
    size, K = settings["size"], settings["K"]
    counts = settings["row_triplets"], settings["column_triplets"]
    rng = np.random.RandomState([size, K, *counts, settings["repetition"]])
    made = make_chains(
        *(size, size, K),
        n_row_triplets=counts[0],
        n_column_triplets=counts[1],
        random_state=rng,
    )
    task = Task(
        made.data,
        *start(rng, made.data.shape, K),
        made.row_triplets,
        made.column_triplets,
        strength=settings["strength"],
        sweeps=settings["sweeps"],
    )
    measure = settings["measure"]
    return measured(fit(settings["algorithm"], measure, task), measure, task)


def cost(settings: Settings) -> float:
    """About how many seconds a fit takes."""
    size, K = settings["size"], settings["K"]
    divergence = settings["measure"] == "divergence"
    entries = size * size * K * settings["sweeps"] * 1.2e-9 * (1 + divergence)
    seconds = settings["sweeps"] * K * 2e-5 + entries
    return seconds if settings["algorithm"] in PAPER else seconds * (1.1 if divergence else 0.25)
