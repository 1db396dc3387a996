"""Labels of rows tie rows that lie in different blocks."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from rprnmf import LCNMF
from tests.remote.matrices import CUTS, N, check_same, in_blocks, matrix

da = pytest.importorskip("dask.array")

PLAIN = {"row_prior": None, "column_prior": None}


@pytest.fixture(autouse=True)
def one_after_the_other():
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


def labels() -> np.ndarray:
    """Of some rows: far apart, next to each other, alone, and many of one."""
    y = np.full(N, -1)
    y[[0, 41, 82]] = 7
    y[[4, 5]] = 2
    y[60] = 3
    y[10:N:4] = 5
    return y


def both(kind, cut, y=None, **settings):
    X, missing = matrix(kind)
    usual = {"n_components": 4, "missing": missing, "max_iter": 20, "tol": 0.0, "random_state": 0}
    y = labels() if y is None else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = [
            LCNMF(**{**usual, **settings}).fit(data, y) for data in (X, in_blocks(X, CUTS[cut]))
        ]
    check_same(*models)
    return models


@pytest.mark.parametrize("solver", ["cd", "mu"])
@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "nan", "zero"])
def test_every_combination(kind, loss, solver):
    _, two = both(kind, "uneven", beta_loss=loss, solver=solver, **PLAIN)
    W = np.asarray(two.embedding_)
    assert (W[labels() == 5] == W[10]).all()


@pytest.mark.parametrize("kind", ["dense", "zero"])
@pytest.mark.parametrize("cut", CUTS)
def test_every_cut(kind, cut):
    both(kind, cut, **PLAIN)


@pytest.mark.parametrize(("kind", "solver"), [("zero", "cd"), ("nan", "mu")])
def test_beside_priors_and_norms(kind, solver):
    both(kind, "2", solver=solver)
    both(kind, "5", solver=solver, alpha_W=0.1, alpha_H=0.05)


def test_every_row_has_a_label():
    both("sparse", "17", np.arange(N) % 3, **PLAIN)


@pytest.mark.parametrize("names", [False, True])
def test_labels_in_blocks_stay_there(names):
    X, missing = matrix("zero")
    y = labels()
    if names:
        y = np.array([None if each == -1 else f"kind {each}" for each in y], dtype=object)
    settings = {"n_components": 3, "missing": missing, "max_iter": 5, "tol": 0.0} | PLAIN
    one = LCNMF(random_state=0, **settings).fit(X, y)
    two = LCNMF(random_state=0, **settings)
    two.fit(in_blocks(X, CUTS["5"]), da.from_array(y, chunks=20))
    check_same(one, two)


def test_labels_of_another_length_are_refused():
    X, _ = matrix("dense")
    D = in_blocks(X, CUTS["5"])
    with pytest.raises(ValueError, match="one entry for each row of X"):
        LCNMF(3).fit(D, labels()[:-1])
    with pytest.raises(ValueError, match="y must have one entry for each of 83 rows, got 82"):
        LCNMF(3).fit(D, da.from_array(labels()[:-1], chunks=20))
    with pytest.raises(ValueError, match=r"rows from 16 on: row labels must be whole numbers"):
        LCNMF(3).fit(D, da.from_array(np.where(np.arange(N) == 20, 0.5, 1.0), chunks=20))


@pytest.mark.parametrize("kind", ["dense", "nan", "zero"])
def test_single_precision(kind):
    X, missing = matrix(kind)
    X = X.astype(np.float32)
    settings = {"n_components": 3, "init": "random", "missing": missing, "max_iter": 5, "tol": 0.0}
    settings |= {"random_state": 0, **PLAIN}
    one, two = (LCNMF(**settings).fit(data, labels()) for data in (X, in_blocks(X, CUTS["5"])))
    assert two.embedding_.dtype == np.float32
    assert two.embedding_.compute().dtype == np.float32
    apart = np.abs(np.asarray(two.embedding_) - one.embedding_).max()
    assert apart <= 1e-3 * one.embedding_.max()


def test_checkpoint(tmp_path):
    X, missing = matrix("zero")
    D, path = in_blocks(X, CUTS["2"]), tmp_path / "run.ckpt"
    settings = {"n_components": 3, "missing": missing, "tol": 0.0, "random_state": 0} | PLAIN
    kept = {"checkpoint": path, "checkpoint_every": 0}
    one = LCNMF(max_iter=8, **settings).fit(D, labels(), **kept)
    again = LCNMF(max_iter=8, **settings).fit(D, da.from_array(labels(), chunks=83), **kept)
    check_same(one, again, apart=0.0)
    with pytest.raises(ValueError, match="of another fit"):
        LCNMF(max_iter=8, **settings).fit(D, np.roll(labels(), 1), **kept)
