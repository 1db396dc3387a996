"""A fit of a Dask array ends where the fit of the same array in one piece ends."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from rprnmf import GNMF, LCNMF, NMF, RPRNMF
from tests.remote.matrices import CUTS, SIDES, N, check_same, in_blocks, matrix

pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def one_after_the_other():
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


def both(kind, cut, estimator=RPRNMF, sides=None, **settings):
    X, missing = matrix(kind)
    usual = {"n_components": 4, "missing": missing, "max_iter": 20, "tol": 0.0, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = [
            estimator(**{**usual, **settings}).fit(data, **(sides or {}))
            for data in (X, in_blocks(X, CUTS[cut]))
        ]
    check_same(*models)
    return models


LOSSES = ("frobenius", "kullback-leibler")
KINDS = ("dense", "sparse", "nan", "zero")


@pytest.mark.parametrize("solver", ["cd", "mu"])
@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_combination(loss, kind, sides, solver):
    plain = {"row_prior": None, "column_prior": None}
    both(kind, "uneven", sides=SIDES[sides], beta_loss=loss, solver=solver, **plain)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_cut(kind, cut):
    plain = {"row_prior": None, "column_prior": None}
    both(kind, cut, sides=SIDES["both"], **plain)


@pytest.mark.parametrize("kind", ["nan", "zero"])
@pytest.mark.parametrize("sides", ["none", "both"])
def test_default_priors_of_incomplete_data(kind, sides):
    _, two = both(kind, "2", sides=SIDES[sides])
    assert two.prior_[0] is not None
    assert two.prior_[0].means.shape == (N, 4)


def test_it_stops_at_the_same_iteration():
    both("dense", "5", max_iter=300, tol=1e-3)


@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_norms(solver):
    both("zero", "5", sides=SIDES["both"], alpha_W=0.1, alpha_H=0.05, solver=solver)
    both("sparse", "2", alpha_W=0.1, l1_ratio=0.5, solver=solver)


def test_several_starts():
    both("nan", "2", n_init=2, row_prior=None, column_prior=None)


@pytest.mark.parametrize("init", ["random", "nndsvd", "nndsvda"])
def test_starts(init):
    both("dense", "5", NMF, init=init, max_iter=5)


def test_rows_than_columns_fewer():
    X, _ = matrix("dense")
    X = X.T[:20]
    settings = {"n_components": 3, "max_iter": 5, "tol": 0.0, "random_state": 0}
    check_same(NMF(**settings).fit(X), NMF(**settings).fit(in_blocks(X, (7, 13))))


def test_a_generator_goes_on_where_it_was():
    X, _ = matrix("dense")
    ends = []
    for data in (X, in_blocks(X, CUTS["5"])):
        rng = np.random.RandomState(3)
        NMF(3, init="random", max_iter=2, tol=0, random_state=rng).fit(data)
        ends.append(rng.random_sample())
    assert ends[0] == ends[1]


def test_custom_start():
    X, _ = matrix("dense")
    rng = np.random.default_rng(1)
    start = {"W": rng.random((N, 3)), "H": rng.random((3, X.shape[1]))}
    settings = {"n_components": 3, "init": "custom", "max_iter": 5, "tol": 0.0}
    one = NMF(**settings).fit(X, **start)
    check_same(one, NMF(**settings).fit(in_blocks(X, CUTS["2"]), **start))


@pytest.mark.parametrize("solver", ["cd", "mu"])
@pytest.mark.parametrize("kind", ["dense", "nan"])
def test_given_graphs(kind, solver):
    S = sp.random(N, N, 0.03, random_state=0)
    graph = sp.csr_array(S + S.T)
    plain = {"row_prior": None, "column_prior": None}
    both(kind, "5", GNMF, row_graph=graph, solver=solver, **plain)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["sparse", "zero"])
def test_labels_of_columns(kind, loss):
    labels = {"column_labels": [0, 0, 1, 1, 1] + [-1] * 26}
    plain = {"row_prior": None, "column_prior": None}
    both(kind, "5", LCNMF, labels, beta_loss=loss, **plain)


def test_features_lie_with_their_rows():
    features = np.random.default_rng(0).random((N, 2))
    _, two = both("zero", "5", NMF, row_prior=features)
    assert two.prior_[0].coefficients.shape == (2, 4)


def test_single_precision():
    X, _ = matrix("dense")
    X = X.astype(np.float32)
    settings = {"n_components": 3, "init": "random", "max_iter": 10, "tol": 0.0, "random_state": 0}
    one, two = (NMF(**settings).fit(data) for data in (X, in_blocks(X, CUTS["5"])))
    assert two.embedding_.dtype == np.float32
    apart = np.abs(np.asarray(two.embedding_) - one.embedding_).max()
    assert apart <= 1e-3 * one.embedding_.max()
