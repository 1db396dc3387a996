"""What `cd` does where a step by rows has raised the objective, and what each part of it is worth.

Strong penalties and uniform starts lead there. One problem shows little: two ways down may end in
different minima. So each part is taken away from a dozen problems or more, drawn by consecutive
seeds, and the objectives in the end are compared by their geometric mean.
"""

from __future__ import annotations

import numpy as np
import pytest

from rprnmf import RPRNMF
from rprnmf.datasets import make_chains
from rprnmf.solvers import coordinate_descent, dead_components
from rprnmf.solvers.coordinate_descent import CoordinateDescent
from rprnmf.solvers.multiplicative import HalfStep
from tests.builders import random_matrix, random_triplets

SEEDS = range(16)


def fit(seed, sides, penalty, strength, beta_loss="frobenius", max_iter=40):
    """One small problem from uniform factors of a size of their own; the objective in the end."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(15, 40, size=2)
    K = int(rng.integers(3, 8))
    X = random_matrix(rng, n, m) if seed % 2 else rng.random((n, K)) @ rng.random((K, m))
    known = {
        f"{side}_triplets": random_triplets(rng, size, 2 * size)
        for side, size in (("row", n), ("column", m))
        if sides in (side, "both")
    }
    sizes = 10.0 ** rng.uniform(-1, 1, size=2)
    start = {"W": sizes[0] * rng.random((n, K)), "H": sizes[1] * rng.random((K, m))}
    model = RPRNMF(K, init="custom", penalty=penalty, beta_loss=beta_loss, tol=0.0)
    model.set_params(row_strength=strength, column_strength=strength, max_iter=max_iter)
    objective = model.fit(X, **known, **start).history_["objective"]
    assert (np.diff(objective) <= 0).all()
    return objective[-1]


def ends(*problem, **options):
    return np.array([fit(seed, *problem, **options) for seed in SEEDS])


def assert_worse(without, usual, ratio):
    """In the mean by this ratio, and on most problems that end elsewhere at all."""
    assert np.exp(np.mean(np.log(without / usual))) > ratio
    assert np.sum(without > 1.01 * usual) > 2 * np.sum(without < 0.99 * usual)


def test_parts_of_a_step(monkeypatch):
    """Both sides carry: the end is higher where the whole step is tried only."""
    problem = {"beta_loss": "kullback-leibler", "max_iter": 80}
    usual = ends("both", "squared_hinge", 300.0, **problem)
    monkeypatch.setattr(coordinate_descent, "SHORTENINGS", 0)
    assert_worse(ends("both", "squared_hinge", 300.0, **problem), usual, 1.05)


@pytest.mark.parametrize(
    ("beta_loss", "strength"), [("frobenius", 10.0), ("kullback-leibler", 300.0)]
)
def test_the_multiplicative_step(monkeypatch, beta_loss, strength):
    problem = "both", "squared_hinge", strength, beta_loss
    usual = ends(*problem)
    monkeypatch.setattr(HalfStep, "__call__", lambda half_step, objective, point: point)
    assert_worse(ends(*problem), usual, 1.05)


@pytest.mark.parametrize("side", ["row", "column"])
def test_the_multiplier_that_keeps_the_sizes(monkeypatch, side):
    """One side carries: a step that moved sizes too far is taken again with sizes kept."""
    problem = side, "squared_hinge", 10.0, "kullback-leibler"
    usual = ends(*problem)
    rows = CoordinateDescent.row_step

    def rows_that_never_keep_sizes(solver, *arguments):
        stiff, solver.stiff = solver.stiff, {0: False, 1: False}
        found = rows(solver, *arguments)
        solver.stiff = stiff
        return found

    monkeypatch.setattr(CoordinateDescent, "row_step", rows_that_never_keep_sizes)
    assert_worse(ends(*problem), usual, 1.1)


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_a_direction_for_dead_components(monkeypatch, seed):
    made = make_chains(60, 60, 12, n_column_triplets=15, random_state=seed)
    rng = np.random.default_rng(seed)
    start = {"W": rng.random((60, 12)), "H": rng.random((12, 60))}
    model = RPRNMF(12, init="custom", max_iter=100, tol=0.0)

    def error_and_dead():
        model.fit(made.data, column_triplets=made.column_triplets, **start)
        return model.reconstruction_err_, np.sum(~model.components_.any(axis=1))

    error, dead = error_and_dead()
    monkeypatch.setattr(dead_components, "ATTEMPTS", 0)
    error_without, dead_without = error_and_dead()
    assert dead == 0
    assert dead_without > 0
    assert error < error_without
