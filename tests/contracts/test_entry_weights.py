"""Weights of entries, and missing entries that count as weak zeros."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.decomposition._nmf import _beta_divergence
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from rprnmf import GNMF, LCNMF, NMF, RPRNMF
from rprnmf.losses import LOSSES, get_loss
from rprnmf.objective import Objective, Problem, Side
from rprnmf.observed import FullSparse, Masked, Weighted, hold_out, make_view
from rprnmf.observed.entries import Entries
from rprnmf.solvers.row_descent import RowDescent, Visit
from tests.builders import (
    LAYOUTS,
    ROW_LOSSES,
    lay_out,
    random_graph,
    random_mask,
    random_matrix,
    random_triplets,
)
from tests.oracles import weights as slow

N, M, K = 13, 11, 3
RESTS = (0.0, 0.3, 1.0)


def weights_like(data, weights):
    """The weights in the layout of the data."""
    if not sp.issparse(data):
        return weights
    rows = np.repeat(np.arange(data.shape[0]), np.diff(data.indptr))
    return sp.csr_array((weights[rows, data.indices], data.indices, data.indptr), shape=data.shape)


def draw(layout, seed=0, dtype=np.float64, zeros=0.2):
    """Data and weights as a user gives them, and values and weights of all entries."""
    rng = np.random.default_rng(seed)
    X, mask = random_matrix(rng, N, M, zeros=zeros), random_mask(rng, N, M)
    C = rng.gamma(1.0, 1.0, size=(N, M))
    data, missing = lay_out(X.astype(dtype), mask, layout)
    rest = 0.0 if missing is None else 0.3
    return data, missing, weights_like(data, C), rest, *slow.dense_problem(X, mask, layout, C, rest)


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return request.param


@pytest.fixture
def case(layout):
    data, missing, given, rest, X, C = draw(layout)
    view = make_view(data, missing, None, given, rest)
    assert isinstance(view, Weighted)
    rng = np.random.default_rng(1)
    return view, X, C, rng.random((N, K)) + 0.1, rng.random((M, K)) + 0.1


def test_every_sum_is_weighted(case):
    view, X, C, F, G = case
    Y = F @ G.T
    np.testing.assert_allclose(view.times(G), (C * X) @ G)
    np.testing.assert_allclose(view.ones_times(G), C @ G)
    np.testing.assert_allclose(view.model_times(F, G), (C * Y) @ G)
    np.testing.assert_allclose(view.ratio_times(F, G), (C * X / Y) @ G)
    for k in range(K):
        expected = (C * Y) @ G[:, k]
        np.testing.assert_allclose(view.model_times_column(F, G, k), expected)
    assert view.squared_error(F, G) == pytest.approx(slow.squared_error(X, C, Y), rel=1e-12)
    assert view.divergence(F, G) == pytest.approx(slow.divergence(X, C, Y), rel=1e-12)
    assert view.mass == pytest.approx(C.sum())
    assert view.total == pytest.approx(np.sum(C * X))
    assert view.squares == pytest.approx(np.sum(C * X**2))
    assert view.power_sum(1.5) == pytest.approx(np.sum(C * X**1.5))
    assert view.mean == pytest.approx(np.sum(C * X) / C.sum())
    assert view.n_observed == np.count_nonzero(C)
    np.testing.assert_allclose(view.row_counts, C.sum(axis=1))
    np.testing.assert_allclose(view.row_shares, (C > 0).mean(axis=1))


def test_parts_of_a_weighted_matrix_keep_their_weights(case):
    view, X, C, F, G = case
    rows = np.array([4, 1, 7])
    part = view.take(rows)
    expected = slow.squared_error(X[rows], C[rows], F[rows] @ G.T)
    assert part.squared_error(F[rows], G) == pytest.approx(expected)
    assert view.T.squared_error(G, F) == pytest.approx(view.squared_error(F, G))
    assert view.scaled(3.0).squares == pytest.approx(9 * view.squares)
    for moment, power in zip(view.column_moments(), (0, 1, 2), strict=True):
        np.testing.assert_allclose(moment, np.sum(C * X**power, axis=0))


@pytest.mark.parametrize("name", [*LOSSES, 0.5, 1.5, 3.0], ids=str)
def test_every_loss_is_weighted_and_its_split_is_its_gradient(name, layout):
    loss = get_loss(name)
    zeros = 0.0 if loss.beta is not None and loss.beta <= 0 else 0.2
    data, missing, given, rest, X, C = draw(layout, zeros=zeros)
    if zeros == 0.0:
        C, rest = np.where(X > 0, C, 0.0), 0.0
    view = make_view(data, missing, None, given, rest)
    rng = np.random.default_rng(1)
    F, G = rng.random((N, K)) + 0.1, rng.random((M, K)) + 0.1
    Y = F @ G.T
    expected = 0.0
    for i, j in zip(*np.nonzero(C), strict=True):
        entry = _beta_divergence(X[[i]][:, [j]], Y[[i]][:, [j]], np.eye(1), loss.beta)
        expected += C[i, j] * loss.times_sklearn * entry
    assert loss.value(view, F, G) == pytest.approx(expected, rel=1e-9)
    for own, A, B in ((view, F, G), (view.T, G, F)):
        parts = loss.split(own, A, B)
        assert (parts.positive >= 0).all()
        assert (parts.negative >= 0).all()
        for place in ((0, 0), (3, 1), (7, 2)):
            up, down = A.copy(), A.copy()
            up[place] += 1e-6
            down[place] -= 1e-6
            slope = (loss.value(own, up, B) - loss.value(own, down, B)) / 2e-6
            assert parts.gradient[place] == pytest.approx(slope, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("rest", [0.0, 1.0])
def test_weights_of_one_are_no_weights(rest):
    rng = np.random.default_rng(2)
    X, mask = random_matrix(rng, N, M), random_mask(rng, N, M)
    data, _ = lay_out(X, mask, "sparse-zero")
    entries = Entries(data)
    plain = Masked(entries) if rest == 0 else FullSparse(entries)
    view = Weighted(entries, entries.replaced(np.ones_like(entries.data)), rest)
    F, G = rng.random((N, K)), rng.random((M, K))
    for name in LOSSES:
        if name == "itakura-saito":
            continue
        loss = get_loss(name)
        assert loss.value(view, F, G) == pytest.approx(loss.value(plain, F, G))
        assert loss.unit(view) == pytest.approx(loss.unit(plain))
        for ours, theirs in zip(loss.split(view, F, G), loss.split(plain, F, G), strict=True):
            np.testing.assert_allclose(ours, theirs)
    assert view.spread() == pytest.approx(plain.spread())
    assert view.gappy == plain.gappy
    assert view.n_observed == plain.n_observed


def test_missing_entries_that_weigh_as_much_as_others_are_zeros():
    rng = np.random.default_rng(3)
    X = random_matrix(rng, N, M, zeros=0.6)
    for data in (X, sp.csr_array(X)):
        assert isinstance(make_view(data, "zero", None, None, 1.0), FullSparse)


def test_entries_without_weight_are_missing():
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    C = np.array([[1.0, 0.0], [1.0, 1.0]])
    view = make_view(X, None, None, C)
    assert view.n_observed == 3
    np.testing.assert_array_equal(view.stored().matrix().toarray(), [[1, 0], [3, 4]])


def test_entries_held_out_keep_their_weights(case):
    view, X, C, F, G = case
    train, test = hold_out(view, lambda rows, columns: (rows + columns) % 3 == 0)
    stored = view.stored().matrix().toarray() + (view.weights.matrix().toarray() > 0) > 0
    out = stored & ((np.arange(N)[:, None] + np.arange(M)) % 3 == 0)
    Y = F @ G.T
    assert test.squared_error(F, G) == pytest.approx(slow.squared_error(X, C * out, Y))
    left = np.where(out, view.rest if view.weak_zeros else 0.0, C)
    expected = slow.squared_error(np.where(out, 0.0, X), left, Y)
    assert train.squared_error(F, G) == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sweep_over_rows_is_that_of_plain_loops(layout, dtype):
    data, missing, given, rest, X, C = draw(layout, dtype=dtype)
    view = make_view(data, missing, 1, given, rest)
    rng = np.random.default_rng(4)
    l1, l2 = rng.random((2, N))
    problem = Problem(view, rows=Side(l1=l1, l2=l2), only_rows=True)
    objective = Objective(problem, K)
    F, G = rng.random((N, K)).astype(dtype), rng.random((M, K)).astype(dtype)
    descent = RowDescent(objective, 0, new_rows=True)
    new, loss = descent(F, G, objective.terms[0], visit=Visit(sweeps=1, share=0.0))
    expected = [slow.sweep_row(F[i], G, X[i], C[i], l1[i], l2[i]) for i in range(N)]
    rtol = 1e-9 if dtype == np.float64 else 2e-4
    np.testing.assert_allclose(new, expected, rtol=rtol, atol=rtol)
    exact = slow.squared_error(X, C, np.array(expected) @ G.T)
    assert loss is None or loss == pytest.approx(exact, rel=10 * rtol)


def test_new_rows_solve_weighted_least_squares(layout):
    data, missing, given, rest, X, C = draw(layout)
    parameters = {"missing": missing, "missing_weight": rest, "row_prior": None}
    model = NMF(K, random_state=0, max_iter=3000, tol=1e-9, column_prior=None, **parameters)
    model.fit(data, entry_weights=given)
    W = model.transform(data, entry_weights=given)
    for i in range(N):
        root = np.sqrt(C[i])
        exact, _ = nnls(root[:, None] * model.components_.T, root * X[i])
        np.testing.assert_allclose(W[i], exact, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("solver", ["cd", "mu"])
@pytest.mark.parametrize("beta_loss", ROW_LOSSES)
def test_no_step_improves_new_rows(beta_loss, solver, layout):
    """At the minimum slopes are 0, and not negative where a row is 0."""
    data, missing, given, rest, _, C = draw(layout)
    usual = {"missing": missing, "missing_weight": rest, "row_prior": None, "column_prior": None}
    model = NMF(K, beta_loss=beta_loss, solver=solver, alpha_W=0.01, random_state=0, **usual)
    model.set_params(max_iter=30, tol=0).fit(data, entry_weights=given)
    model.set_params(max_iter=2000, tol=1e-6)
    W, G = model.transform(data, entry_weights=given), model.components_.T
    view, loss = make_view(data, missing, None, given, rest), get_loss(beta_loss)
    l2 = 0.01 * loss.times_sklearn * C.sum(axis=1)[:, None]
    slope = loss.split(view, W, G).gradient + l2 * W
    size = np.abs(loss.split(view, W, G).negative).max()
    assert slope.min() > -1e-3 * size
    assert np.abs(slope * W).max() < 1e-3 * size * W.max()


COMBINATIONS = [
    (solver, loss, kind)
    for solver in ("cd", "mu")
    for loss in ROW_LOSSES
    for kind in ("plain", "norms", "triplets", "graph", "prior", "labels")
]


@pytest.mark.parametrize(("solver", "beta_loss", "kind"), COMBINATIONS)
@pytest.mark.filterwarnings("ignore:Some triplets")
def test_the_objective_never_rises(solver, beta_loss, kind, layout):
    data, missing, given, rest, X, C = draw(layout, seed=5)
    rng = np.random.default_rng(6)
    usual = {
        "beta_loss": beta_loss,
        "solver": solver,
        "missing": missing,
        "missing_weight": rest,
        "init": "random",
        "random_state": 0,
        "max_iter": 30,
        "tol": 0,
    }
    none = {"row_prior": None, "column_prior": None}
    knowledge = {}
    if kind == "triplets":
        model = RPRNMF(K, row_strength=0.1, column_strength=0.1, **none, **usual)
        knowledge = {"row_triplets": random_triplets(rng, N, 9)}
    elif kind == "graph":
        model = GNMF(K, row_graph=random_graph(rng, N), **none, **usual)
    elif kind == "labels":
        model = LCNMF(K, **none, **usual)
        knowledge = {"y": np.where(np.arange(N) < 5, 0, -1)}
    elif kind == "prior":
        model = NMF(K, row_prior="mean", column_prior=rng.random((M, 2)), **usual)
    else:
        alpha = 0.05 if kind == "norms" else 0.0
        model = NMF(K, alpha_W=alpha, alpha_H=alpha, l1_ratio=0.3, alpha_power=0.7, **none, **usual)
    model.fit(data, entry_weights=given, **knowledge)
    objective = model.history_["objective"]
    assert (np.diff(objective) <= 0).all()
    assert objective[-1] < objective[0]
    value = {"frobenius": slow.squared_error, "kullback-leibler": slow.divergence}[beta_loss]
    Y = np.maximum(model.embedding_ @ model.components_, 1e-20)
    assert model.history_["loss"][-1] == pytest.approx(value(X, C, Y), rel=1e-6)


@pytest.mark.parametrize("layout", ["dense", "nan", "sparse-zero"])  # no weight but the given ones
@pytest.mark.parametrize("beta_loss", ROW_LOSSES)
def test_the_unit_of_weights_does_not_matter(beta_loss, layout):
    """L2 terms with alpha_power=1 grow with the weights."""
    data, missing, given, rest, *_ = draw(layout, seed=7)
    found = []
    for unit in (1.0, 1000.0, 1e-6):
        model = NMF(
            K,
            beta_loss=beta_loss,
            missing=missing,
            missing_weight=unit * rest,
            alpha_W=0.01,
            init="random",
            random_state=0,
            max_iter=60,
            tol=0,
        )
        found.append(model.fit(data, entry_weights=unit * given))
    for other in found[1:]:
        np.testing.assert_allclose(other.embedding_, found[0].embedding_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("beta_loss", ROW_LOSSES)
@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_layouts_precisions_and_threads_agree(solver, beta_loss):
    rng = np.random.default_rng(8)
    X, mask = random_matrix(rng, N, M, zeros=0.0), random_mask(rng, N, M)
    C = rng.random((N, M)) + 0.5
    usual = {
        "beta_loss": beta_loss,
        "solver": solver,
        "missing_weight": 0.2,
        "alpha_W": 0.01,
        "init": "random",
        "random_state": 0,
        "max_iter": 40,
        "tol": 0,
    }
    found = []
    for layout, dtype, n_jobs in (
        ("nan", np.float64, 1),
        ("sparse-zero", np.float64, 1),
        ("sparse-zero", np.float64, 2),
        ("sparse-zero", np.float32, 1),
    ):
        data, missing = lay_out(X.astype(dtype), mask, layout)
        model = NMF(K, missing=missing, n_jobs=n_jobs, **usual)
        found.append(model.fit_transform(data, entry_weights=weights_like(data, C)))
        assert found[-1].dtype == dtype
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)
    np.testing.assert_array_equal(found[2], found[1])
    np.testing.assert_allclose(found[3], found[1], rtol=0.02, atol=0.02 * found[1].max())


def test_a_heavy_entry_is_met_more_closely():
    rng = np.random.default_rng(9)
    X = random_matrix(rng, N, M, zeros=0.0)
    C = np.ones_like(X)
    C[2, 3] = 1e4
    usual = {"random_state": 0, "init": "random", "tol": 0}
    plain, heavy = (NMF(2, **usual).fit(X, entry_weights=c) for c in (np.ones_like(X), C))
    error = [abs(X[2, 3] - (one.embedding_ @ one.components_)[2, 3]) for one in (plain, heavy)]
    assert error[1] < 0.05 * error[0]


def test_the_paper_solver_refuses_weights():
    X = np.random.default_rng(0).random((6, 5))
    with pytest.raises(ValueError, match="solver='paper' has no entry_weights"):
        NMF(2, solver="paper").fit(X, entry_weights=np.full((6, 5), 2.0))
    X[0, 0] = 0
    with pytest.raises(ValueError, match="and no missing_weight"):
        NMF(2, solver="paper", missing="zero", missing_weight=0.1).fit(X)


@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        (np.ones((4, 5)), ValueError, "shape of X"),
        (sp.csr_array(np.ones((6, 5))), TypeError, "which is dense; got a sparse"),
        (np.full((6, 5), -1.0), ValueError, r"entry_weights\[0, 0\] = -1"),
        (np.full((6, 5), np.inf), ValueError, r"entry_weights\[0, 0\] = inf"),
        (np.zeros((6, 5)), ValueError, "have no weight"),
    ],
)
def test_bad_weights_are_refused_and_change_nothing(weights, error, words):
    X = np.random.default_rng(0).random((6, 5))
    model = NMF(2, random_state=0).fit(X)
    before = model.embedding_
    with pytest.raises(error, match=words):
        model.fit(X, entry_weights=weights)
    assert model.embedding_ is before


def test_sparse_weights_stand_where_the_entries_do():
    X = sp.csr_array(np.where(np.eye(6, 5) + np.eye(6, 5, 2) > 0, 0.5, 0.0))
    for wrong in (X[:, ::-1].tocsr(), sp.csr_array(np.ones((6, 5)))):
        with pytest.raises(ValueError, match="the same places as X"):
            NMF(2).fit(X, entry_weights=wrong)
    with pytest.raises(TypeError, match="which is sparse; got a dense"):
        NMF(2).fit(X, entry_weights=np.ones((6, 5)))
    shuffled = X.copy()
    for i in range(6):  # the same entries in another order
        part = slice(X.indptr[i], X.indptr[i + 1])
        shuffled.indices[part], shuffled.data[part] = X.indices[part][::-1], X.data[part][::-1]
    shuffled.has_sorted_indices = shuffled.has_canonical_format = False
    usual = {"missing": "zero", "random_state": 0, "max_iter": 20, "tol": 0}
    one, two = (NMF(2, **usual).fit_transform(X, entry_weights=w) for w in (X, shuffled))
    np.testing.assert_allclose(one, two)


def test_a_missing_weight_needs_missing_entries():
    X = np.random.default_rng(0).random((6, 5))
    with pytest.raises(ValueError, match=r"missing_weight=0.1 .* missing=None"):
        NMF(2, missing_weight=0.1).fit(X)
    with pytest.raises(ValueError, match="missing_weight"):
        NMF(2, missing="zero", missing_weight=-1.0).fit(X)


def test_frames_of_weights_have_the_labels_of_x():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.random.default_rng(0).random((6, 5)), columns=list("abcde"))
    weights = X[list("bacde")]
    with pytest.raises(ValueError, match="different column labels"):
        NMF(2).fit(X, entry_weights=weights)
    NMF(2, random_state=0).fit(X, entry_weights=X)


@pytest.mark.parametrize("estimator", [NMF, GNMF, LCNMF, RPRNMF])
def test_weights_go_through_pipelines_and_clones(estimator):
    import sklearn

    X = np.random.default_rng(0).random((20, 6))
    weights = 1.0 + X
    model = estimator(2, missing="zero", missing_weight=0.5, random_state=0, max_iter=20, tol=0)
    assert clone(model).missing_weight == 0.5
    alone = clone(model).fit(X, entry_weights=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(entry_weights=True)
        pipe = make_pipeline(FunctionTransformer(), asking)
        W = pipe.fit_transform(X, entry_weights=weights)
    np.testing.assert_allclose(W, alone.embedding_)
