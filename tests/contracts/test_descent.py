"""The kernels of `cd` against the objective that they claim to lower."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf import NMF
from rprnmf.kernels import _Notice, coupling, quadratic
from rprnmf.losses import LOSSES
from rprnmf.objective import Look, Objective, Problem, Side
from rprnmf.penalties import DISTANCES, PENALTIES
from rprnmf.solvers.rows import RowDescent
from tests.builders import LAYOUTS, random_graph, random_triplets, random_view


def problem(layout, beta_loss="frobenius", penalty="squared_hinge", distance="euclidean", **side):
    rng = np.random.default_rng(5)
    view, _, _ = random_view(rng, layout)
    n, m = view.shape
    rows = Side(**side)
    built = Problem(view, beta_loss, penalty, distance, 0.5, rows)
    return built, rng.random((n, 4)) + 0.1, rng.random((m, 4)) + 0.1


def knowledge(n, kind):
    rng = np.random.default_rng(6)
    if kind == "triplets":
        triplets = random_triplets(rng, n, 3 * n)
        return {"triplets": triplets, "weight": rng.random(3 * n) + 0.5, "strength": 0.3}
    if kind == "graph":
        return {"graph": sp.csr_array(random_graph(rng, n)), "graph_strength": 0.7}
    if kind == "labels":
        return {"groups": np.arange(n) // 2}
    if kind == "norms":
        return {"l1": 0.1 * rng.random(n), "l2": 0.1 * rng.random(n)}
    return {}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("K", [1, 3, 8, 13])
def test_four_rows_in_step_are_four_rows(K, dtype):
    rng = np.random.default_rng(K)
    B = rng.standard_normal((20, K)) * (rng.random((20, K)) < 0.8)
    Q = (B.T @ B).astype(dtype)
    h = (np.diag(Q) + 0.25).astype(dtype)
    F = rng.random((4, K)).astype(dtype)
    g = (F @ Q - rng.standard_normal((4, K)) * 3 + 0.25 * F).astype(dtype)
    together, alone = (F.copy(), g.copy()), (F.copy(), g.copy())
    live = np.array([1, 1, 0, 1], dtype=dtype)
    share = dtype(0.05)
    quadratic.descend_four(*together[0], *together[1], live, Q, h, (1 / h).astype(dtype), 9, share)
    for row in (0, 1, 3):
        quadratic.descend_one(alone[0][row], alone[1][row], Q, h, 9, share)
    tolerance = 1e-12 if dtype == np.float64 else 2e-4
    np.testing.assert_allclose(together[0], alone[0], atol=tolerance)
    np.testing.assert_allclose(together[1], alone[1], atol=30 * tolerance)
    np.testing.assert_array_equal(together[0][2], F[2])


@pytest.mark.parametrize("beta_loss", LOSSES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["nothing", "triplets", "graph", "labels", "norms"])
def test_a_step_lowers_the_objective_and_knows_its_loss(kind, layout, beta_loss):
    n = problem(layout)[0].view.shape[0]
    given, F, B = problem(layout, beta_loss, **knowledge(n, kind))
    objective = Objective(given, 4)
    F, B = objective.start(F, B)
    before = objective.values(F, B).objective
    kept = F.copy()
    new, loss = RowDescent(objective, 0)(F, B)
    after = objective.values(new, B)
    np.testing.assert_array_equal(F, kept)
    assert after.objective < before
    assert loss == pytest.approx(after.loss, rel=1e-9, abs=1e-9 * given.view.squares)
    if kind == "labels":
        np.testing.assert_array_equal(new[0], new[1])


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_row_sees_the_same_penalty_as_the_objective(penalty, distance):
    n = problem("dense")[0].view.shape[0]
    side = knowledge(n, "triplets") | knowledge(n, "graph")
    given, F, _ = problem("dense", penalty=penalty, distance=distance, **side)
    terms = Objective(given, 4).terms[0]
    descent = RowDescent(Objective(given, 4), 0)
    seen = descent.incidence.coupling(F, terms, None)
    gradient = terms.split(F).gradient
    rng = np.random.default_rng(0)
    for i in range(n):
        slope, room, M = np.zeros(4), np.zeros(4), np.zeros((4, 4))
        assert coupling.acts(seen, i)
        coupling.model(seen, F, i, 1.0, slope, M, room)
        np.testing.assert_allclose(slope, gradient[i], rtol=1e-8, atol=1e-10)
        assert np.linalg.eigvalsh(M).min() > -1e-9
        moved = F.copy()
        moved[i] = rng.random(4)
        rise = terms.value(moved) - terms.value(F)
        assert coupling.change(seen, F, i, moved[i]) == pytest.approx(rise, rel=1e-7, abs=1e-10)
        coupling.settle(seen, i)
        F = moved
        gradient = terms.split(F).gradient
        np.testing.assert_allclose(seen.apart, terms.triplets.apart(F), rtol=1e-12)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("kind", ["triplets", "graph", "norms"])
def test_what_growing_columns_would_change(kind, distance):
    n = problem("dense")[0].view.shape[0]
    given, F, _ = problem("dense", distance=distance, **knowledge(n, kind))
    terms = Objective(given, 4).terms[0]
    gradient = terms.split(F).gradient
    np.testing.assert_allclose(Look(terms, F).gain(), np.sum(F * gradient, axis=0), rtol=1e-9)
    assert Look(terms, F).value == pytest.approx(terms.value(F))


@pytest.mark.parametrize("beta_loss", LOSSES)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_new_rows_do_not_depend_on_their_company(convert, beta_loss):
    rng = np.random.default_rng(7)
    X = convert(rng.random((23, 12)) * (rng.random((23, 12)) < 0.7))
    model = NMF(3, beta_loss=beta_loss, random_state=0, max_iter=10, tol=0.0).fit(X)
    together = model.transform(X)
    alone = np.concatenate([model.transform(X[i : i + 1]) for i in range(23)])
    np.testing.assert_allclose(together, alone, rtol=1e-10, atol=1e-13)


def test_the_first_compilation_is_announced_once(caplog):
    class Event:
        data = {"dispatcher": quadratic.descend_one}

    notice = _Notice()
    with caplog.at_level(logging.WARNING, "rprnmf"):
        notice.on_start(Event())
        notice.on_start(Event())
    assert len(caplog.records) == 1
    assert "compiles" in caplog.text
