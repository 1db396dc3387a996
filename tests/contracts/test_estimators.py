"""What all estimators promise, over the registries."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from sklearn import decomposition
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from rprnmf import GNMF, LCNMF, NMF, RPRNMF, Triplets
from rprnmf.losses import LOSSES
from rprnmf.metrics import satisfied_rate
from rprnmf.penalties import PENALTIES
from rprnmf.solvers import SOLVERS
from tests.builders import (
    ROW_LOSSES,
    lay_out,
    random_graph,
    random_mask,
    random_matrix,
    random_triplets,
)

N, M, K = 20, 15, 4
RNG = np.random.default_rng(0)
X = random_matrix(RNG, N, M)
MASK = random_mask(RNG, N, M)
ROWS, COLUMNS = random_triplets(RNG, N, 12), random_triplets(RNG, M, 9)
Y, COLUMN_LABELS = RNG.integers(-1, 4, size=N), RNG.integers(-1, 3, size=M)
ROW_GRAPH, COLUMN_GRAPH = random_graph(RNG, N), random_graph(RNG, M)
ESTIMATORS = ("NMF", "GNMF", "LCNMF", "RPRNMF")


def make(name, **parameters):
    """An estimator with something to respect on both sides, and what fit needs for it."""
    settings = {"n_components": K, "max_iter": 30, "tol": 0.0, "random_state": 3, **parameters}
    if name == "NMF":
        return NMF(**settings), {}
    if name == "GNMF":
        graphs = {"row_graph": ROW_GRAPH, "column_graph": COLUMN_GRAPH}
        strengths = {"row_strength": 1.0, "column_strength": 2.0}
        return GNMF(**graphs, **strengths, **settings), {}
    if name == "LCNMF":
        return LCNMF(**settings), {"y": Y, "column_labels": COLUMN_LABELS}
    settings.setdefault("row_strength", 0.1)
    return RPRNMF(**settings), {"row_triplets": ROWS, "column_triplets": COLUMNS}


@pytest.fixture(params=ESTIMATORS)
def name(request):
    return request.param


@pytest.fixture(params=sorted(SOLVERS))
def solver(request):
    return request.param


@pytest.fixture(params=sorted(ROW_LOSSES))
def beta_loss(request):
    return request.param


def start(rank=K):
    """Start factors without zeros."""
    rng = np.random.default_rng(8)
    return rng.random((N, rank)) + 0.1, rng.random((rank, M)) + 0.1


def fitted(name, data, missing=None, **parameters):
    model, knowledge = make(name, missing=missing, **parameters)
    return model.fit(data, **knowledge)


def product(model):
    return model.embedding_ @ model.components_


def test_shapes_signs_and_attributes(name, solver, beta_loss):
    model = fitted(name, X, solver=solver, beta_loss=beta_loss)
    assert model.embedding_.shape == (N, K)
    assert model.components_.shape == (K, M)
    assert (model.embedding_ >= 0).all()
    assert (model.components_ >= 0).all()
    assert model.n_components_ == K
    assert model.n_features_in_ == M
    assert model.n_iter_ == len(model.history_) == 30
    assert list(model.get_feature_names_out()) == [f"{name.lower()}{k}" for k in range(K)]
    history = model.history_
    parts = history["loss"] + history["row_penalty"] + history["column_penalty"]
    np.testing.assert_allclose(history["objective"], parts)
    if beta_loss == "frobenius":
        error = np.linalg.norm(X - product(model))
    else:
        Z = product(model)
        logs = X * np.log(np.where(X > 0, X, 1) / np.where(X > 0, Z, 1))
        error = np.sqrt(2 * np.sum(logs - X + Z))
    assert model.reconstruction_err_ == pytest.approx(error)
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), product(model))


def test_same_seed_same_result(name, solver, beta_loss):
    model, knowledge = make(name, solver=solver, beta_loss=beta_loss, init="random")
    first = model.fit_transform(X, **knowledge)
    again = clone(model).fit_transform(X, **knowledge)
    np.testing.assert_array_equal(first, again)
    other = clone(model).set_params(random_state=4).fit_transform(X, **knowledge)
    assert not np.allclose(first, other)


def test_permuting_rows_permutes_the_result(name, solver, beta_loss):
    order = np.random.default_rng(5).permutation(N)
    place = np.argsort(order)
    W, H = start()
    model, knowledge = make(name, solver=solver, beta_loss=beta_loss, init="custom", max_iter=10)
    expected = model.fit_transform(X, W=W, H=H, **knowledge)
    if name == "RPRNMF":
        knowledge = {**knowledge, "row_triplets": place[ROWS]}
    elif name == "LCNMF":
        knowledge = {**knowledge, "y": Y[order]}
    elif name == "GNMF":
        model.set_params(row_graph=ROW_GRAPH[np.ix_(order, order)])
    permuted = model.fit_transform(X[order], W=W[order], H=H, **knowledge)
    np.testing.assert_allclose(permuted, expected[order], atol=1e-8 * expected.max())


def test_transposing_swaps_the_sides():
    """mu has no favourite side but for the order of the two half steps."""
    W, H = start()
    settings = {"n_components": K, "init": "custom", "max_iter": 200, "tol": 1e-9}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        straight = RPRNMF(**settings).fit(X, W=W, H=H, row_triplets=ROWS)
        turned = RPRNMF(**settings).fit(X.T, W=H.T, H=W.T, column_triplets=ROWS)
    assert straight.history_["objective"][-1] == pytest.approx(
        turned.history_["objective"][-1], rel=0.05
    )


def test_layouts_agree(name, solver, beta_loss):
    W, H = start()
    for layouts in (("dense", "sparse"), ("nan", "sparse-zero", "sparse-nan")):
        results = []
        for layout in layouts:
            data, missing = lay_out(X, MASK, layout)
            model, knowledge = make(
                name,
                solver=solver,
                beta_loss=beta_loss,
                init="custom",
                missing=missing,
                max_iter=10,
            )
            results.append(model.fit(data, W=W, H=H, **knowledge))
        for other in results[1:]:
            np.testing.assert_allclose(
                product(other), product(results[0]), atol=1e-8 * X.max(), rtol=0
            )


def test_single_precision_stays_and_agrees(name, solver, beta_loss):
    W, H = start()
    model, knowledge = make(name, solver=solver, beta_loss=beta_loss, init="custom", max_iter=10)
    double = model.fit_transform(X, W=W, H=H, **knowledge)
    X32, W, H = (array.astype(np.float32) for array in (X, W, H))
    single = model.fit_transform(X32, W=W, H=H, **knowledge)
    assert single.dtype == np.float32
    assert model.components_.dtype == np.float32
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single, double, atol=2e-3 * double.max(), rtol=0)


def test_scaling_X_changes_the_scale_alone(name, beta_loss):
    base = fitted(name, X, beta_loss=beta_loss, init="random")
    for factor in (1e-6, 1e6):
        scaled = fitted(name, factor * X, beta_loss=beta_loss, init="random")
        np.testing.assert_allclose(
            product(scaled) / factor, product(base), atol=1e-7 * X.max(), rtol=0
        )
        assert scaled.row_satisfied_rate_ == pytest.approx(base.row_satisfied_rate_, nan_ok=True)


def test_strength_zero_is_no_penalty(solver, beta_loss):
    W, H = start()
    settings = {"n_components": K, "solver": solver, "beta_loss": beta_loss, "max_iter": 20}
    settings |= {"init": "custom", "tol": 0.0}
    plain = RPRNMF(**settings).fit(X, W=W, H=H)
    free = RPRNMF(row_strength=0.0, column_strength=0.0, **settings).fit(
        X, W=W, H=H, row_triplets=ROWS, column_triplets=COLUMNS
    )
    np.testing.assert_allclose(product(free), product(plain), atol=1e-9 * X.max(), rtol=0)
    graphs = {"row_graph": ROW_GRAPH, "column_graph": COLUMN_GRAPH}
    if solver == "mu" or beta_loss == "frobenius":  # the divergence program normalises
        nmf = NMF(**settings).fit(X, W=W, H=H)
        loose = GNMF(row_strength=0.0, column_strength=0.0, **graphs, **settings)
        loose.fit(X, W=W, H=H)
        np.testing.assert_allclose(product(loose), product(nmf), atol=1e-9 * X.max(), rtol=0)


def test_labels_that_are_all_unknown_tie_nothing(solver, beta_loss):
    settings = {"n_components": K, "solver": solver, "beta_loss": beta_loss, "max_iter": 20}
    settings |= {"tol": 0.0, "random_state": 0}
    plain = NMF(**settings).fit_transform(X)
    untied = LCNMF(**settings).fit_transform(X, y=-np.ones(N, dtype=int))
    np.testing.assert_allclose(untied, plain, rtol=1e-9)


def test_members_of_a_label_share_their_row(solver, beta_loss):
    model = fitted("LCNMF", X, solver=solver, beta_loss=beta_loss)
    for label in range(4):
        members = model.embedding_[label == Y]
        assert (members == members[0]).all()
    for label in range(3):
        members = model.components_.T[label == COLUMN_LABELS]
        assert (members == members[0]).all()


def test_one_thread_and_many_agree(name, solver, beta_loss):
    rng = np.random.default_rng(6)
    n, m = 400, 300
    wide, mask = random_matrix(rng, n, m), random_mask(rng, n, m, share=0.5)
    data, missing = lay_out(wide, mask, "sparse-zero")
    knowledge = {}
    model = {"NMF": NMF, "GNMF": GNMF, "LCNMF": LCNMF, "RPRNMF": RPRNMF}[name]()
    if name == "GNMF":
        model.set_params(row_graph=random_graph(rng, n, 0.01), row_strength=1.0)
    elif name == "LCNMF":
        knowledge = {"y": rng.integers(-1, 20, size=n)}
    elif name == "RPRNMF":
        knowledge = {"row_triplets": random_triplets(rng, n, 50)}
    model.set_params(
        n_components=5, solver=solver, beta_loss=beta_loss, missing=missing, max_iter=5, tol=0.0
    )
    model.set_params(random_state=0)
    results = [
        clone(model).set_params(n_jobs=jobs).fit_transform(data, **knowledge) for jobs in (1, 3)
    ]
    np.testing.assert_allclose(results[0], results[1], atol=1e-9 * results[0].max(), rtol=0)


def test_two_fits_at_once_from_two_threads(beta_loss):
    expected = fitted("RPRNMF", X, beta_loss=beta_loss).embedding_
    results = [None, None]

    def work(place):
        results[place] = fitted("RPRNMF", X, beta_loss=beta_loss).embedding_

    threads = [threading.Thread(target=work, args=(place,)) for place in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_without_penalty_mu_takes_scikit_learns_steps(beta_loss):
    W, H = start()
    settings = {"n_components": K, "init": "custom", "solver": "mu", "beta_loss": beta_loss}
    settings |= {"max_iter": 15, "tol": 0.0}
    ours = NMF(**settings).fit_transform(X, W=W, H=H)
    theirs = decomposition.NMF(**settings).fit_transform(X, W=W.copy(), H=H.copy())
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_every_penalty_meets_more_triplets_than_plain_nmf(penalty, beta_loss):
    model = RPRNMF(K, penalty=penalty, beta_loss=beta_loss, max_iter=300, tol=0.0, row_strength=0.1)
    plain = NMF(K, beta_loss=beta_loss, max_iter=300, tol=0.0).fit_transform(X)
    model.fit(X, row_triplets=ROWS)
    assert model.row_satisfied_rate_ > satisfied_rate(plain, ROWS)
    assert model.row_satisfied_rate_ == satisfied_rate(model.embedding_, ROWS)


def test_weights_tell_which_of_two_contradictory_triplets_counts():
    both = [[0, 1, 2], [0, 2, 1]]
    for weights, kept in (([10, 1], [[0, 1, 2]]), ([1, 10], [[0, 2, 1]])):
        model = RPRNMF(K, max_iter=200, tol=0.0).fit(
            X, row_triplets=Triplets(both, weights=weights)
        )
        assert satisfied_rate(model.embedding_, kept) == 1.0


def test_transform_folds_rows_in(name, beta_loss):
    model = fitted(name, X, beta_loss=beta_loss, max_iter=200)
    model.set_params(max_iter=2000, tol=1e-6)
    W = model.transform(X)
    loss = LOSSES[beta_loss]
    from rprnmf.observed import make_view

    fit_loss = loss.value(make_view(X), model.embedding_, model.components_.T.copy())
    assert loss.value(make_view(X), W, model.components_.T.copy()) <= fit_loss * 1.001
    alone = model.transform(X[3:4])
    np.testing.assert_allclose(alone[0], W[3], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("alpha_W", [0.0, 0.05])
@pytest.mark.parametrize("masked", [False, True])
def test_transform_is_non_negative_least_squares(masked, alpha_W):
    """Row by row, over the observed columns, with the L2 term that the fit has."""
    data = np.where(MASK, X, np.nan) if masked else X
    model = NMF(K, missing="nan", alpha_W=alpha_W, max_iter=300, tol=1e-8, random_state=0)
    model.set_params(row_prior=None, column_prior=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(data)
    W = model.transform(data)
    for row, found in zip(data, W, strict=True):
        seen = ~np.isnan(row)
        ridge = np.sqrt(alpha_W * seen.sum()) * np.eye(K)
        A = np.concatenate((model.components_.T[seen], ridge))
        expected, _ = nnls(A, np.concatenate((row[seen], np.zeros(K))))
        np.testing.assert_allclose(found, expected, atol=1e-5 * W.max())


@pytest.mark.parametrize("solver", sorted(SOLVERS))
@pytest.mark.parametrize("beta", sorted(ROW_LOSSES))
def test_a_row_that_is_nearly_all_holes(solver, beta):
    """Sparse with stored NaN must not take all holes away from the sum over everything."""
    rng = np.random.default_rng(4)
    n, m = 25, 20
    data, mask = random_matrix(rng, n, m), random_mask(rng, n, m, share=0.5)
    mask[3] = mask[:, 7] = False
    mask[3, 2] = mask[5, 7] = True
    W, H = rng.random((n, 3)) + 0.1, rng.random((3, m)) + 0.1
    results = []
    for layout in ("nan", "sparse-nan"):
        laid, missing = lay_out(data, mask, layout)
        model = NMF(3, solver=solver, beta_loss=beta, missing=missing, init="custom", tol=0.0)
        model.set_params(max_iter=60).fit(laid, W=W, H=H)
        results.append(model)
    dense, sparse = results
    assert sparse.reconstruction_err_ == pytest.approx(dense.reconstruction_err_, rel=1e-6)
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, rtol=1e-4, atol=1e-6)


def test_blocks_of_a_sparse_matrix_are_no_observations():
    data = sp.csr_array(np.where(MASK, X, 0.0))
    models = [
        NMF(3, missing="zero", random_state=0, max_iter=10, tol=0.0).fit(each)
        for each in (data, sp.bsr_array(data, blocksize=(5, 5)))
    ]
    np.testing.assert_allclose(product(models[0]), product(models[1]))


def test_what_fit_transform_returns_is_the_callers():
    model = NMF(K, max_iter=5, tol=0.0)
    W = model.fit_transform(X)
    W[:] = 0
    assert model.embedding_.any()


def test_overlapping_fits_give_the_threads_back():
    from threadpoolctl import threadpool_info

    def limits():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = limits()
    threads = [
        threading.Thread(target=fitted, args=("NMF", X), kwargs={"n_jobs": 1, "max_iter": count})
        for count in (30, 300)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert limits() == before


def test_a_row_without_entries_is_zero():
    holes = np.where(MASK, X, np.nan)
    holes[4] = np.nan
    for solver in SOLVERS:
        model = fitted("NMF", holes, "nan", solver=solver, row_prior=None, column_prior=None)
        assert not model.embedding_[4].any()
        assert not model.transform(holes[4:5]).any()


@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_a_row_without_entries_is_the_mean_row_by_default(solver):
    holes = np.where(MASK, X, np.nan)
    holes[4] = np.nan
    model = fitted("NMF", holes, "nan", solver=solver, max_iter=500)
    mean = model.prior_[0].means[4]
    np.testing.assert_allclose(model.embedding_[4], mean, rtol=1e-3)
    np.testing.assert_allclose(model.transform(holes[4:5])[0], mean, rtol=1e-3)


def test_n_init_keeps_the_best_start():
    one = fitted("NMF", X, init="random", n_init=1)
    best = fitted("NMF", X, init="random", n_init=8)
    assert best.reconstruction_err_ < one.reconstruction_err_


def test_callback_sees_every_iteration_and_can_stop(solver):
    seen = []

    def callback(state):
        seen.append(state)
        return np.bool_(state.iteration == 7)

    model = fitted("RPRNMF", X, solver=solver, callback=callback)
    assert [state.iteration for state in seen] == list(range(1, 8))
    assert model.n_iter_ == 7
    last = seen[-1]
    assert last.objective == model.history_["objective"][-1]
    assert last.reconstruction_err == pytest.approx(model.reconstruction_err_)
    np.testing.assert_allclose(last.W, model.embedding_)
    np.testing.assert_allclose(last.H, model.components_)
    assert last.row_satisfied_rate == model.row_satisfied_rate_
    assert not np.array_equal(seen[0].W, seen[1].W)


def test_tol_stops_and_max_iter_warns():
    assert fitted("NMF", X, tol=1e-2, max_iter=500).converged_
    with pytest.warns(ConvergenceWarning, match="Maximum number of iterations 12 reached"):
        model = fitted("NMF", X, tol=1e-12, max_iter=12)
    assert not model.converged_


def test_verbose_prints(capsys):
    fitted("RPRNMF", X, verbose=1)
    assert "row triplets met" in capsys.readouterr().out


def test_names_of_a_data_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(N)], columns=[f"c{j}" for j in range(M)])
    names = np.array([[f"r{i}" for i in row] for row in ROWS])
    column_names = pd.DataFrame([[f"c{j}" for j in row] for row in COLUMNS], columns=list("qrs"))
    model, knowledge = make("RPRNMF")
    expected = model.fit_transform(X, **knowledge)
    by_name = model.fit_transform(frame, row_triplets=names, column_triplets=column_names)
    np.testing.assert_allclose(by_name, expected, rtol=1e-9)
    assert list(model.feature_names_in_) == list(frame.columns)
    half = frame.iloc[:10]
    inside = (ROWS < 10).all(axis=1)
    dropped = model.fit_transform(half, row_triplets=Triplets(names, absent="drop"))
    np.testing.assert_allclose(
        dropped, model.fit_transform(X[:10], row_triplets=ROWS[inside]), rtol=1e-9
    )


def test_paper_has_no_other_combinations():
    def refused(match, **parameters):
        with pytest.raises(ValueError, match=match):
            fitted("RPRNMF", X, solver="paper", **parameters)

    refused("penalty='exponential'", penalty="hinge")
    refused("distance='divergence'", beta_loss="kullback-leibler", distance="euclidean")
    refused("no graphs", row_graph="knn")
    refused("no L1 or L2", alpha_W=0.1)


def test_paper_gives_up_when_no_strength_helps():
    """At an exact factorisation two opposite triplets only disturb, however weak."""
    rng = np.random.default_rng(1)
    W, H = rng.random((5, 1)), rng.random((1, 4))
    model = RPRNMF(1, beta_loss="kullback-leibler", solver="paper", init="custom", max_iter=400)
    with pytest.warns(ConvergenceWarning, match="halved"):
        model.fit(W @ H, W=W, H=H, row_triplets=[[0, 1, 2], [0, 2, 1]])
    assert model.n_iter_ < 400
    np.testing.assert_allclose(product(model), W @ H, rtol=0.1)


@pytest.mark.parametrize("sparse", [False, True])
def test_knn_graph_is_symmetric_and_binary(sparse):
    from rprnmf.graphs import check_graph

    data = sp.csr_array(X) if sparse else X
    for side, n in (("row", N), ("column", M)):
        S = check_graph("knn", data, 3, side).toarray()
        assert S.shape == (n, n)
        assert set(np.unique(S)) == {0.0, 1.0}
        np.testing.assert_array_equal(S, S.T)
        assert (S.sum(axis=1) >= 3).all()
        for scale in (1e160, 1e-170):  # squares of these are no numbers
            np.testing.assert_array_equal(check_graph("knn", scale * data, 3, side).toarray(), S)


def test_l1_and_l2_have_scikit_learns_minimiser(beta_loss):
    """Their minimum is ours: from there no step goes further down."""
    terms = {"alpha_W": 0.02, "alpha_H": 0.01, "l1_ratio": 0.4, "tol": 0.0, "init": "custom"}
    W, H = start()
    solver = "cd" if beta_loss == "frobenius" else "mu"
    theirs = decomposition.NMF(K, beta_loss=beta_loss, solver=solver, max_iter=5000, **terms)
    V = theirs.fit_transform(X, W=W.copy(), H=H.copy())
    for solver in ("mu", "cd"):
        ours = NMF(K, beta_loss=beta_loss, solver=solver, max_iter=50, **terms)
        ours.fit(X, W=V, H=theirs.components_)
        fall = 1 - ours.history_["objective"][-1] / ours.history_["objective"][0]
        assert 0 <= fall < 1e-4
        np.testing.assert_allclose(product(ours), V @ theirs.components_, atol=0.01 * X.max())


@pytest.mark.filterwarnings("ignore:The factors are all but zero")
def test_ties_survive_a_strong_penalty(beta_loss):
    """A safeguarded step shortens whole labels, never some of their members."""
    model = LCNMF(K, beta_loss=beta_loss, alpha_W=5.0, max_iter=50, tol=0.0)
    W = model.fit_transform(X, y=Y)
    for label in range(4):
        assert (W[label == Y] == W[label == Y][0]).all()


@pytest.mark.parametrize("kind", ["knn", "cosine"])
def test_the_strength_of_a_graph_is_in_units_of_the_data(kind):
    model = GNMF(K, row_graph=kind, n_neighbors=3, random_state=0, max_iter=20, tol=0)
    strength = model.fit(X).graph_strength_[0]
    assert model.fit(1000 * X).graph_strength_[0] == pytest.approx(strength, rel=1e-6)
    assert model.graph_strength_[1] is None
    assert model.fit(np.ones((12, 8))).graph_strength_[0] == 1.0  # all neighbours are equal
    assert model.set_params(row_strength=7.0).fit(X).graph_strength_[0] == 7.0
    assert model.set_params(row_strength="auto", solver="paper").fit(X).graph_strength_[0] == 100.0
