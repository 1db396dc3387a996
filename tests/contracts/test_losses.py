"""Every loss in every view of X."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition._nmf import _beta_divergence

from rprnmf.losses import LOSSES, get_loss
from rprnmf.losses.beta_divergence import BetaDivergence
from rprnmf.observed import make_view
from tests.builders import LAYOUTS, random_mask, random_matrix, random_view

BETAS = (-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
EVERY = (*LOSSES, *(beta for beta in BETAS if beta not in (0.0, 1.0, 2.0)))


def zeros_for(name):
    """Share of zeros in X: a loss with beta <= 0 takes none."""
    beta = get_loss(name).beta
    return 0.0 if beta is not None and beta <= 0 else 0.2


def slow_value(loss, X, mask, F, G):
    """From the definition, entry by entry."""
    Y, b = F @ G.T, loss.beta
    safe = np.where(X > 0, X, 1.0)
    if b == 1:
        values = np.where(X > 0, X * np.log(safe / Y), 0.0) - X + Y
    elif b == 0:
        values = X / Y - np.log(X / Y) - 1
    else:
        power = np.where(X > 0, safe**b, 0.0)
        values = (power + (b - 1) * Y**b - b * X * Y ** (b - 1)) / (b * (b - 1))
    return loss.times_sklearn * np.sum(values[mask])


@pytest.fixture(params=EVERY, ids=str)
def loss(request):
    return get_loss(request.param)


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return request.param


@pytest.fixture
def case(loss, layout):
    rng = np.random.default_rng(0)
    view, X, mask = random_view(rng, layout, zeros=zeros_for(loss.beta))
    return view, X, mask, rng.random((9, 3)) + 0.1, rng.random((7, 3)) + 0.1


def test_value_is_the_sum_over_observed_entries(loss, case):
    view, X, mask, F, G = case
    expected = slow_value(loss, X, mask, F, G)
    assert loss.value(view, F, G) == pytest.approx(expected, rel=1e-12)
    assert loss.value(view.T, G, F) == pytest.approx(expected, rel=1e-12)


def test_split_is_the_gradient_in_two_non_negative_parts(loss, case):
    view, _, _, F, G = case
    for v, A, B in ((view, F, G), (view.T, G, F)):
        parts = loss.split(v, A, B)
        assert (parts.positive >= 0).all()
        assert (parts.negative >= 0).all()
        gradient = np.empty_like(A)
        step = 1e-6
        for place in np.ndindex(*A.shape):
            up, down = A.copy(), A.copy()
            up[place] += step
            down[place] -= step
            gradient[place] = (loss.value(v, up, B) - loss.value(v, down, B)) / (2 * step)
        np.testing.assert_allclose(parts.gradient, gradient, rtol=1e-6, atol=1e-6)


def test_its_step_never_raises_the_loss(loss, case):
    """Of two steps in a row with the exponent that the loss names."""
    view, _, _, F, G = case
    assert loss.step_exponent is not None
    before = loss.value(view, F, G)
    for _ in range(2):
        for v, own in ((view, True), (view.T, False)):
            A, B = (F, G) if own else (G, F)
            parts = loss.split(v, A, B)
            A = A * (parts.negative / np.maximum(parts.positive, 1e-300)) ** loss.step_exponent
            F, G = (A, G) if own else (F, A)
            after = loss.value(view, F, G)
            assert after <= before * (1 + 1e-12)
            before = after


def test_a_mask_that_hides_nothing_is_no_mask(loss):
    rng = np.random.default_rng(1)
    X = random_matrix(rng, 8, 6, zeros=0.0)
    F, G = rng.random((8, 2)), rng.random((6, 2))
    full = make_view(X)
    views = make_view(X, "nan"), make_view(X, "zero"), make_view(sp.csr_array(X), "zero")
    for view in (*views, make_view(sp.csr_array(X)), make_view(np.asfortranarray(X))):
        assert loss.value(view, F, G) == pytest.approx(loss.value(full, F, G))
        ours, theirs = loss.split(view, F, G), loss.split(full, F, G)
        np.testing.assert_allclose(ours.positive, theirs.positive)
        np.testing.assert_allclose(ours.negative, theirs.negative)
        assert loss.unit(view) == pytest.approx(loss.unit(full))
        assert view.spread() == pytest.approx(full.spread())


def test_single_precision_stays_and_agrees(loss, layout):
    rng = np.random.default_rng(2)
    zeros = zeros_for(loss.beta)
    double, _, _ = random_view(np.random.default_rng(3), layout, zeros=zeros)
    single, _, _ = random_view(np.random.default_rng(3), layout, dtype=np.float32, zeros=zeros)
    F, G = rng.random((9, 3)), rng.random((7, 3))
    F32, G32 = F.astype(np.float32), G.astype(np.float32)
    parts = loss.split(single, F32, G32)
    assert parts.positive.dtype == parts.negative.dtype == np.float32
    exact = loss.split(double, F, G)
    np.testing.assert_allclose(parts.positive, exact.positive, rtol=1e-5)
    np.testing.assert_allclose(parts.negative, exact.negative, rtol=1e-5)
    assert loss.value(single, F32, G32) == pytest.approx(loss.value(double, F, G), rel=1e-5)


def test_all_numbers_grow_with_x_as_powers_of_its_unit(loss, case):
    view, _, _, F, G = case
    scaled, s, b = view.scaled(8.0), 8.0, loss.beta
    assert loss.value(scaled, s * F, G) == pytest.approx(s**b * loss.value(view, F, G))
    assert loss.unit(scaled) == pytest.approx(s**b * loss.unit(view))
    assert loss.curvature(scaled) == pytest.approx(s ** (b - 2) * loss.curvature(view))
    parts = loss.split(scaled, s * F, G).times(1 / s ** (b - 1))
    np.testing.assert_allclose(parts, loss.split(view, F, G))


def test_curvature_is_that_of_an_entry_near_the_mean(loss):
    x = np.array([[3.0]])
    one = np.ones((1, 1))
    found = loss.value(make_view(x), x * 1.001, one) / 0.003**2
    assert found == pytest.approx(loss.curvature(make_view(x)), rel=1e-2)


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("sparse", [False, True])
def test_beta_divergence_is_scikit_learns(beta, sparse):
    rng = np.random.default_rng(4)
    X = random_matrix(rng, 12, 9, zeros=0.3 if beta > 0 else 0.0)
    F, G = rng.random((12, 4)), rng.random((9, 4))
    data = sp.csr_array(X) if sparse else X
    theirs = _beta_divergence(data, F, G.T, beta)
    assert BetaDivergence(beta).value(make_view(data), F, G) == pytest.approx(theirs, rel=1e-12)
    loss = get_loss(beta)
    found = loss.value(make_view(data), F, G)
    assert found == pytest.approx(loss.times_sklearn * theirs, rel=1e-12)
    root = _beta_divergence(data, F, G.T, beta, square_root=True)
    assert loss.reconstruction_err(found) == pytest.approx(root, rel=1e-12)


@pytest.mark.parametrize("near", [0.0, 1.0, 2.0])
def test_betas_next_to_a_named_one_give_almost_the_same(near):
    """The definition has 0 / 0 there, and a formula that divides loses all digits."""
    rng = np.random.default_rng(5)
    view = make_view(random_matrix(rng, 12, 9, zeros=0.0))
    F, G = rng.random((12, 4)), rng.random((9, 4))
    exact = BetaDivergence(near).value(view, F, G)
    for step in (1e-13, 1e-9, -1e-9, -1e-13):
        assert BetaDivergence(near + step).value(view, F, G) == pytest.approx(exact, rel=1e-7)


@pytest.mark.parametrize("beta", [-20.0, -2.0, 0.0, 0.3, 1.7, 2.5, 20.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_finite_data_give_finite_numbers(beta, dtype):
    """Even where the model is zero, and entries lie a million times apart."""
    rng = np.random.default_rng(6)
    X = (10.0 ** rng.uniform(-3, 3, size=(6, 5))).astype(dtype) / dtype(100)
    F, G = rng.random((6, 2)).astype(dtype), rng.random((5, 2)).astype(dtype)
    F[0], G[1] = 0, 0
    loss, view = BetaDivergence(beta), make_view(X)
    parts = loss.split(view, F, G)
    assert np.isfinite(parts).all()
    assert np.isfinite(loss.value(view, F, G))
    assert 0 < loss.unit(view) < np.inf
    assert 0 < loss.curvature(view) < np.inf


@pytest.mark.parametrize("missing", [None, "nan", "zero"])
def test_zeros_are_refused_where_the_loss_is_infinite(missing):
    X = sp.csr_array(np.array([[1.0, 2.0], [3.0, 4.0]]))
    X.data[0] = 0.0  # stored: an observation under every rule
    for beta in (-0.5, 0.0, "itakura-saito"):
        with pytest.raises(ValueError, match=r"beta_loss <= 0 and X contains zeros.* 1 zeros"):
            get_loss(beta).check(make_view(X, missing))
    get_loss(0.5).check(make_view(X, missing))
    holes = sp.csr_array(np.array([[1.0, 0.0], [3.0, 4.0]]))
    get_loss(0).check(make_view(holes, "zero"))


def test_numbers_and_names_of_losses():
    assert get_loss(2) is get_loss(2.0) is get_loss("frobenius")
    assert get_loss(1) is get_loss("kullback-leibler")
    assert get_loss(0.0) is get_loss("itakura-saito")
    assert get_loss(np.float32(1.5)).beta == 1.5
    with pytest.raises(ValueError, match="must be a number or one of"):
        get_loss("euclidean")
    with pytest.raises(ValueError, match="finite"):
        get_loss(np.inf)


def test_no_model_of_the_size_of_x_is_made(monkeypatch):
    """A sparse matrix is looked at some rows at a time, and with the same result."""
    rng = np.random.default_rng(7)
    X = random_matrix(rng, 30, 8, zeros=0.7)
    X[3, 2] = np.nan
    F, G = rng.random((30, 3)), rng.random((8, 3))
    loss = get_loss(1.5)
    view = make_view(sp.csr_array(X), "nan")
    whole, parts = loss.value(view, F, G), loss.split(view, F, G)
    monkeypatch.setattr("rprnmf.observed.blocks.CACHED", 20)
    assert max(block.y.size for block in view.model_blocks(F, G)) <= 20
    assert loss.value(view, F, G) == pytest.approx(whole, rel=1e-12)
    np.testing.assert_allclose(loss.split(view, F, G), parts)


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
