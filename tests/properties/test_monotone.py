"""The recorded objective never rises with `mu`, whatever is asked of it."""

from __future__ import annotations

import numpy as np
import pytest

from rprnmf import RPRNMF
from rprnmf.losses import LOSSES
from rprnmf.penalties import DISTANCES, PENALTIES
from tests.builders import LAYOUTS, lay_out, random_mask, random_matrix, random_triplets

COMBINATIONS = 200


def draw(seed):
    """One random combination of everything that the objective can hold."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(8, 30, size=2)
    X = random_matrix(rng, n, m, size=10.0 ** rng.uniform(-3, 3))
    data, missing = lay_out(X, random_mask(rng, n, m), rng.choice(LAYOUTS))
    sides = rng.choice(["rows", "columns", "both"])
    knowledge = {}
    if sides != "columns":
        knowledge["row_triplets"] = random_triplets(rng, n, rng.integers(1, 3 * n))
    if sides != "rows":
        knowledge["column_triplets"] = random_triplets(rng, m, rng.integers(1, 3 * m))
    model = RPRNMF(
        n_components=int(rng.integers(1, 7)),
        beta_loss=rng.choice(sorted(LOSSES)),
        penalty=rng.choice(sorted(PENALTIES)),
        distance=rng.choice(sorted(DISTANCES)),
        margin=10.0 ** rng.uniform(-2, 1),
        row_strength=10.0 ** rng.uniform(-3, 3),
        column_strength=10.0 ** rng.uniform(-3, 3),
        row_graph="knn" if rng.random() < 0.2 else None,
        column_graph="knn" if rng.random() < 0.2 else None,
        graph_strength=10.0 ** rng.uniform(-3, 3),
        n_neighbors=3,
        alpha_W=10.0 ** rng.uniform(-3, 0) if rng.random() < 0.2 else 0.0,
        l1_ratio=rng.uniform(),
        solver="mu",
        missing=missing,
        init="random",
        random_state=int(seed),
        max_iter=40,
        tol=0.0,
    )
    return model, data, knowledge


@pytest.mark.parametrize("seed", range(COMBINATIONS))
def test_the_objective_never_rises(seed):
    model, data, knowledge = draw(seed)
    model.fit(data, **knowledge)
    objective = model.history_["objective"]
    assert np.isfinite(objective).all()
    assert (np.diff(objective) <= 0).all()
    assert objective[-1] < objective[0]
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.components_).all()
