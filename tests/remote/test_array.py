"""A `RemoteArray` computes as an array does."""

from __future__ import annotations

import numpy as np
import pytest

from rprnmf.remote import RemoteArray
from rprnmf.remote.local import LocalPool

pytest.importorskip("dask")


@pytest.fixture
def pair():
    """The same rows here and in blocks."""
    import dask

    A = np.random.default_rng(0).normal(size=(9, 3))
    with dask.config.set(scheduler="synchronous"):
        pool = LocalPool([2, 1, 6])
        parts = pool.scatter([A[:2], A[2:3], A[3:]])
        yield A.copy(), RemoteArray.of(parts, (3,), A.dtype)


def here(array):
    return array.gathered(np.arange(len(array)))


ROWS = {
    "product by numbers": lambda A: A * np.array([1.0, 2.0, 3.0]),
    "maximum": lambda A: np.maximum(A, 0.0),
    "product": lambda A: A @ np.ones((3, 2)),
    "where": lambda A: np.where(A > 0, A, 0.5),
    "einsum by rows": lambda A: np.einsum("ik,ik->i", A, A),
    "sum of a row": lambda A: A.sum(axis=1),
    "a column": lambda A: A[:, 1],
    "zeros": lambda A: np.zeros_like(A),
    "from the left": lambda A: np.float64(2.0) - A,
    "clip": lambda A: np.clip(np.nan_to_num(A / 0.3), 0.0, 1.0),
}
SUMS = {
    "sum": lambda A: A.sum(axis=0),
    "mean": lambda A: np.mean(A, axis=0),
    "mean of all": lambda A: A.mean(),
    "any": lambda A: (A > 2.0).any(axis=0),
    "largest": lambda A: A.max(axis=0),
    "einsum": lambda A: np.einsum("ik,ik->k", A, A, dtype=np.float64),
    "Gram": lambda A: A.T @ A,
    "weighted": lambda A: A[:, 0] @ A,
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_stay(pair, name):
    one, two = (ROWS[name](A) for A in pair)
    assert isinstance(two, RemoteArray)
    assert two.shape == one.shape
    assert two.dtype == one.dtype
    assert np.array_equal(here(two), one)


@pytest.mark.parametrize("name", SUMS)
def test_sums_come(pair, name):
    one, two = (SUMS[name](A) for A in pair)
    assert not isinstance(two, RemoteArray)
    assert np.allclose(two, one, rtol=1e-13)


def test_in_place(pair):
    for A in pair:
        A *= 2.0
        A[:, 1] = 7.0
        A[np.array([0, 2, 8])] = np.arange(9.0).reshape(3, 3)
        A[:] = A + 1.0
    assert np.array_equal(here(pair[1]), pair[0])


def test_what_is_written_in_place_reaches_no_copy(pair):
    A, B = pair
    kept = B.copy()
    B += 1.0
    assert np.array_equal(here(kept), A)


def test_values_that_nobody_holds_are_forgotten(pair):
    B = pair[1]
    for _ in range(20):
        B = B + 1.0
    here(B)
    here(B)
    assert max(len(store.values) for store in B.pool.stores) <= 5


def test_nothing_is_gathered_in_silence(pair):
    with pytest.raises(TypeError, match="lie in blocks"):
        np.asarray(pair[1])
