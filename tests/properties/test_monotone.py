"""The objective never rises at the same strengths, whatever is asked of it."""

from __future__ import annotations

import numpy as np
import pytest

from rprnmf import RPRNMF
from rprnmf.penalties import DISTANCES, PENALTIES
from rprnmf.solvers.ramp import FARTHEST
from tests.builders import (
    LAYOUTS,
    ROW_LOSSES,
    lay_out,
    observed_mask,
    random_graph,
    random_mask,
    random_matrix,
    random_triplets,
)
from tests.oracles.objective import slow_objective

COMBINATIONS = 200


def draw(seed, solver):
    """One random combination of everything that the objective can hold."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(8, 24, size=2)
    X = random_matrix(rng, n, m, size=10.0 ** rng.uniform(-3, 3))
    mask, layout = random_mask(rng, n, m), rng.choice(LAYOUTS)
    data, missing = lay_out(X, mask, layout)
    sides = rng.choice(["rows", "columns", "both"])
    knowledge = {}
    if sides != "columns":
        knowledge["row_triplets"] = random_triplets(rng, n, rng.integers(1, 3 * n))
    if sides != "rows":
        knowledge["column_triplets"] = random_triplets(rng, m, rng.integers(1, 3 * m))
    graphs = [random_graph(rng, size) if rng.random() < 0.2 else None for size in (n, m)]
    model = RPRNMF(
        n_components=int(rng.integers(1, 7)),
        beta_loss=rng.choice(sorted(ROW_LOSSES)),
        penalty=rng.choice(sorted(PENALTIES)),
        distance=rng.choice(sorted(DISTANCES)),
        margin=10.0 ** rng.uniform(-2, 1),
        row_strength=10.0 ** rng.uniform(-3, 3),
        column_strength=10.0 ** rng.uniform(-3, 3),
        row_graph=graphs[0],
        column_graph=graphs[1],
        graph_strength=10.0 ** rng.uniform(-3, 3),
        alpha_W=10.0 ** rng.uniform(-3, 0) if rng.random() < 0.3 else 0.0,
        alpha_H=0.01 if rng.random() < 0.1 else "same",
        l1_ratio=rng.uniform(),
        alpha_power=rng.choice([1.0, 0.7]),
        row_prior=None,
        column_prior=None,
        solver=solver,
        missing=missing,
        init="random",
        random_state=int(seed),
        max_iter=25,
        tol=0.0,
    )
    return model, data, knowledge, X, observed_mask(mask, layout), graphs


@pytest.mark.filterwarnings("ignore:The factors are all but zero")
@pytest.mark.parametrize("seed", range(COMBINATIONS))
@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_the_objective_never_rises_and_is_what_it_says(solver, seed):
    model, data, knowledge, X, mask, graphs = draw(seed, solver)
    states = []
    model.set_params(callback=states.append).fit(data, **knowledge)
    objective = model.history_["objective"]
    assert np.isfinite(objective).all()
    assert (np.diff(objective) <= 0).all()
    assert objective[-1] < objective[0]
    assert (model.embedding_ >= 0).all()
    assert (model.components_ >= 0).all()
    strengths = model.row_strength, model.column_strength
    for state in (states[0], states[-1]):
        slow = slow_objective(model, X, mask, state.W, state.H, knowledge, graphs, strengths)
        assert state.objective == pytest.approx(slow, rel=1e-6)


@pytest.mark.filterwarnings("ignore:The factors are all but zero")
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_automatic_strengths_rise_only_and_the_objective_falls_between(solver, seed):
    model, data, knowledge, *_ = draw(seed, solver)
    model.set_params(row_strength="auto", column_strength="auto", max_iter=60)
    history = model.fit(data, **knowledge).history_
    steady = np.ones(len(history) - 1, dtype=bool)
    for side in ("row", "column"):
        if f"{side}_triplets" not in knowledge:
            continue
        name = f"{side}_strength"
        assert (np.diff(history[name]) >= 0).all()
        assert history[name].max() <= FARTHEST
        steady &= np.diff(history[name]) == 0
    assert (np.diff(history["objective"])[steady] <= 0).all()
