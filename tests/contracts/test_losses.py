"""Every loss in every view of X."""

from __future__ import annotations

import numpy as np
import pytest

from rprnmf.losses import LOSSES
from rprnmf.observed import make_view
from tests.builders import LAYOUTS, random_mask, random_matrix, random_view


def slow_value(name, X, mask, F, G):
    Y = F @ G.T
    if name == "frobenius":
        return np.sum((X - Y)[mask] ** 2)
    logs = np.where(X > 0, X * np.log(np.where(X > 0, X, 1.0) / Y), 0.0)
    return np.sum((logs - X + Y)[mask])


@pytest.fixture(params=LAYOUTS)
def case(request):
    rng = np.random.default_rng(0)
    view, X, mask = random_view(rng, request.param)
    return view, X, mask, rng.random((9, 3)) + 0.1, rng.random((7, 3)) + 0.1


@pytest.mark.parametrize("name", LOSSES)
def test_value_is_the_sum_over_observed_entries(name, case):
    view, X, mask, F, G = case
    expected = slow_value(name, X, mask, F, G)
    assert LOSSES[name].value(view, F, G) == pytest.approx(expected, rel=1e-12)
    assert LOSSES[name].value(view.T, G, F) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_split_is_the_gradient_in_two_non_negative_parts(name, case):
    view, _, _, F, G = case
    for v, A, B in ((view, F, G), (view.T, G, F)):
        parts = LOSSES[name].split(v, A, B)
        assert (parts.positive >= 0).all()
        assert (parts.negative >= 0).all()
        gradient = np.empty_like(A)
        step = 1e-6
        for place in np.ndindex(*A.shape):
            up, down = A.copy(), A.copy()
            up[place] += step
            down[place] -= step
            rise = LOSSES[name].value(v, up, B) - LOSSES[name].value(v, down, B)
            gradient[place] = rise / (2 * step)
        np.testing.assert_allclose(parts.gradient, gradient, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_a_mask_that_hides_nothing_is_no_mask(name):
    rng = np.random.default_rng(1)
    X = random_matrix(rng, 8, 6, zeros=0.0)
    F, G = rng.random((8, 2)), rng.random((6, 2))
    import scipy.sparse as sp

    full = make_view(X)
    for view in (make_view(X, "nan"), make_view(sp.csr_array(X), "zero"), make_view(X, "zero")):
        assert LOSSES[name].value(view, F, G) == pytest.approx(LOSSES[name].value(full, F, G))
        ours, theirs = LOSSES[name].split(view, F, G), LOSSES[name].split(full, F, G)
        np.testing.assert_allclose(ours.positive, theirs.positive)
        np.testing.assert_allclose(ours.negative, theirs.negative)
        assert LOSSES[name].unit(view) == pytest.approx(LOSSES[name].unit(full))
        assert view.spread() == pytest.approx(full.spread())


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_single_precision_stays_and_agrees(name, layout):
    rng = np.random.default_rng(2)
    double, _, _ = random_view(np.random.default_rng(3), layout)
    single, _, _ = random_view(np.random.default_rng(3), layout, dtype=np.float32)
    F, G = rng.random((9, 3)), rng.random((7, 3))
    F32, G32 = F.astype(np.float32), G.astype(np.float32)
    parts = LOSSES[name].split(single, F32, G32)
    assert parts.positive.dtype == parts.negative.dtype == np.float32
    exact = LOSSES[name].split(double, F, G)
    np.testing.assert_allclose(parts.positive, exact.positive, rtol=1e-5)
    np.testing.assert_allclose(parts.negative, exact.negative, rtol=1e-5)
    assert LOSSES[name].value(single, F32, G32) == pytest.approx(
        LOSSES[name].value(double, F, G), rel=1e-5
    )


def test_spread_is_the_mean_squared_distance_between_rows():
    X = random_matrix(np.random.default_rng(4), 12, 5)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    assert make_view(X).spread() == pytest.approx(squared.mean())
    assert make_view(X).T.spread() == pytest.approx(
        ((X.T[:, None] - X.T[None]) ** 2).sum(axis=2).mean()
    )


def test_extremes_count_missing_entries_as_zero():
    X = np.array([[2.0, 3.0], [5.0, 4.0]])
    assert make_view(X).extremes() == (2.0, 5.0)
    X[0, 0] = np.nan
    assert make_view(X, "nan").extremes() == (0.0, 5.0)


def test_no_view_of_incomplete_data_is_dense():
    mask = random_mask(np.random.default_rng(5), 40, 30, share=0.05)
    view = make_view(np.where(mask, 1.0, np.nan), "nan")
    assert view.n_observed == mask.sum()
    assert len(view.stored().data) == mask.sum()


def test_a_loss_that_changes_its_value_does_not_inherit_what_solvers_may_know():
    class Twice(type(LOSSES["frobenius"])):
        def value(self, view, F, G):
            return 2.0 * super().value(view, F, G)

    class Renamed(type(LOSSES["frobenius"])):
        """The same function."""

    class Stated(Twice):
        row_problem = "quadratic"

        def split(self, view, F, G):
            return super().split(view, F, G).times(2.0)

    assert Twice.row_problem is None
    assert Twice.step_exponent is None
    assert Renamed.row_problem == "quadratic"
    assert Stated.row_problem == "quadratic"
    assert Stated.step_exponent is None
