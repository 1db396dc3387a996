"""After a kill at any moment the same call ends in the same result, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from rprnmf import GNMF, LCNMF, NMF, RPRNMF
from rprnmf.array_file import read_arrays
from rprnmf.losses import LOSSES
from rprnmf.solvers import SOLVERS
from rprnmf.triplets import triplets_from_features
from tests.builders import (
    LAYOUTS,
    ROW_LOSSES,
    lay_out,
    random_graph,
    random_mask,
    random_matrix,
    random_triplets,
)
from tests.checkpoints.runs import check_resumed, copies_of_checkpoints, outcome, quietly

N, M, K = 22, 16, 4
RNG = np.random.default_rng(0)
X, MASK = random_matrix(RNG, N, M), random_mask(RNG, N, M)
TRIPLETS = {
    "row_triplets": random_triplets(RNG, N, 40),
    "column_triplets": random_triplets(RNG, M, 20),
}
ROWS = {"row_triplets": TRIPLETS["row_triplets"]}
GRAPHS = {"row_graph": random_graph(RNG, N), "column_graph": random_graph(RNG, M)}
LABELS = {"y": RNG.integers(-1, 4, size=N), "column_labels": RNG.integers(-1, 3, size=M)}
SETTINGS = {"max_iter": 40, "tol": 0.0, "random_state": 0}


def make(name, **parameters):
    """An estimator, and what its fit is told."""
    settings = SETTINGS | parameters
    if name == "NMF":
        return NMF(K, **settings), {}
    if name == "GNMF":
        return GNMF(K, **GRAPHS, **settings), {}
    if name == "LCNMF":
        return LCNMF(K, **settings), LABELS
    return RPRNMF(K, **settings), TRIPLETS


@pytest.fixture
def resumed(monkeypatch, tmp_path):
    def check(model, data=X, n_copies=6, **given):
        return check_resumed(monkeypatch, tmp_path, model, data, n_copies, **given)

    return check


@pytest.mark.parametrize("name", ["NMF", "GNMF", "LCNMF", "RPRNMF"])
@pytest.mark.parametrize("beta_loss", sorted(ROW_LOSSES))
@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_every_solver_loss_and_estimator(solver, beta_loss, name, resumed):
    model, given = make(name, solver=solver, beta_loss=beta_loss)
    assert resumed(model, **given) > SETTINGS["max_iter"]


@pytest.mark.parametrize("beta_loss", [*sorted(set(LOSSES) - set(ROW_LOSSES)), 1.5], ids=str)
def test_losses_of_mu_alone(beta_loss, resumed):
    resumed(RPRNMF(K, solver="mu", beta_loss=beta_loss, **SETTINGS), X + 0.1, **TRIPLETS)


@pytest.mark.parametrize("solver", ["cd", "mu"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_the_data(layout, solver, resumed):
    """Where entries are missing, short fits find how strong a prior is: they are kept too."""
    data, missing = lay_out(X, MASK, layout)
    resumed(RPRNMF(K, solver=solver, missing=missing, **SETTINGS), data, 8, **ROWS)


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_single_precision_and_data_in_fortran_order(solver, resumed):
    data = np.asfortranarray(X.astype(np.float32))
    resumed(RPRNMF(K, solver=solver, **SETTINGS), data, **TRIPLETS)


@pytest.mark.parametrize("penalty", ["exponential", "hinge", "logistic"])
def test_penalties_and_distances(penalty, resumed):
    resumed(RPRNMF(K, penalty=penalty, distance="divergence", **SETTINGS), **TRIPLETS)


def test_triplets_with_room_to_spare_stay_out_of_the_lists(monkeypatch, tmp_path):
    """Which triplets `cd` lists depends on what it listed before (`solvers/incidence.py`)."""
    data = np.random.default_rng(4).gamma(0.5, 1.0, (40, 8))
    known = triplets_from_features(data, 400, random_state=0)
    model = RPRNMF(6, margin=0.05, **SETTINGS)
    check_resumed(monkeypatch, tmp_path, model, data, 20, row_triplets=known)
    _, arrays = read_arrays(tmp_path / "run.ckpt", kind="checkpoint")
    listed = [array for array in arrays.values() if array.shape == (400,) and array.dtype == bool]
    assert len(listed) == 1
    assert not listed[0].all()


@pytest.mark.parametrize("strength", ["auto", "obey"])
@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_triplets_that_teach(solver, strength, resumed):
    """Several solves: plain ones, with answers held out, the fit itself, and one that obeys."""
    known = random_triplets(np.random.default_rng(1), N, 80)
    settings = SETTINGS | {"max_iter": 15, "row_strength": strength}
    model = RPRNMF(K, solver=solver, row_prior="data", **settings)
    assert resumed(model, n_copies=12, row_triplets=known) > 100


def test_graphs_with_strengths_to_be_found_and_priors_of_features(resumed):
    features = np.random.default_rng(2).random((N, 3))
    graphs = {"row_graph": "cosine", "column_graph": GRAPHS["column_graph"]}
    resumed(RPRNMF(K, row_prior=features, **graphs, **SETTINGS), n_copies=10, **TRIPLETS)


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_several_starts(solver, resumed):
    model = RPRNMF(K, solver=solver, n_init=4, init="random", **SETTINGS | {"max_iter": 10})
    assert resumed(model, n_copies=12, **TRIPLETS) > 40


def test_a_fit_that_tol_stops(resumed):
    model = NMF(K, random_state=0, tol=1e-2, max_iter=500)
    n_copies = resumed(model, n_copies=15)
    assert n_copies < 500


def test_given_components(resumed):
    H = np.random.default_rng(3).random((K, M))
    resumed(RPRNMF(K, **SETTINGS), H=H, update_H=False, **ROWS)


def test_given_starts(resumed):
    rng = np.random.default_rng(3)
    W, H = rng.random((N, K)), rng.random((K, M))
    resumed(RPRNMF(K, init="custom", **SETTINGS), W=W, H=H, **TRIPLETS)


def test_l1_and_l2_terms_and_dying_components(resumed):
    """From uniform factors, components die and are revived."""
    W, H = np.full((N, K), 0.3), np.full((K, M), 0.3)
    settings = SETTINGS | {"init": "custom", "alpha_W": 0.01, "l1_ratio": 0.5}
    resumed(RPRNMF(K, **settings), n_copies=8, W=W, H=H, **ROWS)


def test_paper_warns_again_that_it_gave_up(tmp_path):
    rng = np.random.default_rng(1)
    W, H = rng.random((5, 1)), rng.random((1, 4))
    model = RPRNMF(1, beta_loss="kullback-leibler", solver="paper", init="custom", max_iter=400)
    given = {"W": W, "H": H, "row_triplets": [[0, 1, 2], [0, 2, 1]]}
    for _ in range(2):
        with pytest.warns(UserWarning, match="halved"):
            model.fit(W @ H, checkpoint=tmp_path / "run.ckpt", **given)
    assert model.n_iter_ < 400


def test_without_a_seed_the_draws_are_kept(monkeypatch, tmp_path):
    model = NMF(K, init="random", n_init=3, max_iter=8, tol=0.0)
    np.random.seed(5)  # noqa: NPY002
    expected = outcome(quietly(NMF(**model.get_params()), X))
    np.random.seed(5)  # noqa: NPY002
    copies = copies_of_checkpoints(monkeypatch, tmp_path, model, X)
    assert outcome(model) == expected
    for copy in copies[::6]:
        assert outcome(quietly(NMF(**model.get_params()), X, checkpoint=copy)) == expected


def test_a_random_state_instance(monkeypatch, tmp_path):
    def model():
        return NMF(K, init="random", n_init=2, max_iter=8, random_state=np.random.RandomState(3))

    expected = outcome(quietly(model(), X))
    copies = copies_of_checkpoints(monkeypatch, tmp_path, model(), X)
    for copy in copies[::5]:
        assert outcome(quietly(model(), X, checkpoint=copy)) == expected


def test_callbacks_are_called_for_the_iterations_that_are_left(monkeypatch, tmp_path):
    copies = copies_of_checkpoints(monkeypatch, tmp_path, NMF(K, **SETTINGS), X)
    seen = []
    model = NMF(K, callback=lambda state: seen.append(state.iteration), **SETTINGS)
    model.fit(X, checkpoint=copies[10])
    assert seen == list(range(11, 41))
    assert (np.diff(model.history_["seconds"]) > 0).all()


def test_a_callback_that_stops_stops_for_good(tmp_path):
    path = tmp_path / "run.ckpt"
    NMF(K, callback=lambda state: state.iteration == 5, **SETTINGS).fit(X, checkpoint=path)
    again = NMF(K, **SETTINGS).fit(X, checkpoint=path)
    assert again.n_iter_ == 5


def test_a_finished_fit_is_read_and_not_computed(tmp_path):
    path, calls = tmp_path / "run.ckpt", []
    first = NMF(K, **SETTINGS).fit(X, checkpoint=path)
    again = NMF(K, callback=calls.append, n_jobs=1, **SETTINGS)
    W = again.fit_transform(X, checkpoint=str(path))
    assert calls == []
    assert outcome(again).keys() == outcome(first).keys()
    np.testing.assert_array_equal(W, first.embedding_)
    assert path.exists()
