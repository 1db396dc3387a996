"""Blocks of rows that arrive one after the other: `NMF.partial_fit`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import MiniBatchNMF

import rprnmf
from rprnmf import GNMF, LCNMF, NMF, RPRNMF
from tests.builders import LAYOUTS, ROW_LOSSES, lay_out, observed_mask, random_mask
from tests.persistence.equality import bits

N, M, K = 240, 18, 4


def low_rank(seed=0, n=N, noise=0.05):
    """Rows near a cone of four parts, with zeros."""
    rng = np.random.default_rng(seed)
    H = np.random.default_rng(99).gamma(0.5, 1.0, (K, M))
    X = rng.gamma(1.0, 1.0, (n, K)) @ H + noise * rng.random((n, M))
    X[rng.random(X.shape) < 0.05] = 0.0
    return X


def blocks(X, size=40):
    return [X[first : first + size] for first in range(0, X.shape[0], size)]


def streamed(model, X, size=40, **arguments):
    for block in blocks(X, size):
        model.partial_fit(block, **arguments)
    return model


def error(model, X):
    """Of X, placed by the components of a model."""
    fixed = NMF(K, beta_loss=model.beta_loss, max_iter=500, tol=1e-6)
    return fixed.fit(X, H=model.components_.astype(float), update_H=False).reconstruction_err_


def attributes(model):
    return {name: value for name, value in vars(model).items() if name != "history_"}


@pytest.mark.parametrize("loss", ROW_LOSSES)
@pytest.mark.parametrize("size", [7, 40, 100])
def test_one_pass_comes_near_a_fit_and_beats_mini_batches(loss, size):
    X = low_rank()
    ours = error(streamed(NMF(K, beta_loss=loss, random_state=0), X, size), X)
    peer = streamed(MiniBatchNMF(K, beta_loss=loss, random_state=0), X, size)
    peer.set_params(beta_loss=loss)
    fit = NMF(K, beta_loss=loss, random_state=0, max_iter=500).fit(X).reconstruction_err_
    assert ours <= error(peer, X)
    assert ours <= 1.6 * fit


@pytest.mark.parametrize("loss", ROW_LOSSES)
def test_further_passes_come_nearer(loss):
    X = low_rank()
    model = NMF(K, beta_loss=loss, random_state=0)
    errors = [error(streamed(model, X), X) for _ in range(3)]
    assert errors[0] > errors[1] > errors[2]
    fit = NMF(K, beta_loss=loss, random_state=0, max_iter=500).fit(X).reconstruction_err_
    assert errors[2] <= 1.2 * fit


@pytest.mark.parametrize("loss", ROW_LOSSES)
def test_one_block_again_and_again_is_a_fit(loss):
    X = low_rank(n=80)
    model = NMF(K, beta_loss=loss, random_state=0)
    for _ in range(100):
        model.partial_fit(X, forget_factor=0.0)
    fit = NMF(K, beta_loss=loss, random_state=0, max_iter=2000, tol=1e-7).fit(X)
    assert error(model, X) <= 1.03 * fit.reconstruction_err_


@pytest.mark.parametrize("loss", ROW_LOSSES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_dense_is_sparse(loss, layout):
    rng = np.random.default_rng(1)
    X, mask = low_rank(1), random_mask(rng, N, M)
    given, missing = lay_out(X, mask, layout)
    seen = observed_mask(mask, layout)
    dense = np.where(seen, X, np.nan)
    found = streamed(NMF(K, beta_loss=loss, missing=missing, random_state=0), given)
    expected = streamed(NMF(K, beta_loss=loss, missing="nan", random_state=0), dense)
    np.testing.assert_allclose(found.components_, expected.components_, rtol=1e-3, atol=1e-5)
    assert found.components_.any(axis=1).all()


@pytest.mark.parametrize("loss", ROW_LOSSES)
@pytest.mark.parametrize("missing", [None, "nan"])
def test_float32_is_about_float64(loss, missing):
    X = low_rank(2)
    if missing:
        X[~random_mask(np.random.default_rng(3), N, M)] = np.nan
    double = streamed(NMF(K, beta_loss=loss, missing=missing, random_state=0), X)
    model = NMF(K, beta_loss=loss, missing=missing, random_state=0)
    single = streamed(model, X.astype(np.float32))
    assert single.components_.dtype == single.embedding_.dtype == np.float32
    whole = low_rank(2)
    assert error(single, whole) == pytest.approx(error(double, whole), rel=0.05)
    single.partial_fit(X[:5])  # a block of another type does not change that of the model
    assert single.components_.dtype == np.float32


@pytest.mark.parametrize("loss", ROW_LOSSES)
@pytest.mark.parametrize("missing", [None, "nan"])
@pytest.mark.parametrize("alpha", [0.0, 0.01])
def test_a_model_that_was_saved_goes_on_to_the_last_bit(tmp_path, loss, missing, alpha):
    X = low_rank(4)
    if missing:
        X[~random_mask(np.random.default_rng(5), N, M)] = np.nan
    model = NMF(K, beta_loss=loss, missing=missing, alpha_W=alpha, random_state=0)
    streamed(model, X[:120])
    rprnmf.save(model, tmp_path / "model.rprnmf")
    loaded = rprnmf.load(tmp_path / "model.rprnmf")
    for one in (model, loaded):
        streamed(one, X[120:])
    found, expected = attributes(loaded), attributes(model)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert bits(found[name]) == bits(value), name


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda X: X[:, 1:], "features"),
        (lambda X: -X, "egative"),
        (lambda X: np.where(X > 1, np.nan, X), "NaN"),
        (lambda X: X[:0], "0 sample"),
        (lambda X: "text", None),
    ],
)
@pytest.mark.parametrize("n_before", [0, 2])
def test_a_failed_call_changes_nothing(wrong, message, n_before):
    X = low_rank(6)
    model = NMF(K, random_state=0)
    for block in blocks(X)[:n_before]:
        model.partial_fit(block)
    if n_before == 0 and message == "features":
        return
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.partial_fit(wrong(X[:30]))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


def test_an_interrupted_call_changes_nothing(monkeypatch):
    X = low_rank(6)
    model = NMF(K, missing="zero", random_state=0).partial_fit(X[:60])
    before = {name: np.copy(value) for name, value in vars(model._stream.sums).items()}
    components = model.components_.copy()

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("rprnmf.estimators.stream.show", stop)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[60:90])
    np.testing.assert_array_equal(model.components_, components)
    for name, value in vars(model._stream.sums).items():
        np.testing.assert_array_equal(value, before[name])
    assert model.n_steps_ == 1


@pytest.mark.parametrize("factor", [-0.1, 1.1, "often", None, True])
def test_a_wrong_forget_factor_is_refused(factor):
    with pytest.raises(ValueError, match="forget_factor must be"):
        NMF(2).partial_fit(low_rank(), forget_factor=factor)


def test_which_models_learn_from_blocks():
    assert hasattr(NMF(2), "partial_fit")
    assert hasattr(NMF(2, beta_loss="kullback-leibler"), "partial_fit")
    others = NMF(2, solver="mu"), NMF(2, solver="mu", beta_loss=1.5), GNMF(2), LCNMF(2), RPRNMF(2)
    assert not any(hasattr(model, "partial_fit") for model in others)
    with pytest.raises(ValueError, match="row_prior"):
        NMF(2, row_prior=np.eye(N)).partial_fit(low_rank())
    model = NMF(2).partial_fit(low_rank()).set_params(beta_loss="kullback-leibler")
    with pytest.raises(ValueError, match="beta_loss"):
        model.partial_fit(low_rank())


def test_what_a_stream_leaves():
    frame = pd.DataFrame(low_rank(), columns=[f"column {k}" for k in range(M)])
    model = NMF(K, random_state=0)
    streamed(model, frame)
    assert (model.n_steps_, model.n_samples_seen_, model.n_features_in_) == (6, N, M)
    assert model.components_.shape == (K, M)
    assert model.embedding_.shape == (40, K)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert list(model.get_feature_names_out()) == [f"nmf{k}" for k in range(K)]
    assert model.transform(frame[:3]).shape == (3, K)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame.rename(columns={"column 0": "another"}))
    bare = clone(model)
    assert not hasattr(bare, "components_")
    model.fit(frame)  # is not about the stream
    assert not any(hasattr(model, name) for name in ("n_steps_", "n_samples_seen_", "_stream"))


def test_a_custom_start_is_that_of_the_first_block_only():
    X, rng = low_rank(), np.random.default_rng(7)
    W, H = rng.random((40, K)), rng.random((K, M))
    model = NMF(K, init="custom")
    model.partial_fit(X[:40], W=W, H=H)
    other = NMF(K, init="custom").partial_fit(X[:40], W=W, H=2 * H)
    assert not np.array_equal(model.components_, other.components_)
    model.partial_fit(X[40:70])
    assert model.n_samples_seen_ == 70


@pytest.mark.parametrize("loss", ROW_LOSSES)
@pytest.mark.parametrize("missing", [None, "nan"])
def test_blocks_go_on_from_a_fit(loss, missing):
    X = low_rank(8)
    given = X.copy()
    if missing:
        given[~random_mask(np.random.default_rng(9), N, M)] = np.nan
    model = NMF(K, beta_loss=loss, missing=missing, random_state=0).fit(given[:200])
    before = error(model, X)
    streamed(model, given[200:], 10)
    assert model.n_samples_seen_ == N
    assert error(model, X) <= 1.1 * before  # four small blocks do not undo the fit


@pytest.mark.parametrize("loss", ROW_LOSSES)
def test_entry_weights_of_zero_are_missing_entries(loss):
    X, seen = low_rank(10), random_mask(np.random.default_rng(11), N, M)
    options = {"beta_loss": loss, "row_prior": None, "column_prior": None, "random_state": 0}
    weighed, holed = NMF(K, **options), NMF(K, missing="nan", **options)
    for rows in blocks(np.arange(N)):
        weighed.partial_fit(X[rows], entry_weights=seen[rows].astype(float))
        holed.partial_fit(np.where(seen[rows], X[rows], np.nan))
    found, expected = error(weighed, X), error(holed, X)
    assert found == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("loss", ROW_LOSSES)
def test_norms_hold_as_in_a_fit(loss):
    X = low_rank(12)
    means = {}
    for alpha in (0.0, 0.3):
        model = NMF(K, beta_loss=loss, alpha_W=alpha, max_iter=2000, random_state=0)
        fit = clone(model).fit(X)
        for _ in range(10):
            streamed(model, X)
        means[alpha] = [one.inverse_transform(one.transform(X)).mean() for one in (model, fit)]
    assert means[0.3][1] < 0.97 * means[0.0][1]
    assert means[0.3][0] == pytest.approx(means[0.3][1], rel=0.02)


def test_predictions_of_missing_ratings_stay_in_range():
    rng = np.random.default_rng(13)
    X = np.clip(np.round(1.5 * low_rank(14, n=600)), 1, 5)
    X[rng.random(X.shape) < 0.8] = 0.0
    model = NMF(K, missing="zero", random_state=0)
    streamed(model, sp.csr_array(X), 50)
    predictions = model.transform(sp.csr_array(X)) @ model.components_
    assert predictions.max() <= 1.2 * 5 * (1 + 1e-6)
    assert model.prior_[0] is not None


def test_single_rows_are_blocks_too():
    X = low_rank(15)
    model = streamed(NMF(K, random_state=0), X, 1)
    assert model.n_steps_ == N
    assert error(model, X) <= 2.0 * NMF(K, random_state=0).fit(X).reconstruction_err_


def test_a_component_that_nothing_needs_does_no_harm():
    X = np.outer(np.arange(1.0, 41.0), np.arange(1.0, 7.0))
    model = streamed(NMF(5, random_state=0), X, 8)
    assert np.isfinite(model.components_).all()
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, rtol=0.05)


@pytest.mark.parametrize("loss", ROW_LOSSES)
@pytest.mark.parametrize("to_layout", [np.asarray, sp.csr_array])
def test_a_stream_may_begin_with_zeros(loss, to_layout):
    X = low_rank(16)
    model = NMF(K, beta_loss=loss, random_state=0)
    model.partial_fit(to_layout(np.zeros((5, M))))
    assert not model.components_.any()
    streamed(model, to_layout(X))
    fit = NMF(K, beta_loss=loss, random_state=0, max_iter=500).fit(X).reconstruction_err_
    assert error(model, X) <= 1.8 * fit


@pytest.mark.parametrize("loss", ROW_LOSSES)
def test_blocks_without_any_entry_change_little(loss):
    X = low_rank(17)
    model = NMF(K, beta_loss=loss, missing="nan", random_state=0)
    streamed(model, X)
    before = error(model, X)
    model.partial_fit(np.full((3, M), np.nan))
    assert np.isfinite(model.embedding_).all()
    assert error(model, X) <= 1.05 * before


@pytest.mark.parametrize("loss", ROW_LOSSES)
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_the_data_does_not_matter(loss, unit):
    X = low_rank(18)
    X[~random_mask(np.random.default_rng(19), N, M)] = np.nan
    one, other = (NMF(K, beta_loss=loss, missing="nan", random_state=0) for _ in range(2))
    streamed(one, X)
    streamed(other, unit * X)
    found, expected = (
        model.inverse_transform(model.transform(data))
        for model, data in ((other, unit * X), (one, X))
    )
    np.testing.assert_allclose(found / unit, expected, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("prior", ["mean", "data", "table"])
def test_columns_may_have_a_prior(tmp_path, prior):
    X = low_rank(20)
    table = np.random.default_rng(21).random((M, 2)) if prior == "table" else prior
    model = streamed(NMF(K, column_prior=table, random_state=0), X)
    assert model.prior_[0] is None
    assert model.prior_[1].means.shape == (M, K)
    rprnmf.save(model, tmp_path / "model.rprnmf")
    loaded = rprnmf.load(tmp_path / "model.rprnmf")
    for one in (model, loaded):
        one.partial_fit(X[:50])
    np.testing.assert_array_equal(model.components_, loaded.components_)


def test_weak_zeros():
    X = sp.csr_array((low_rank(22) > 1.0).astype(float))
    options = {"missing": "zero", "missing_weight": 0.2, "alpha_W": 0.01}
    model = streamed(NMF(K, random_state=0, **options), X)
    scores = model.transform(X) @ model.components_
    assert scores[X.toarray() > 0].mean() > scores[X.toarray() == 0].mean() + 0.2
