"""Predictions of missing entries stay near the range of the observed ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf import NMF, RPRNMF
from rprnmf.estimators.prediction_range import BEYOND, draw


def ratings(seed=0, dtype=np.float64):
    """Ratings 1 to 5 whose users and items differ much in how many they have."""
    rng = np.random.default_rng(seed)
    n, m = 120, 80
    chance = np.outer(rng.random(n) ** 3, rng.random(m)) * 0.9
    seen = rng.random((n, m)) < chance
    value = 3 + 1.5 * rng.normal(size=(n, 2)) @ rng.normal(size=(2, m)) + rng.normal(size=(n, m))
    return sp.csr_array(np.where(seen, np.clip(np.round(value), 1, 5), 0).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("K", [2, 8])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_prediction_is_far_above_the_data(dtype, K):
    for seed in range(3):
        X = ratings(seed, dtype)
        model = NMF(K, missing="zero", random_state=0).fit(X)
        assert (model.embedding_ @ model.components_).max() <= BEYOND * 5
        new = model.transform(ratings(seed + 10, dtype)) @ model.components_
        assert new.max() <= BEYOND * 5


def test_only_rows_that_are_above_move():
    rng = np.random.default_rng(0)
    F, G = rng.random((40, 3)), rng.random((30, 3))
    F[7] *= 4
    before, most = F.copy(), 1.1 * np.delete(F @ G.T, 7, axis=0).max()
    draw(F, G, np.tile(F.mean(axis=0), (40, 1)), most)
    np.testing.assert_array_equal(np.delete(F, 7, axis=0), np.delete(before, 7, axis=0))
    assert 0.99 * most < (G @ F[7]).max() <= most
    # half way to a mean that is above itself there is no end: the row is made shorter
    F = before.copy()
    draw(F, G, 10 * before, most)
    assert 0.99 * most < (G @ F[7]).max() <= most


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_with_comparisons_are_left_alone():
    """A comparison that holds must not break after the fit."""
    X = ratings()
    truth = NMF(3, missing="zero", random_state=0).fit(X).embedding_
    rng = np.random.default_rng(0)
    q, r, s = rng.integers(0, len(truth), (3, 60))
    near, far = ((truth[q] - truth[o]) ** 2 for o in (r, s))
    keep = (near.sum(axis=1) < 0.5 * far.sum(axis=1)) & (q != r)
    triplets = np.stack([q, r, s], axis=1)[keep]
    model = RPRNMF(3, missing="zero", random_state=0).fit(X, row_triplets=triplets)
    assert model.row_satisfied_rate_ == 1
