"""Weights of entries, and missing entries as weak zeros, of Dask arrays."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from rprnmf import LCNMF, NMF, RPRNMF
from tests.remote.matrices import CUTS, SIDES, N, check_same, in_blocks, matrix

da = pytest.importorskip("dask.array")

PLAIN = {"row_prior": None, "column_prior": None}
LOSSES = ("frobenius", "kullback-leibler")
KINDS = ("dense", "sparse", "nan", "zero")


@pytest.fixture(autouse=True)
def one_after_the_other():
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


def weights_of(X, seed=1):
    """One weight per entry of X, some of them 0; where X is stored, if it is sparse."""
    rng = np.random.default_rng(seed)
    if sp.issparse(X):
        drawn = rng.choice([0.0, 0.3, 1.0, 2.5], X.nnz)
        return sp.csr_array((drawn, X.indices, X.indptr), shape=X.shape)
    return rng.choice([0.0, 0.3, 1.0, 2.5], X.shape)


def both(kind, cut="uneven", estimator=RPRNMF, weights=True, given=None, **settings):
    X, missing = matrix(kind)
    usual = {"n_components": 4, "missing": missing, "max_iter": 20, "tol": 0.0, "random_state": 0}
    C = weights_of(X) if weights is True else weights
    pairs = [(X, C), (in_blocks(X, CUTS[cut]), None if C is None else in_blocks(C, CUTS[cut]))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = [
            estimator(**{**usual, **settings}).fit(data, entry_weights=c, **(given or {}))
            for data, c in pairs
        ]
    check_same(*models)
    return models, pairs


@pytest.mark.parametrize("solver", ["cd", "mu"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_of_entries(loss, kind, solver):
    both(kind, beta_loss=loss, solver=solver, given=SIDES["both"], **PLAIN)


@pytest.mark.parametrize("solver", ["cd", "mu"])
@pytest.mark.parametrize("kind", ["nan", "zero"])
@pytest.mark.parametrize("loss", LOSSES)
def test_missing_entries_as_weak_zeros(loss, kind, solver):
    usual = {"beta_loss": loss, "solver": solver, "missing_weight": 0.1, **PLAIN}
    both(kind, weights=None, given=SIDES["both"], **usual)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_cut(loss, cut):
    both("zero", cut, beta_loss=loss, missing_weight=0.05, **PLAIN)


@pytest.mark.parametrize(("loss", "weights"), [(LOSSES[0], None), (LOSSES[1], True)])
def test_default_priors(loss, weights):
    models, _ = both("zero", "2", NMF, weights, beta_loss=loss, missing_weight=0.1)
    assert models[1].prior_[0] is not None


def test_norms_and_labels_of_columns():
    both("zero", "5", missing_weight=0.1, alpha_W=0.1, alpha_H=0.05, l1_ratio=0.3)
    labels = {"column_labels": [0, 0, 1, 1, 1] + [-1] * 26}
    both("zero", "5", LCNMF, given=labels, missing_weight=0.1, **PLAIN)
    both("zero", "5", LCNMF, given=labels, beta_loss="kullback-leibler", **PLAIN)


def test_weights_of_one_are_no_weights():
    X, _ = matrix("sparse")
    ones = sp.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
    both("sparse", "5", weights=ones, **PLAIN)
    both("zero", "5", weights=None, missing_weight=1.0, **PLAIN)


@pytest.mark.parametrize("stored_nan", [False, True])
def test_stored_nan(stored_nan):
    X, _ = matrix("sparse")
    if stored_nan:
        X.data[::7] = np.nan
    usual = {"n_components": 3, "missing": "nan", "max_iter": 20, "tol": 0.0, "random_state": 0}
    usual |= {"missing_weight": 0.2, **PLAIN}
    one, two = (NMF(**usual).fit(data) for data in (X, in_blocks(X, CUTS["5"])))
    check_same(one, two)


def test_single_precision():
    X, _ = matrix("zero")
    X = X.astype(np.float32)
    usual = {"n_components": 3, "missing": "zero", "max_iter": 10, "tol": 0.0, "random_state": 0}
    usual |= {"missing_weight": 0.1, **PLAIN}
    one, two = (NMF(**usual).fit(data) for data in (X, in_blocks(X, CUTS["5"])))
    assert two.embedding_.dtype == np.float32
    apart = np.abs(np.asarray(two.embedding_) - one.embedding_).max()
    assert apart <= 1e-3 * one.embedding_.max()


@pytest.mark.parametrize("kind", ["nan", "zero"])
def test_transform(kind):
    models, pairs = both(kind, "5", NMF, missing_weight=0.1, **PLAIN)
    (X, C), (D, E) = pairs
    new = models[1].transform(D, entry_weights=E)
    assert new.chunks[0] == D.chunks[0]
    assert np.allclose(new.compute(), models[0].transform(X, entry_weights=C), rtol=1e-7)


def test_a_checkpoint_knows_the_weights(tmp_path):
    X, missing = matrix("zero")
    D, path = in_blocks(X, CUTS["2"]), tmp_path / "run.ckpt"
    usual = {"n_components": 3, "missing": missing, "max_iter": 14, "tol": 0.0, "random_state": 0}
    kept = {"checkpoint": path, "checkpoint_every": 0}

    class StopError(Exception):
        """Ends a fit."""

    def stop(state):
        if state.iteration == 8:
            raise StopError

    one, other = (in_blocks(weights_of(X, seed), CUTS["2"]) for seed in (1, 2))
    with pytest.raises(StopError):
        NMF(callback=stop, **usual, **PLAIN).fit(D, entry_weights=one, **kept)
    with pytest.raises(ValueError, match="entry_weights was"):
        NMF(**usual, **PLAIN).fit(D, entry_weights=other, **kept)


def test_larger_than_memory_is_read_anew(monkeypatch):
    from rprnmf.remote import local

    monkeypatch.setattr(local, "memory_here", lambda: 1.0)
    both("nan", "5", missing_weight=0.1, **PLAIN)


def test_what_is_refused():
    X, missing = matrix("zero")
    D, model = in_blocks(X, CUTS["2"]), NMF(3, missing=missing)
    C = weights_of(X)
    with pytest.raises(TypeError, match=r"must be a Dask array, as X is.*got csr_array"):
        model.fit(D, entry_weights=C)
    with pytest.raises(ValueError, match=r"has chunks of 41, 42 rows; got 16, 17, 16, 17, \.\.\."):
        model.fit(D, entry_weights=in_blocks(C, CUTS["5"]))
    with pytest.raises(ValueError, match=r"must have the shape of X, \(83, 31\), got \(83, 30\)"):
        model.fit(D, entry_weights=in_blocks(C[:, :30], CUTS["2"]))
    C.data[-1] = -1.0
    with pytest.raises(ValueError, match=r"rows from 41 on: entry_weights\[41, \d+\] = -1"):
        model.fit(D, entry_weights=in_blocks(C, CUTS["2"]))
    with pytest.raises(ValueError, match="missing=None says that there are none"):
        NMF(3, missing_weight=0.1).fit(D)
    with pytest.raises(ValueError, match="labels of rows cannot be combined with entry_weights"):
        LCNMF(3, missing=missing, missing_weight=0.1).fit(D, [0] * 20 + [-1] * (N - 20))
    assert not hasattr(model, "components_")
    assert len(C.indptr) == N + 1


@pytest.mark.parametrize("missing", ["zero", "nan"])
def test_missing_entries_that_weigh_as_much_as_others_leave_complete_data(missing):
    """The defaults for incomplete data, such as a prior, must not come in."""
    rng = np.random.default_rng(0)
    X = rng.random((40, 3)) @ rng.random((3, 12))
    X[X < 0.5] = 0.0 if missing == "zero" else np.nan
    model = NMF(3, random_state=0, missing=missing, missing_weight=1.0, max_iter=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one, many = (
            model.fit(given).components_.copy() for given in (X, in_blocks(X, (7, 1, 20, 12)))
        )
    np.testing.assert_allclose(many, one, atol=1e-9 * one.max())
