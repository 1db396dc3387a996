"""No overflow, no NaN: huge and tiny entries, empty lines, zeros, enormous strengths."""

from __future__ import annotations

import numpy as np
import pytest

from rprnmf import GNMF, LCNMF, NMF, RPRNMF
from rprnmf.penalties import DISTANCES, PENALTIES
from rprnmf.solvers import SOLVERS
from tests.builders import LAYOUTS, ROW_LOSSES, lay_out, random_graph, random_triplets

pytestmark = pytest.mark.filterwarnings("ignore:solver='paper' stopped")
N, M = 14, 12


def hard_problem(size, layout, dtype=np.float64):
    """Empty and zero rows and columns, some entries a million times the others."""
    rng = np.random.default_rng(0)
    X = rng.random((N, M)) * 10.0 ** rng.uniform(-3, 3, size=(N, M))
    X[rng.random((N, M)) < 0.3] = 0.0
    X[2] = 0.0
    X[:, 5] = 0.0
    mask = rng.random((N, M)) < 0.6
    mask[7] = False
    mask[:, 1] = False
    return lay_out((size * X).astype(dtype), mask, layout)


def assert_sound(model, X):
    for factor in (model.embedding_, model.components_, model.transform(X)):
        assert np.isfinite(factor).all()
        assert (factor >= 0).all()
    assert np.isfinite(model.history_["objective"]).all()
    assert np.isfinite(model.reconstruction_err_)


