"""Measures of Dask arrays are those of the arrays in one place."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf.metrics import mean_divergence, mean_squared_loss, recommendation_f1, rmse
from tests.remote.matrices import CUTS, M, N, in_blocks, matrix

da = pytest.importorskip("dask.array")
RNG = np.random.default_rng(1)
W, H = RNG.random((N, 3)), RNG.random((3, M))


@pytest.mark.parametrize("kind", ["dense", "sparse", "nan", "zero"])
@pytest.mark.parametrize("measure", [mean_squared_loss, mean_divergence, rmse])
def test_the_same_as_in_one_place(kind, measure):
    X, missing = matrix(kind)
    expected = measure(X, W, H, missing=missing)
    for chunks in ((CUTS["5"], 3), (40, 2)):
        found = measure(in_blocks(X, CUTS["5"]), da.from_array(W, chunks), H, missing=missing)
        assert found == pytest.approx(expected, rel=1e-12)
    assert measure(in_blocks(X, CUTS["17"]), W, H, missing=missing) == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["nan", "zero"])
def test_recommended(kind):
    X, missing = matrix(kind)
    for limits in (2.0, RNG.random(N)):
        expected = recommendation_f1(X, W, H, limits, missing=missing)
        D = in_blocks(X, CUTS["5"])
        assert recommendation_f1(D, W, H, limits, missing=missing) == expected


def test_factors_that_do_not_fit():
    D = in_blocks(matrix("dense")[0], CUTS["5"])
    with pytest.raises(ValueError, match=r"W must have the shape \(83, 3\), got \(82, 3\)"):
        rmse(D, W[1:], H)
    with pytest.raises(ValueError, match="Negative values"):
        rmse(D, -W, H)
    with pytest.raises(ValueError, match="wrong"):
        rmse(D, W, H[:, 1:])


def test_single_precision():
    X = sp.csr_array(matrix("zero")[0], dtype=np.float32)
    w, h = W.astype(np.float32), H.astype(np.float32)
    expected = rmse(X, w, h, missing="zero")
    assert rmse(in_blocks(X, CUTS["5"]), w, h, missing="zero") == pytest.approx(expected, rel=1e-5)
