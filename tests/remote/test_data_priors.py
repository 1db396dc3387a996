"""Priors from X itself, from tables, and from several of them, where X is a Dask array."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rprnmf
from rprnmf import NMF
from rprnmf.priors import kernel
from tests.remote.matrices import CUTS, M, N, check_same, in_blocks, matrix

da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def one_after_the_other():
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


def both(kind, cut, mine=None, **settings):
    """Fits with the same settings, but for those in blocks (``mine``)."""
    X, missing = matrix(kind)
    usual = {"n_components": 3, "missing": missing, "max_iter": 12, "tol": 0.0, "random_state": 0}
    usual |= {"row_prior": None, "column_prior": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one = NMF(**(usual | settings)).fit(X)
        two = NMF(**(usual | settings | (mine or {}))).fit(in_blocks(X, CUTS[cut]))
    check_same(one, two, apart=1e-8)  # incomplete data: short fits come before
    for known, found in zip(one.prior_, two.prior_, strict=True):
        if known is not None:
            assert found.names == known.names
            assert np.allclose(np.asarray(found.means), known.means, rtol=1e-6, atol=1e-9)
    return one, two


def frame():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    age = np.where(rng.random(N) < 0.1, np.nan, rng.uniform(18, 80, N))
    genre = np.array(["Comedy|Drama", "Drama", None, "Action"], dtype=object)[rng.integers(0, 4, N)]
    return pd.DataFrame({"age": age, "genre": genre, "n": rng.integers(0, 9, N)})


@pytest.mark.parametrize("cut", ["5", "uneven"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "nan"])
def test_rows_of_x(kind, cut):
    one, two = both(kind, cut, row_prior="data")
    X, _ = matrix(kind)
    assert np.allclose(one.transform(X[:9]), two.transform(X[:9]), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "zero"])
def test_columns_of_x(kind):
    both(kind, "5", column_prior="data")


def test_a_few_holes(tmp_path):
    X, _ = matrix("dense")
    X[[3, 50], [4, 7]] = np.nan
    settings = {"n_components": 3, "missing": "nan", "max_iter": 8, "tol": 0.0, "random_state": 0}
    settings |= {"row_prior": "data", "column_prior": "data"}
    two = NMF(**settings).fit(in_blocks(X, CUTS["5"]))
    check_same(NMF(**settings).fit(X), two)
    rprnmf.save(two, tmp_path / "model.rprnmf")
    again = rprnmf.load(tmp_path / "model.rprnmf")
    assert np.array_equal(again.transform(X), two.transform(X))


def test_very_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(kernel, "EXACT", 20)
    monkeypatch.setattr(kernel, "SAMPLE", 60)
    monkeypatch.setattr(kernel, "LANDMARKS", 10)
    both("dense", "uneven", row_prior="data")


def test_many_columns_are_refused(monkeypatch):
    monkeypatch.setattr("rprnmf.priors.remote_data.EXACT", M - 1)
    X, _ = matrix("dense")
    with pytest.raises(ValueError, match=r"column_prior='data' .* has 31 of them, complete"):
        NMF(3, column_prior="data").fit(in_blocks(X, CUTS["5"]))


@pytest.mark.parametrize("chunks", [20, 83])
def test_a_table_in_blocks(chunks):
    table = np.random.default_rng(3).normal(size=(N, 4))
    lazy = {"row_prior": da.from_array(table, chunks=(chunks, 2))}
    both("dense", "5", lazy, row_prior=table)


@pytest.mark.parametrize("npartitions", [1, 4])
def test_a_frame_in_blocks(npartitions):
    dd = pytest.importorskip("dask.dataframe")
    table = frame()
    lazy = {"row_prior": dd.from_pandas(table, npartitions=npartitions)}
    both("dense", "uneven", lazy, row_prior=table)


def test_lists_of_tables():
    table = np.random.default_rng(3).normal(size=(N, 2))
    of_columns = np.random.default_rng(4).normal(size=(M, 2))
    given = {"row_prior": [frame(), table, "data"], "column_prior": [of_columns, "data"]}
    lazy = {"row_prior": [frame(), da.from_array(table, chunks=(40, 2)), "data"]}
    lazy["column_prior"] = [da.from_array(of_columns, chunks=(9, 2)), "data"]
    both("dense", "5", lazy, **given)


def test_faults_of_tables_are_named():
    X, _ = matrix("dense")
    D = in_blocks(X, CUTS["5"])
    table = np.ones((N - 1, 2))
    with pytest.raises(ValueError, match="row_prior must have one entry for each of 83 rows"):
        NMF(3, row_prior=da.from_array(table, chunks=40)).fit(D)
    table = np.ones((N, 2))
    table[40] = np.nan
    with pytest.raises(ValueError, match=r"rows from 33 on: Input row_prior contains NaN"):
        NMF(3, row_prior=da.from_array(table, chunks=40)).fit(D)