@pytest.mark.parametrize("strength", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("beta_loss", ROW_LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_rprnmf(solver, beta_loss, layout, size, strength):
    rng = np.random.default_rng(1)
    knowledge = {
        "row_triplets": random_triplets(rng, N, 30),
        "column_triplets": random_triplets(rng, M, 30),
    }
    X, missing = hard_problem(size, layout)
    model = RPRNMF(3, solver=solver, beta_loss=beta_loss, missing=missing, max_iter=25, tol=0.0)
    model.set_params(row_strength=strength, column_strength=strength, random_state=0)
    assert_sound(model.fit(X, **knowledge), X)


@pytest.mark.parametrize("size", [1e-6, 1e6])
@pytest.mark.parametrize("beta_loss", ROW_LOSSES)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_every_penalty_and_distance(penalty, distance, beta_loss, size):
    triplets = random_triplets(np.random.default_rng(2), N, 30)
    X, missing = hard_problem(size, "nan")
    model = RPRNMF(3, penalty=penalty, distance=distance, beta_loss=beta_loss, missing=missing)
    model.set_params(row_strength=1e6, max_iter=25, tol=0.0, random_state=0)
    assert_sound(model.fit(X, row_triplets=triplets), X)


@pytest.mark.parametrize("size", [1e-6, 1e6])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("beta_loss", ROW_LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_other_estimators(solver, beta_loss, layout, size):
    rng = np.random.default_rng(3)
    X, missing = hard_problem(size, layout)
    settings = {"n_components": 3, "solver": solver, "beta_loss": beta_loss, "missing": missing}
    settings |= {"max_iter": 25, "tol": 0.0, "random_state": 0}
    assert_sound(NMF(**settings).fit(X), X)
    assert_sound(LCNMF(**settings).fit(X, y=rng.integers(-1, 3, size=N)), X)
    for strength in (1e-6, 1e6):
        graphs = {"row_graph": random_graph(rng, N), "column_graph": random_graph(rng, M)}
        strengths = {"row_strength": strength, "column_strength": strength}
        assert_sound(GNMF(**graphs, **strengths, **settings).fit(X), X)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("beta_loss", ROW_LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_single_precision(solver, beta_loss, layout):
    triplets = random_triplets(np.random.default_rng(4), N, 30)
    for size in (1e-6, 1e6):
        X, missing = hard_problem(size, layout, np.float32)
        model = RPRNMF(3, solver=solver, beta_loss=beta_loss, missing=missing, random_state=0)
        model.set_params(row_strength=1e6, max_iter=25, tol=0.0)
        assert_sound(model.fit(X, row_triplets=triplets), X)


@pytest.mark.filterwarnings("ignore:The factors are all but zero")
@pytest.mark.parametrize("beta_loss", ROW_LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_degenerate_matrices(solver, beta_loss):
    settings = {"solver": solver, "beta_loss": beta_loss, "max_iter": 10, "tol": 0.0}
    triplets = [[0, 1, 2], [1, 2, 3]]
    for X in (np.zeros((5, 4)), np.full((5, 4), 3.0), np.eye(5, 4), 1e-70 * np.ones((5, 4))):
        model = RPRNMF(2, random_state=0, init="random", **settings)
        assert_sound(model.fit(X, row_triplets=triplets, column_triplets=triplets), X)
    wide = RPRNMF(7, random_state=0, **settings).fit(np.eye(5, 4) + 1, row_triplets=triplets)
    assert_sound(wide, np.eye(5, 4) + 1)
    assert_sound(RPRNMF(1, **settings).fit([[2.0]]), [[2.0]])


SIZES = {
    np.float64: (-318, -300, -160, -150, -100, -80, -75, -50, 50, 75, 78, 100, 150, 155, 160, 300),
    np.float32: (-44, -38, -35, -30, -20, -17, -10, -8, 8, 10, 16, 17, 20, 30, 36),
}
LOW_RANK = np.random.default_rng(5).random((20, 4)) @ np.random.default_rng(6).random((4, 15))


@pytest.mark.parametrize("known", [{}, {"row_triplets": [[0, 1, 2], [3, 4, 5]]}], ids=len)
@pytest.mark.parametrize("dtype", SIZES)
@pytest.mark.parametrize(
    ("solver", "beta_loss"),
    [(solver, loss) for solver in ("cd", "mu") for loss in ROW_LOSSES]
    + [("mu", beta) for beta in (-2.0, 0, 0.5, 3.0)],
)
def test_any_finite_size_is_fitted_as_well_as_any_other_or_refused(solver, beta_loss, dtype, known):
    settings = {"beta_loss": beta_loss, "init": "random", "max_iter": 25, "tol": 0.0}
    model = RPRNMF(4, solver=solver, random_state=0, **settings)
    usual = model.fit(LOW_RANK.astype(dtype), **known)
    expected = usual.inverse_transform(usual.embedding_)
    n_fitted = 0
    for exponent in SIZES[dtype]:
        X = (LOW_RANK * 10.0**exponent).astype(dtype)
        before = dict(vars(model))
        try:
            model.fit(X, **known)
        except ValueError as error:
            assert "the largest entry of X is" in str(error)  # noqa: PT017
            assert "Divide X by" in str(error)  # noqa: PT017
            assert vars(model) == before
            continue
        n_fitted += 1
        assert_sound(model, X)
        W = model.embedding_.astype(np.float64) / 10.0**exponent
        np.testing.assert_allclose(W @ model.components_, expected, atol=0.05, rtol=0.05)
    assert n_fitted >= 2


@pytest.mark.parametrize("size", [1e200, 1e155])
def test_new_rows_of_any_size_are_placed_or_refused(size):
    model = NMF(3, random_state=0, max_iter=20, tol=0.0).fit(LOW_RANK)
    with pytest.raises(ValueError, match="Divide X by"):
        model.transform(size * LOW_RANK)
    assert (model.transform(1e-200 * LOW_RANK) < 1e-199).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_papers_program_says_so_when_it_leaves_the_range():
    X = (1e30 * LOW_RANK).astype(np.float32)
    model = NMF(3, solver="paper", beta_loss="kullback-leibler", max_iter=20, random_state=0)
    with pytest.raises(ValueError, match=r"solver 'paper' left the range of float32.*Divide X by"):
        model.fit(X)


@pytest.mark.parametrize("exponent", [-170, 160])
@pytest.mark.parametrize("asked", [{"column_graph": "knn"}, {"row_prior": "mean"}], ids=str)
def test_what_squares_cannot_hold_is_refused_before_it_is_squared(asked, exponent):
    model = RPRNMF(4, beta_loss="kullback-leibler", random_state=0, **asked)
    with pytest.raises(ValueError, match=r"the largest entry of X is .* its power"):
        model.fit(LOW_RANK * 10.0**exponent)
