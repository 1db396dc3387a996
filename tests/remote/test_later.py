"""What is done with a model whose rows lie in blocks: saved, copied, taught further."""

from __future__ import annotations

import copy
import pickle

import dask
import numpy as np
import pytest
from sklearn.base import clone

import rprnmf
from rprnmf import NMF
from tests.remote.matrices import CUTS, in_blocks, matrix

pytest.importorskip("dask.array")
KINDS = ("dense", "sparse", "nan", "zero")


def fitted(kind="dense", **more):
    """The model of X in one piece, and of X in blocks."""
    X, missing = matrix(kind)
    usual = {"max_iter": 4, "tol": 0.0, "random_state": 0, "missing": missing, **more}
    return [NMF(3, **usual).fit(data) for data in (X, in_blocks(X, CUTS["5"]))]


@pytest.fixture(autouse=True)
def one_after_the_other():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_of_a_stream_follow_a_fit(kind, loss):
    models = fitted(kind, beta_loss=loss)
    X, _ = matrix(kind)
    for model in models:
        model.partial_fit(X[:20]).partial_fit(X[20:50])
    one, two = models
    assert np.allclose(two.components_, one.components_, rtol=1e-8, atol=1e-10)
    assert two.n_samples_seen_ == one.n_samples_seen_ == 83 + 50


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
)
def test_copies(copied):
    _, model = fitted()
    again = copied(model)
    assert np.array_equal(again.embedding_.compute(), model.embedding_.compute())
    assert not hasattr(clone(model), "embedding_")


def test_saved_where_it_was_loaded_from(tmp_path):
    path = tmp_path / "model.rprnmf"
    one, two = fitted("nan")
    rprnmf.save(two, path)
    W = two.embedding_.compute()
    again = rprnmf.load(path)
    rprnmf.save(again, path)
    for model in (again, rprnmf.load(path)):
        assert np.array_equal(model.embedding_.compute(), W)
    rprnmf.save(again, tmp_path / "other.rprnmf")
    path.unlink()
    assert np.array_equal(rprnmf.load(tmp_path / "other.rprnmf").embedding_.compute(), W)
    rprnmf.save(one, path)  # whose rows are in the file
    assert not (tmp_path / "model.rprnmf.rows").exists()
