"""Answers that teach, by way of a prior on their side, where X is a Dask array."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rprnmf
from rprnmf import RPRNMF
from rprnmf.triplets import next_queries
from tests.remote.matrices import CUTS, M, N, check_same, in_blocks, matrix

da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def one_after_the_other():
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


def answers(n_items: int, n_answers: int) -> np.ndarray:
    """Of someone who sees two things in every item, and errs now and then."""
    rng = np.random.default_rng(1)
    seen = rng.random((n_items, 2))
    drawn = np.array([rng.choice(n_items, 3, replace=False) for _ in range(n_answers)])
    q, r, s = seen[drawn.T]
    near, far = (np.sum((q - other) ** 2, axis=1) for other in (r, s))
    swap = (near > far) ^ (rng.random(n_answers) < 0.05)
    return np.where(swap[:, None], drawn[:, [0, 2, 1]], drawn)


def features(n_items: int) -> np.ndarray:
    return np.random.default_rng(2).random((n_items, 3))


def both(kind, cut, given, **settings):
    X, missing = matrix(kind)
    usual = {"n_components": 3, "missing": missing, "max_iter": 20, "tol": 0.0, "random_state": 0}
    usual |= {"row_prior": None, "column_prior": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = [
            RPRNMF(**{**usual, **settings}).fit(data, **given)
            for data in (X, in_blocks(X, CUTS[cut]))
        ]
    check_same(*models, apart=1e-7)  # 60 iterations and more come before those that are counted
    return models


def check_chances(one, two, side, n_items):
    """Chances of other questions, what to ask next, and what is met."""
    other = answers(n_items, 200)[100:]
    chances = [model.predict_triplets(other, side) for model in (one, two)]
    assert np.abs(chances[0] - chances[1]).max() < 1e-7
    assert one.score_triplets(other, side) == two.score_triplets(other, side)
    asked = [next_queries(model, 8, side=side, random_state=0).items for model in (one, two)]
    assert np.array_equal(*asked)


@pytest.mark.parametrize(
    ("kind", "loss", "solver"),
    [
        ("dense", "frobenius", "cd"),
        ("dense", "kullback-leibler", "cd"),
        ("nan", "frobenius", "cd"),
        ("nan", "frobenius", "mu"),
        ("zero", "kullback-leibler", "mu"),
    ],
)
def test_answers_about_rows(kind, loss, solver):
    given = {"row_triplets": answers(N, 40)}
    models = both(kind, "5", given, row_prior=features(N), beta_loss=loss, solver=solver)
    check_chances(*models, "row", N)


def test_answers_that_are_held_out():
    models = both("zero", "17", {"row_triplets": answers(N, 70)}, row_prior=features(N))
    check_chances(*models, "row", N)
    assert models[1].prior_[0].coefficients.shape == (3, 3)


def test_answers_about_columns():
    given = {"column_triplets": answers(M, 70)}
    models = both("sparse", "5", given, column_prior=features(M))
    check_chances(*models, "column", M)


def test_the_mean_row_and_both_sides():
    given = {"row_triplets": answers(N, 40), "column_triplets": answers(M, 30)}
    both("dense", "2", given, row_prior="mean", column_prior="mean")


def test_obeyed():
    given = {"row_triplets": answers(N, 30)}
    one, two = both("dense", "uneven", given, row_prior=features(N), row_strength="obey")
    assert two.row_satisfied_rate_ == one.row_satisfied_rate_


def test_saved(tmp_path):
    X, _ = matrix("dense")
    model = RPRNMF(3, row_prior=features(N), max_iter=5, tol=0, random_state=0)
    model.fit(in_blocks(X, CUTS["5"]), row_triplets=answers(N, 20))
    rprnmf.save(model, tmp_path / "model.rprnmf")
    again = rprnmf.load(tmp_path / "model.rprnmf")
    asked = [next_queries(each, 5, random_state=0).items for each in (model, again)]
    assert np.array_equal(*asked)
