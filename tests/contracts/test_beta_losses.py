"""Losses that pose no row problem: `mu` serves them everywhere, the others refuse by name."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import decomposition

from rprnmf import GNMF, LCNMF, NMF, RPRNMF
from rprnmf.losses import get_loss
from rprnmf.observed import make_view
from tests.builders import LAYOUTS, lay_out, random_graph, random_mask, random_triplets

BETAS = (-1.0, "itakura-saito", 0.5, 1.5, 2.5)
N, M, K = 14, 11, 3
RNG = np.random.default_rng(0)
X = RNG.gamma(2.0, 1.0, (N, K)) @ RNG.gamma(0.5, 1.0, (K, M)) + 0.1 * RNG.random((N, M))
MASK = random_mask(RNG, N, M)
KNOWN = {
    "row_triplets": random_triplets(RNG, N, 8),
    "column_triplets": random_triplets(RNG, M, 8),
}
SETTINGS = {"solver": "mu", "max_iter": 60, "tol": 0.0, "random_state": 0}


@pytest.mark.parametrize("beta", [*BETAS, 1, 2, 1.0])
@pytest.mark.parametrize("alpha", [0.0, 0.01])
def test_mu_walks_as_scikit_learns_does(beta, alpha):
    rng = np.random.default_rng(1)
    W, H = rng.random((N, K)), rng.random((K, M))
    settings = {"beta_loss": beta, "init": "custom", "max_iter": 40, "alpha_W": alpha}
    settings |= {"l1_ratio": 1.0, "solver": "mu", "tol": 0.0}
    ours, theirs = NMF(K, **settings), decomposition.NMF(K, **settings)
    found = ours.fit_transform(X, W=W.copy(), H=H.copy())
    expected = theirs.fit_transform(X, W=W.copy(), H=H.copy())
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-9, atol=1e-12)
    assert ours.reconstruction_err_ == pytest.approx(theirs.reconstruction_err_, rel=1e-9)


def models(beta):
    rng = np.random.default_rng(2)
    settings = {"n_components": K, "beta_loss": beta, **SETTINGS}
    graphs = {"row_graph": random_graph(rng, N), "column_graph": random_graph(rng, M)}
    yield NMF(**settings), {}
    yield NMF(alpha_W=0.01, l1_ratio=0.3, **settings), {}
    yield RPRNMF(**settings), {"row_triplets": KNOWN["row_triplets"]}
    yield RPRNMF(row_strength=0.3, column_strength=0.3, **settings), KNOWN
    yield RPRNMF(distance="divergence", row_strength=1.0, **settings), KNOWN
    yield GNMF(row_strength=0.1, column_strength=0.1, **graphs, **settings), {}
    yield LCNMF(**settings), {"y": rng.integers(-1, 3, size=N)}


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_estimator_minimises_and_records_the_loss_it_names(beta, layout):
    data, missing = lay_out(X, MASK, layout)
    view, loss = make_view(data, missing), get_loss(beta)
    for model, known in models(beta):
        model.set_params(missing=missing).fit(data, **known)
        W, Ht = model.embedding_, np.ascontiguousarray(model.components_.T)
        history = model.history_
        assert history["loss"][-1] == pytest.approx(loss.value(view, W, Ht), rel=1e-9)
        steady = (np.diff(history["row_strength"]) == 0) & (
            np.diff(history["column_strength"]) == 0
        )
        assert (np.diff(history["objective"])[steady] <= 0).all()


def test_each_fit_is_the_best_of_all_by_its_own_loss():
    """With one component there is one minimum."""
    view = make_view(X)
    fits = [NMF(1, beta_loss=beta, **SETTINGS).fit(X) for beta in BETAS]
    factors = [(fit.embedding_, np.ascontiguousarray(fit.components_.T)) for fit in fits]
    for place, beta in enumerate(BETAS):
        values = [get_loss(beta).value(view, *pair) for pair in factors]
        assert np.argmin(values) == place


@pytest.mark.parametrize("beta", BETAS)
def test_layouts_of_the_same_data_agree(beta):
    for layouts in (("dense", "sparse"), ("nan", "sparse-zero", "sparse-nan")):
        for known in ({}, KNOWN):
            errors = []
            for layout in layouts:
                data, missing = lay_out(X, MASK, layout)
                model = RPRNMF(K, beta_loss=beta, missing=missing, init="random", **SETTINGS)
                errors.append(model.fit(data, **known).reconstruction_err_)
            np.testing.assert_allclose(errors, errors[0], rtol=1e-6)


@pytest.mark.parametrize("beta", BETAS)
def test_the_unit_of_x_does_not_matter(beta):
    one, other = (
        RPRNMF(K, beta_loss=beta, init="random", **SETTINGS).fit(size * X, **KNOWN)
        for size in (1.0, 1024.0)
    )
    np.testing.assert_allclose(
        other.inverse_transform(other.embedding_),
        1024.0 * one.inverse_transform(one.embedding_),
        rtol=1e-6,
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("beta", ["itakura-saito", 0.5])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_model_of_zero_beside_large_entries_overflows_nothing(beta, layout):
    data, missing = lay_out((1e30 * X).astype(np.float32), MASK, layout)
    F, G = np.zeros((N, K), np.float32), np.ones((M, K), np.float32)
    parts = get_loss(beta).split(make_view(data, missing), F, G)
    assert np.isfinite(parts.positive).all()
    assert np.isfinite(parts.negative).all()


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("masked", [False, True])
def test_transform_places_rows_at_their_minimum(beta, masked):
    data, missing = (np.where(MASK, X, np.nan), "nan") if masked else (X, None)
    model = NMF(K, beta_loss=beta, missing=missing, row_prior=None, column_prior=None, **SETTINGS)
    model.fit(data).set_params(max_iter=3000, tol=1e-7)
    loss, view = get_loss(beta), make_view(data, missing)
    Ht = np.ascontiguousarray(model.components_.T)
    W = model.transform(data)
    least = loss.value(view, W, Ht)
    assert least <= loss.value(view, model.embedding_, Ht) * (1 + 1e-9)
    np.testing.assert_allclose(model.transform(data[3:4])[0], W[3], rtol=1e-4, atol=1e-6)
    gradient = loss.split(view, W, Ht).gradient
    assert (W * gradient).max() < 1e-3 * loss.unit(view)


@pytest.mark.parametrize("alpha", [0.0, 1e-4])
@pytest.mark.parametrize("beta", BETAS)
def test_transform_takes_triplets(beta, alpha):
    rng = np.random.default_rng(3)
    model = RPRNMF(K, beta_loss=beta, alpha_W=alpha, **SETTINGS)
    model.fit(X, row_triplets=KNOWN["row_triplets"])
    new = X[:4] * (1 + 0.1 * rng.random((4, M)))
    free = model.transform(new)
    triplets = np.array([[N, 5, 6], [N + 1, 7, 8], [N + 2, N + 3, 9]])
    both = np.concatenate((model.embedding_, free))
    far = [np.sum((both[q] - both[[r, s]]) ** 2, axis=1) for q, r, s in triplets]
    triplets = np.array(
        [(q, s, r) if a < b else (q, r, s) for (q, r, s), (a, b) in zip(triplets, far, strict=True)]
    )
    placed = np.concatenate((model.embedding_, model.transform(new, row_triplets=triplets)))
    for q, r, s in triplets:  # all were unmet before
        near, far = np.sum((placed[q] - placed[[r, s]]) ** 2, axis=1)
        assert near < far


@pytest.mark.parametrize("solver", ["cd", "paper"])
@pytest.mark.parametrize("estimator", [NMF, GNMF, LCNMF, RPRNMF])
@pytest.mark.parametrize("beta", BETAS)
def test_other_solvers_refuse_by_naming_both(beta, estimator, solver):
    model = estimator(K, beta_loss=beta, solver=solver)
    with pytest.raises(
        ValueError, match=rf"solver '{solver}' does not handle beta_loss = {beta!r}"
    ):
        model.fit(X)
    assert not hasattr(model, "components_")


@pytest.mark.parametrize("beta", [-0.5, 0, "itakura-saito"])
def test_zeros_are_refused_in_fit_and_transform(beta):
    model = NMF(K, beta_loss=beta, **SETTINGS)
    holed = X.copy()
    holed[2, 3] = 0.0
    with pytest.raises(ValueError, match="beta_loss <= 0 and X contains zeros"):
        model.fit(holed)
    with pytest.raises(ValueError, match="beta_loss <= 0 and X contains zeros"):
        model.fit(X).transform(holed)
    model.set_params(missing="zero").fit(holed)  # no observation, no trouble
    assert np.isfinite(model.reconstruction_err_)


@pytest.mark.parametrize("beta_loss", ["euclidean", np.inf, np.nan, None])
def test_what_is_no_loss_is_refused(beta_loss):
    with pytest.raises(ValueError, match="'beta_loss' parameter"):
        NMF(K, beta_loss=beta_loss).fit(X)
