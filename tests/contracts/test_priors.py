"""Priors from features: the term, its steps, what they teach, and what new rows get."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from rprnmf import GNMF, LCNMF, NMF, RPRNMF
from rprnmf.objective import Objective, Problem, Side
from rprnmf.observed import make_view
from rprnmf.priors import Prior, make_features
from rprnmf.priors.kernel import EXACT, KernelFeatures
from rprnmf.solvers import SOLVERS, Settings

LOSSES = ["frobenius", "kullback-leibler"]
K = 4


def slow_prior(F, phi, c, ridge):
    """The same by one least-squares problem with the intercept as a column of its own."""
    n, r = phi.shape
    A = np.column_stack((phi, np.ones(n))) * np.sqrt(c)[:, None]
    A = np.vstack((A, np.column_stack((np.sqrt(ridge) * np.eye(r), np.zeros(r)))))
    y = np.vstack((F * np.sqrt(c)[:, None], np.zeros((r, F.shape[1]))))
    return float(np.sum((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2))


@pytest.fixture
def drawn():
    rng = np.random.default_rng(0)
    return rng.random((9, K)), rng.normal(size=(9, 3)), 0.5 + rng.random(9)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_the_value_is_that_of_the_best_regression(drawn, layout):
    F, phi, c = drawn
    assert Prior(layout(phi), c, 0.7).value(F) == pytest.approx(slow_prior(F, phi, c, 0.7))


def test_without_features_rows_are_pulled_to_their_mean(drawn):
    F, phi, c = drawn
    prior = Prior(phi[:, :0], c, 1.0)
    assert np.allclose(prior.means(F), np.average(F, axis=0, weights=c))


def test_split_and_gain_are_derivatives(drawn):
    F, phi, c = drawn
    prior = Prior(phi, c, 0.7)
    parts = prior.split(F)
    assert parts.positive.min() >= 0
    assert parts.negative.min() >= 0
    for i, k in np.ndindex(F.shape):
        step = np.zeros_like(F)
        step[i, k] = 1e-5
        slope = (prior.value(F + step) - prior.value(F - step)) / 2e-5
        assert parts.gradient[i, k] == pytest.approx(slope, abs=1e-6)
    for k in range(K):
        larger, smaller = F.copy(), F.copy()
        larger[:, k] *= np.exp(1e-5)
        smaller[:, k] *= np.exp(-1e-5)
        slope = (prior.value(larger) - prior.value(smaller)) / 2e-5
        assert prior.gain(F)[k] == pytest.approx(slope, abs=1e-6)


def incomplete(X, layout, rng):
    X = X.copy()
    if layout == "few holes":
        X[rng.random(X.shape) < 0.05] = np.nan
        X[3] = np.nan
    if layout == "many holes":
        X[rng.random(X.shape) < 0.7] = np.nan
    return make_view(X, None if layout == "full" else "nan", 1)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("layout", ["full", "few holes", "many holes"])
@pytest.mark.parametrize("beta_loss", LOSSES)
@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_the_objective_falls_and_is_what_is_recorded(solver, beta_loss, layout, both, tied):
    rng = np.random.default_rng(1)
    n, m = 30, 20
    view = incomplete(rng.random((n, 3)) @ rng.random((3, m)) + 0.1, layout, rng)
    phi, c = rng.normal(size=(n, 3)), 0.5 + rng.random(n)
    groups = np.arange(n) // 2 if tied else None
    columns = Side(prior=Prior(rng.normal(size=(m, 2)), np.ones(m), 2.0)) if both else Side()
    rows = Side(prior=Prior(phi, c, 2.0), groups=groups)
    problem = Problem(view, beta_loss, rows=rows, columns=columns)
    start = [rng.random((n, K)) + 0.1, rng.random((m, K)) + 0.1]
    result = SOLVERS[solver].solve(problem, start, Settings(40, 0.0))
    history = result.history_array()
    assert (np.diff(history["objective"]) <= 1e-12 * history["objective"][:-1]).all()
    assert history["row_penalty"][-1] == pytest.approx(slow_prior(result.W, phi, c, 2.0))
    values = Objective(problem, K).values(result.W, result.Ht)
    assert history["loss"][-1] == pytest.approx(values.loss, rel=1e-9)
    assert history["objective"][-1] == pytest.approx(values.objective, rel=1e-9)


def test_a_row_without_data_is_what_its_features_say():
    rng = np.random.default_rng(0)
    phi = rng.random((200, 2))
    X = (phi @ rng.random((2, 60)) + 0.2) @ np.eye(60)
    held = X[7].copy()
    X[7] = np.nan
    model = NMF(3, missing="nan", row_prior=phi, column_prior="mean", random_state=0)
    model.set_params(tol=0, max_iter=300).fit(X)
    rows = model.prior_[0]
    assert np.allclose(model.embedding_[7], np.maximum(rows.means[7], 0), rtol=1e-2)
    near = np.abs(model.embedding_[7] @ model.components_ - held).mean()
    flat = np.abs(np.nanmean(X, axis=0) - held).mean()
    assert near < 0.5 * flat
    new = model.transform(np.full((1, 60), np.nan), row_features=phi[7:8])
    assert np.allclose(new, np.maximum(rows.means[7], 0), atol=1e-9)


@pytest.mark.parametrize("kind", [NMF, GNMF, LCNMF, RPRNMF])
@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_every_estimator_takes_priors_on_both_sides(kind, solver):
    X = np.random.default_rng(0).random((12, 8))
    model = kind(3, row_prior="data", column_prior="mean", solver=solver, max_iter=30, tol=0)
    model.set_params(random_state=0).fit(X)
    rows, columns = model.prior_
    assert rows.means.shape == (12, 3)
    assert columns.coefficients.shape == (0, 3)
    assert np.isfinite(model.transform(X)).all()


def test_the_program_of_the_paper_has_none():
    with pytest.raises(ValueError, match="solver='paper' has no priors"):
        NMF(2, solver="paper", row_prior="mean").fit(np.ones((4, 3)))


def test_features_of_a_frame():
    frame = pd.DataFrame(
        {
            "year": [1990.0, 2000.0, np.nan],
            "genres": ["Comedy|Drama", "Drama", None],
            "tags": [["a"], ["a", "b"], []],
        }
    )
    view = make_view(np.ones((3, 2)))
    found = make_features(frame, view, np.ones((3, 2)), "row")
    names = ["year", "genres=Comedy", "genres=Drama", "tags=a", "tags=b"]
    assert found.names == names
    phi = found.phi.toarray() * found.unit
    assert phi[:, 1:].tolist() == [[1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 0, 0]]
    assert phi[2, 0] == 0  # an unknown number is the mean
    with pytest.raises(ValueError, match="lack the column 'year'"):
        found.new(view, None, [frame.drop(columns="year")])


def test_features_must_fit_the_rows():
    with pytest.raises(ValueError, match="row_prior must have features for each of 5 rows, got 4"):
        NMF(2, row_prior=np.ones((4, 2))).fit(np.ones((5, 3)))
    model = NMF(2, row_prior=np.eye(5)[:, :2], max_iter=5, tol=0).fit(np.ones((5, 3)))
    with pytest.raises(ValueError, match="have 3 columns, but those of the fit had 2"):
        model.transform(np.ones((1, 3)), row_features=np.ones((1, 3)))


def test_landmarks_give_nearly_the_kernel():
    rng = np.random.default_rng(0)
    X = rng.random((EXACT + 200, 3)) @ rng.random((3, 12))
    phi = KernelFeatures(X)(X)
    assert phi.shape[1] <= 100
    assert np.mean(np.sum(phi**2, axis=1)) == pytest.approx(1.0)
    exact = KernelFeatures(X[:300])(X[:300])
    some = phi[:300] - phi[:300].mean(axis=0)
    alike, close = exact @ exact.T, some @ some.T
    assert np.corrcoef(alike.ravel(), close.ravel())[0, 1] > 0.98


def answers(count, seed, n=60, noise=0.05):
    """Comparisons by a hidden taste that depends on part of the data, some of them wrong."""
    rng = np.random.default_rng(seed)
    topics = rng.gamma(0.5, 1.0, (n, 6))
    X = topics @ (rng.random((6, 40)) < 0.3) + 0.1 * rng.random((n, 40))
    taste = np.sqrt(topics[:, :2])
    found = np.array([rng.choice(n, 3, replace=False) for _ in range(count + 1000)])
    q, r, s = taste[found.T]
    wrong = np.sum((q - r) ** 2, axis=1) > np.sum((q - s) ** 2, axis=1)
    wrong ^= rng.random(len(found)) < noise
    found[wrong] = found[wrong][:, [0, 2, 1]]
    return X, found[:count], found[count:]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("beta_loss", LOSSES)
def test_comparisons_teach_about_those_that_were_not_given(beta_loss):
    gained = []
    for seed in range(3):
        X, known, unseen = answers(400, seed)
        plain = RPRNMF(8, beta_loss=beta_loss, random_state=0, max_iter=200)
        taught = RPRNMF(8, beta_loss=beta_loss, random_state=0, max_iter=200)
        taught.set_params(row_prior="data").fit(X, row_triplets=known)
        plain.fit(X, row_triplets=known)
        gained.append(taught.score_triplets(unseen) - plain.score_triplets(unseen))
    assert np.mean(gained) > 0.05


def test_chances_are_those_of_unseen_answers():
    X, known, unseen = answers(800, 0)
    model = RPRNMF(8, row_prior="data", random_state=0, max_iter=400).fit(X, row_triplets=known)
    chance = model.predict_triplets(unseen)
    assert model.predict_triplets(unseen[:, [0, 2, 1]]) == pytest.approx(1 - chance)
    right = chance > 0.5
    assert np.mean(right) == model.score_triplets(unseen)
    assert np.maximum(chance, 1 - chance).mean() == pytest.approx(right.mean(), abs=0.05)
    with pytest.raises(ValueError, match="no column triplets"):
        model.predict_triplets([[0, 1, 2]], side="column")


def test_obey_meets_what_was_taught():
    X, known, unseen = answers(300, 1, noise=0.0)
    taught = RPRNMF(8, row_prior="data", random_state=0, tol=0, max_iter=200)
    met = clone(taught).set_params(row_strength="obey")
    taught.fit(X, row_triplets=known)
    met.fit(X, row_triplets=known)
    assert taught.row_satisfied_rate_ < 1.0
    assert met.row_satisfied_rate_ == 1.0
    assert met.score_triplets(unseen) > taught.score_triplets(unseen) - 0.05


def test_what_was_learned_does_not_depend_on_the_unit_of_the_data():
    X, known, _ = answers(200, 2)
    one, other = (
        RPRNMF(5, row_prior="data", random_state=0, tol=0, max_iter=60)
        .fit(unit * X, row_triplets=known)
        .embedding_
        / unit
        for unit in (1.0, 1000.0)
    )
    assert np.allclose(one, other, rtol=1e-6, atol=1e-6 * one.max())


def test_columns_learn_as_rows_do():
    X, known, unseen = answers(300, 3)
    by_rows = RPRNMF(5, row_prior="data", init="custom", tol=0, max_iter=60)
    by_columns = RPRNMF(5, column_prior="data", init="custom", tol=0, max_iter=60)
    rng = np.random.default_rng(0)
    W, H = rng.random((60, 5)), rng.random((5, 40))
    by_rows.fit(X, row_triplets=known, W=W, H=H)
    by_columns.fit(X.T, column_triplets=known, W=H.T, H=W.T)
    scores = by_rows.score_triplets(unseen), by_columns.score_triplets(unseen, side="column")
    assert scores[0] == pytest.approx(scores[1], abs=0.03)


def ratings(seed, n=80, m=60, fraction=0.3, noise=0.3):
    """Incomplete data of rank 3 with noise, whole numbers, and the entries that are not in it."""
    rng = np.random.default_rng(seed)
    true = rng.gamma(2.0, 0.5, (n, 3)) @ rng.gamma(2.0, 0.5, (3, m))
    values = np.round(true * np.exp(noise * rng.normal(size=true.shape))) + 1.0
    seen = rng.random(values.shape) < fraction
    return np.where(seen, values, np.nan), np.where(seen, np.nan, values)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("beta_loss", LOSSES)
def test_incomplete_data_are_regularised_unless_told_otherwise(beta_loss):
    errors = {"default": [], "none": []}
    for seed in range(3):
        X, unseen = ratings(seed)
        model = NMF(10, missing="nan", beta_loss=beta_loss, random_state=0)
        for key, priors in (("default", {}), ("none", {"row_prior": None, "column_prior": None})):
            Y = clone(model).set_params(**priors).fit(X)
            Y = Y.embedding_ @ Y.components_
            errors[key].append(np.nanmean((Y - unseen) ** 2))
    assert np.mean(errors["default"]) < 0.7 * np.mean(errors["none"])
    assert clone(model).set_params(alpha_W=0.1).fit(X).prior_ == (None, None)
    assert clone(model).set_params(missing=None).fit(np.nan_to_num(X)).prior_ == (None, None)


def test_exact_data_are_hardly_pulled():
    rng = np.random.default_rng(0)
    true = rng.random((60, 4)) @ rng.random((4, 50))
    X = np.where(rng.random(true.shape) < 0.5, true, np.nan)
    model = NMF(4, missing="nan", random_state=0, tol=0, max_iter=400).fit(X)
    assert np.abs(model.embedding_ @ model.components_ - true).max() < 0.05 * true.max()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_weight_of_a_prior_does_not_depend_on_order_or_unit():
    X, _ = ratings(5)
    rng = np.random.default_rng(0)
    W, H, order = rng.random((80, 4)), rng.random((4, 60)), rng.permutation(80)
    model = NMF(4, missing="nan", init="custom", max_iter=30)
    one = clone(model).fit(X, W=W, H=H)
    other = clone(model).fit(X[order], W=W[order], H=H)
    np.testing.assert_allclose(one.prior_[0].weights[order], other.prior_[0].weights, rtol=1e-6)
    np.testing.assert_allclose(one.embedding_[order], other.embedding_, rtol=1e-4, atol=1e-7)
    scaled = clone(model).fit(1000 * X, W=1000 * W, H=H)
    product = scaled.embedding_ @ scaled.components_ / 1000
    np.testing.assert_allclose(product, one.embedding_ @ one.components_, rtol=1e-4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_only_the_side_that_says_so_is_obeyed():
    X, known, _ = answers(200, 1)
    asked = np.array([[k, k + 1, k + 2] for k in range(30)])
    model = RPRNMF(5, row_prior="data", column_prior="data", random_state=0, row_strength=1e-4)
    model.set_params(column_strength="obey").fit(X, row_triplets=known, column_triplets=asked)
    assert model.history_["row_strength"][-1] == 1e-4
    assert model.column_satisfied_rate_ == 1.0
    assert model.row_satisfied_rate_ < 1.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_chances_are_those_of_the_start_that_was_kept():
    X, known, unseen = answers(200, 2)
    model = RPRNMF(5, row_prior="data", init="random", n_init=3, random_state=1, max_iter=40)
    model.fit(X, row_triplets=known)
    made = []
    rng = np.random.RandomState(1)
    for _ in range(3):
        one = clone(model).set_params(n_init=1, random_state=rng).fit(X, row_triplets=known)
        made.append(one)
    best = next(m for m in made if np.array_equal(m.embedding_, model.embedding_))
    assert np.array_equal(best.predict_triplets(unseen), model.predict_triplets(unseen))


@pytest.mark.parametrize("beta_loss", [0.5, "kullback-leibler", "frobenius"])
def test_new_rows_without_entries_are_the_mean_row(beta_loss):
    X, _ = ratings(3)
    X[4] = np.nan
    model = NMF(4, missing="nan", beta_loss=beta_loss, solver="mu", random_state=0, tol=0)
    model.set_params(max_iter=40).fit(X)
    np.testing.assert_allclose(model.transform(X)[4], model.prior_[0].means[4], rtol=1e-2)
