"""`transform` with divergences: every row at its own minimum, whatever comes with it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf import NMF
from rprnmf.losses import get_loss
from rprnmf.objective import Problem, Side
from rprnmf.observed import make_view
from rprnmf.solvers.fold_in import flat_rows, fold_in

N, M, K = 23, 37, 5
LAYOUTS = ("dense", "fortran", "sparse", "nan", "zero", "holes")
FULL, UNSEEN, EMPTY, LARGE = 3, 8, 7, 5  # rows


def data(rng, dtype, large=1.0):
    """X with zeros, one row of which is ``large`` times as large, and what is observed of it."""
    X = (rng.random((N, K)) * (rng.random((N, K)) < 0.5)) @ rng.random((K, M))
    X += 0.01 * rng.random((N, M))
    X[rng.random((N, M)) < 0.3] = 0.0
    X[FULL], X[EMPTY] = rng.random(M) + 0.1, 0.0
    X[LARGE] *= large
    seen = rng.random((N, M)) < 0.6
    seen[FULL], seen[UNSEEN] = True, False
    return X.astype(dtype), seen


def laid_out(X, seen, layout):
    """X in one of the layouts, and the word for what is missing."""
    if layout == "nan":
        return np.where(seen, X, X.dtype.type(np.nan)), "nan"
    if layout == "holes":
        S = sp.csr_array(X)
        S.data = np.where(np.arange(S.nnz) % 17 == 3, S.dtype.type(np.nan), S.data)
        return S, "nan"
    made = {"dense": X, "fortran": np.asfortranarray(X)}.get(layout, sp.csr_array(X))
    return made, "zero" if layout == "zero" else None


def overlapping(rng, m=M, k=K):
    """Components that look alike, so that coordinates hinder each other."""
    return rng.random((m, 1)) + 0.3 * rng.random((m, k)) + 0.01


@pytest.mark.parametrize("large", [1.0, 1e10])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_row_comes_out_the_same_whatever_comes_with_it(layout, dtype, large):
    rng = np.random.default_rng(0)
    X, missing = laid_out(*data(rng, dtype), layout)
    model = NMF(K, beta_loss="kullback-leibler", missing=missing, init="random", random_state=0)
    model.set_params(alpha_W=0.003, alpha_H=0.0, l1_ratio=0.5, max_iter=30, tol=0.0).fit(X)
    model.set_params(max_iter=200, tol=1e-4)
    new, _ = laid_out(*data(rng, dtype, large), layout)
    W = model.transform(new)
    alone = np.concatenate([model.transform(new[[i]]) for i in range(N)])
    np.testing.assert_array_equal(W, alone)
    np.testing.assert_array_equal(W[2:11], model.transform(new[2:11]))
    assert (W[[EMPTY]] == 0).all()


@pytest.mark.parametrize("alpha", [0.0, 0.003])
@pytest.mark.parametrize("beta", [-1.0, "itakura-saito", 0.5, 1.5, 2.5])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_so_it_does_by_multiplicative_steps(layout, beta, alpha):
    rng = np.random.default_rng(0)
    dtype = np.float32
    without_zeros = dtype(0.05 if beta in (-1.0, "itakura-saito") else 0.0)
    X, seen = data(rng, dtype)
    X, missing = laid_out(X + without_zeros, seen, layout)
    model = NMF(K, beta_loss=beta, solver="mu", missing=missing, init="random", random_state=0)
    model.set_params(alpha_W=alpha, alpha_H=0.0, l1_ratio=0.5, max_iter=30, tol=0.0).fit(X)
    model.set_params(max_iter=200, tol=1e-4)
    for large in (1.0, 1e10):
        new, seen = data(rng, dtype, large)
        new, _ = laid_out(new + without_zeros, seen, layout)
        W = model.transform(new)
        alone = np.concatenate([model.transform(new[[i]]) for i in range(N)])
        apart = np.abs(W - alone).max(axis=1)
        assert (apart <= 1e-5 * alone.max(axis=1)).all()


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("beta", [-1.0, 0.0, 0.5, 1.5, 2.5, 4.0])
def test_multiplicative_steps_raise_the_sum_of_no_row(beta, l1_ratio):
    rng = np.random.default_rng(4)
    X = rng.gamma(0.5, 1.0, (N, M)) + 0.01
    view, B, loss = make_view(X), rng.gamma(0.5, 1.0, (M, K)), get_loss(beta)
    for strength in (1e-3, 1.0, 1e3, 1e6):
        l1, l2 = np.full(N, l1_ratio * strength), np.full(N, (1 - l1_ratio) * strength)
        problem = Problem(view, beta, rows=Side(l1=l1, l2=l2), only_rows=True)
        before = np.full(N, np.inf)
        for max_iter in (1, 2, 3, 5, 10):
            F = fold_in(problem, B, None, max_iter, 0.0)
            after = l1 * F.sum(axis=1) + l2 * (F**2).sum(axis=1)
            for i in range(N):
                after[i] += loss.value(view.take(np.array([i])), F[[i]], B)
            assert (after <= before * (1 + 1e-12)).all()
            before = after


def row_sums(view, F, B, side):
    """The sum of each row that `fold_in` minimises, but for what F does not change."""
    total = np.zeros(len(F))
    for i, one in enumerate(np.arange(len(F))[:, None]):
        total[i] = view.take(one).divergence(F[one], B)
    if side.l1 is not None:
        total += side.l1 * F.sum(axis=1) + side.l2 * (F**2).sum(axis=1)
    return total


@pytest.mark.parametrize("norms", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_new_rows_are_at_their_minimum_after_few_steps(layout, norms):
    rng = np.random.default_rng(1)
    X, missing = laid_out(*data(rng, np.float64), layout)
    view, B = make_view(X, missing), overlapping(rng)
    side = Side(l1=0.1 * rng.random(N), l2=0.1 * rng.random(N)) if norms else Side()
    problem = Problem(view, "kullback-leibler", rows=side, only_rows=True)
    F = fold_in(problem, B, None, 20, 1e-4)  # twenty sweeps by coordinates are far too few
    slope = view.ones_times(B) - view.ratio_times(F, B)
    if norms:
        slope = slope + side.l1[:, None] + 2.0 * side.l2[:, None] * F
    scale = 1e-6 * view.ones_times(B).max()
    some = view.row_counts > 0
    assert (slope[some] > -scale).all()
    assert (np.abs(slope * F)[some] <= scale * F.max()).all()


@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_steps_that_go_too_far_are_halved(spread):
    rng = np.random.default_rng(3)
    X = np.exp(3.0 * rng.standard_normal((300, 40))) * (rng.random((300, 40)) < 0.4)
    view, B = make_view(X), np.exp(spread * rng.standard_normal((40, 20)))
    F = fold_in(Problem(view, "kullback-leibler", only_rows=True), B, None, 200, 1e-6)
    slope = 1.0 - view.ratio_times(F, B) / view.ones_times(B)  # in units of the charge for F
    held = F * view.ones_times(B) <= 1e-6 * X.sum(axis=1, keepdims=True)
    assert np.where(held, -slope, np.abs(slope)).max() < 1e-5


@pytest.mark.parametrize("max_iter", [1, 2, 3, 4])
def test_no_sum_of_a_row_is_above_that_of_its_start(max_iter):
    rng = np.random.default_rng(2)
    X, _ = data(rng, np.float64)
    X[rng.random((N, M)) < 0.7] = 0.0
    view = make_view(X)
    for strength in (1e-6, 1e-3, 1.0):
        B = rng.random((M, K)) * (rng.random((M, K)) < 0.5)
        side = Side(l1=np.zeros(N), l2=np.full(N, strength))
        problem = Problem(view, "kullback-leibler", rows=side, only_rows=True)
        start, F = flat_rows(problem, B), fold_in(problem, B, None, max_iter, 1e-4)
        before = row_sums(view, start, B, side)
        assert (row_sums(view, F, B, side) <= before + 1e-9 * np.abs(before)).all()
