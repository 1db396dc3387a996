"""Compiled loops against plain numpy."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf.observed import make_view
from rprnmf.penalties import DISTANCES
from rprnmf.solvers.column_sums import make_column_sums
from rprnmf.threads import map_blocks, row_blocks
from tests.builders import LAYOUTS, random_mask, random_matrix, random_view


@pytest.fixture
def masked():
    rng = np.random.default_rng(0)
    X, mask = random_matrix(rng, 11, 8), random_mask(rng, 11, 8)
    view = make_view(np.where(mask, X, np.nan), "nan")
    return view, X, mask, rng.random((11, 4)), rng.random((8, 4))


def test_products_with_stored_entries(masked):
    view, X, mask, F, G = masked
    entries, Y = view.stored(), F @ G.T
    np.testing.assert_allclose(entries.times(G), (mask * X) @ G)
    np.testing.assert_allclose(entries.ones_times(G), mask @ G)
    np.testing.assert_allclose(entries.model_times(F, G), (mask * Y) @ G)
    np.testing.assert_allclose(entries.ratio_times(F, G, 1e-20), (mask * X / Y) @ G)
    np.testing.assert_allclose(entries.model(F, G), Y[mask])
    np.testing.assert_allclose(entries.T.model(G, F), Y.T[mask.T])
    assert entries.squared_error(F, G) == pytest.approx(
        (np.sum((X - Y)[mask] ** 2), np.sum(Y[mask] ** 2))
    )


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_any_length_are_asked_for_ahead(dtype, order):
    """Whatever is asked of the memory, the products stay what they are."""
    rng = np.random.default_rng(3)
    lengths = [0, 1, 12, 13, 0, 40, 2, 0]
    rows = [np.isin(np.arange(40), rng.permutation(40)[:size]) for size in lengths]
    X = np.array(rows) * (1.0 + rng.random((len(lengths), 40)))
    view = make_view(sp.csr_array(X.astype(dtype)), "zero")
    G = np.asarray(rng.random((40, 19)), dtype=dtype, order=order)
    np.testing.assert_allclose(view.stored().times(G), X @ G, rtol=1e-5)
    np.testing.assert_allclose(view.stored().ones_times(G), (X > 0) @ G, rtol=1e-5)


@pytest.mark.parametrize("divergence", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_column_sums_follow_rank_one_changes(layout, divergence):
    rng = np.random.default_rng(1)
    view, X, mask = random_view(rng, layout)
    W, Ht = rng.random((9, 4)), rng.random((7, 4))
    products = make_column_sums(view, "divergence" if divergence else "quadratic")

    def slow(k):
        Y = W @ Ht.T
        if divergence:
            A, B = mask * np.divide(X, Y), mask.astype(float)
        else:
            A, B = mask * X, mask * Y
        return A @ Ht[:, k], B @ Ht[:, k], A.T @ W[:, k], B.T @ W[:, k]

    products.begin(W, Ht)
    for k in range(4):
        above, below = products.rows(k)
        np.testing.assert_allclose(above, slow(k)[0], rtol=1e-12)
        np.testing.assert_allclose(below, slow(k)[1], rtol=1e-12)
        W[:, k] *= rng.random(9) * 2
        above, below = products.columns(k)
        np.testing.assert_allclose(above, slow(k)[2], rtol=1e-12)
        np.testing.assert_allclose(below, slow(k)[3], rtol=1e-12)
        Ht[:, k] *= rng.random(7) * 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("divergence", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_both_half_steps_in_one_are_one_after_the_other(layout, divergence, dtype):
    rng = np.random.default_rng(4)
    view, _, _ = random_view(rng, layout, dtype=dtype)
    starts = rng.random((9, 4)).astype(dtype), rng.random((7, 4)).astype(dtype)
    starts[0][:, 1] *= 1e6  # what this column holds of the model goes in the first sweep
    starts[1][:, 3] *= 1e-9
    found = []
    for at_once in (False, True):
        W, Ht = (F.copy() for F in starts)
        products = make_column_sums(view, "divergence" if divergence else "quadratic")
        for _ in range(3):
            products.begin(W, Ht)
            for k in range(4):
                if at_once:
                    above, below = products.columns_after(k, 1e-12)
                else:
                    above, below = products.rows(k)
                    W[:, k] = W[:, k] * above / np.maximum(below, 1e-12)
                    above, below = products.columns(k)
                Ht[:, k] = Ht[:, k] * above / np.maximum(below, 1e-12)
                Ht[:, k] *= 1e-9  # what a step leaves of the model is mostly this
        found.append((W, Ht))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12 if dtype == np.float64 else 1e-4)


def test_a_matrix_by_columns_is_the_same_matrix():
    rng = np.random.default_rng(5)
    X, F, G = random_matrix(rng, 11, 8), rng.random((11, 4)), rng.random((8, 4))
    X[2, 3] = 0.0
    rows, columns = (make_view(np.asarray(X, order=order), None) for order in "CF")
    assert columns.by_columns
    assert not rows.by_columns
    for name in ("ratio_times", "divergence", "squared_error"):
        one, other = getattr(rows, name)(F, G), getattr(columns, name)(F, G)
        np.testing.assert_allclose(one, other, rtol=1e-13)


def test_the_model_keeps_its_digits_when_nearly_all_of_it_goes():
    """Component after component shrinks by 1e-14: what is left must still be right."""
    rng = np.random.default_rng(2)
    X = rng.random((5, 6)) + 0.5
    view = make_view(np.where(np.eye(5, 6) > 0, np.nan, X), "nan")
    W, Ht = rng.random((5, 4)), rng.random((6, 4))
    products = make_column_sums(view, "divergence")
    products.begin(W, Ht)
    for k in range(4):
        products.rows(k)
        W[:, k] *= 1e-14
        products.columns(k)
    above, _ = products.rows(0)
    ratio = np.where(np.eye(5, 6) > 0, 0.0, X / (W @ Ht.T))
    np.testing.assert_allclose(above, ratio @ Ht[:, 0], rtol=1e-9)


@pytest.mark.parametrize("name", DISTANCES)
def test_pair_distances(name):
    rng = np.random.default_rng(3)
    F, i, j = rng.random((6, 3)), rng.integers(6, size=10), rng.integers(6, size=10)
    x, y = F[i], F[j]
    expected = {
        "euclidean": ((x - y) ** 2).sum(axis=1),
        "divergence": 0.5 * ((x - y) * np.log(x / y)).sum(axis=1),
    }[name]
    np.testing.assert_allclose(DISTANCES[name]().values(F, i, j), expected, atol=1e-15)


def test_blocks_cover_all_rows_once_whatever_the_costs():
    rng = np.random.default_rng(4)
    for n in (1, 2, 17, 400):
        cost = np.concatenate(([0], np.cumsum(rng.integers(0, 100_000, size=n))))
        blocks = row_blocks(cost)
        covered = [row for start, stop in blocks for row in range(start, stop)]
        assert covered == list(range(n))
        assert map_blocks(lambda a, b: b - a, blocks, 3) == [b - a for a, b in blocks]


FITS = """
import hashlib, warnings
import numpy as np
from rprnmf import GNMF, RPRNMF, Triplets

warnings.simplefilter("ignore")
X = np.random.default_rng(0).random((60, 50)) + 0.05
known = Triplets([[i, i + 1, i + 2] for i in range(0, 45, 3)])
usual = dict(beta_loss="kullback-leibler", max_iter=15, tol=0, random_state=0, init="random")
W = RPRNMF(5, solver="paper", **usual).fit_transform(X, row_triplets=known)
V = GNMF(5, row_graph="knn", **usual).fit_transform(X)
print(hashlib.sha256(W.tobytes()).hexdigest(), hashlib.sha256(V.tobytes()).hexdigest())
"""


def test_a_run_that_compiles_gives_what_later_ones_give(tmp_path):
    """To the last digit: what was compiled is what is kept on disk."""
    settings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", FITS], env=settings, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    )
    assert list(tmp_path.rglob("*.nbc"))
    assert len(first) > 100
    assert first == second
