"""The kernels of `cd` against the objective that they claim to lower."""

from __future__ import annotations

import dataclasses
import functools
import logging

import numba
import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf import NMF
from rprnmf.kernels import _Notice, coupling, lanes, quadratic
from rprnmf.kernels.coupling import Model
from rprnmf.kernels.kl_newton import kl_newton_rows
from rprnmf.kernels.kl_rows import kl_rows
from rprnmf.kernels.workspace import GRADIENT, INVERSE, LANES, NEW, SQUARES, STEEP, Effort
from rprnmf.losses import LOSSES
from rprnmf.objective import Look, Objective, Point, Problem, Side
from rprnmf.observed import make_view
from rprnmf.penalties import DISTANCES, PENALTIES
from rprnmf.solvers.coordinate_descent import CoordinateDescent
from rprnmf.solvers.momentum import Momentum
from rprnmf.solvers.row_descent import RowDescent, Visit
from tests.builders import LAYOUTS, ROW_LOSSES, random_graph, random_triplets, random_view


@functools.cache
def called(inner):
    """A function that kernels call, so that Python can."""
    return numba.njit(error_model="numpy")(inner.py_func)


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
    if kind == "norms":  # a row without an L2 term follows one that has it
        return {"l1": 0.1 * rng.random(n), "l2": 0.1 * rng.random(n) * (np.arange(n) % 2 == 0)}
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
    effort = Effort(9, dtype(0.05), False)
    space = np.zeros((LANES, 9, K), dtype)
    space[:3, NEW], space[:3, GRADIENT] = F[:3], g[:3]  # the fourth lane stays empty
    space[:4, STEEP], space[:4, INVERSE] = h, 1 / h
    called(lanes.descend_four)(space, Q, (h - np.diag(Q)).astype(dtype), effort, None)
    for row in range(3):
        called(quadratic.descend_one)(F[row], g[row], Q, h, np.empty(K, dtype), effort)
    tolerance = 1e-12 if dtype == np.float64 else 2e-4
    np.testing.assert_allclose(space[:3, NEW], F[:3], atol=tolerance)
    np.testing.assert_allclose(space[:3, GRADIENT], g[:3], atol=30 * tolerance)
    assert not space[3, NEW].any()


@pytest.mark.parametrize("beta_loss", ROW_LOSSES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["nothing", "triplets", "graph", "labels", "norms"])
def test_a_step_lowers_the_objective_and_knows_its_loss(kind, layout, beta_loss):
    n = problem(layout)[0].view.shape[0]
    given, F, B = problem(layout, beta_loss, **knowledge(n, kind))
    objective = Objective(given, 4)
    F, B = objective.start(F, B)
    before = objective.values(F, B).objective
    kept = F.copy()
    new, loss = RowDescent(objective, 0)(F, B, objective.terms[0])
    after = objective.values(new, B)
    np.testing.assert_array_equal(F, kept)
    assert after.objective < before
    if loss is None:  # the entries of tied rows are added up, which the divergence does not bear
        assert (kind, beta_loss) == ("labels", "kullback-leibler")
    else:
        assert loss == pytest.approx(after.loss, rel=1e-9, abs=1e-9 * given.view.squares)
    if kind == "labels":
        np.testing.assert_array_equal(new[0], new[1])


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("m", [None, "keeps sizes", np.array([0.3, -0.2, 0.0, 2.0])])
@pytest.mark.parametrize("beta_loss", ROW_LOSSES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_step_knows_its_loss_with_any_multiplier(layout, beta_loss, m, guarded):
    given, F, B = problem(layout, beta_loss, **knowledge(9, "norms"))
    F[2], F[:, 1], B[3] = 0, 0, 0  # rows and components that are zero
    objective = Objective(given, 4)
    visit = Visit(guarded=guarded, keeps_sizes=isinstance(m, str))
    m = None if visit.keeps_sizes else m
    new, loss = RowDescent(objective, 0)(F, B, objective.terms[0], m, visit=visit)
    true = objective.values(new, B).loss
    assert loss == pytest.approx(true, rel=1e-9, abs=1e-9 * given.view.squares)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [1.0, 2.0**20, 2.0**-20])
@pytest.mark.parametrize("beta_loss", ROW_LOSSES)
def test_a_nearly_exact_fit_ends_and_knows_its_loss(beta_loss, scale, dtype):
    rng = np.random.default_rng(0)
    X = (scale * rng.random((60, 3)) @ rng.random((3, 40))).astype(dtype)
    model = NMF(3, beta_loss=beta_loss, random_state=0, max_iter=2000).fit(X)
    loss = model.history_["loss"]
    assert model.converged_
    assert (loss >= 0).all()
    exact = LOSSES[beta_loss].value(make_view(X), model.embedding_, model.components_.T.copy())
    size = LOSSES[beta_loss].unit(make_view(X))
    assert loss[-1] == pytest.approx(exact, rel=1e-3, abs=float(np.finfo(dtype).eps) * size)


def test_counts_come_out_the_same_on_one_thread_and_two():
    S = sp.csr_array(sp.random(1500, 400, 0.03, random_state=1))
    S.data = np.round(1 + 4 * S.data)

    def fit(n_jobs):
        model = NMF(8, beta_loss="kullback-leibler", random_state=0, max_iter=6, tol=0.0)
        return model.set_params(n_jobs=n_jobs).fit(S)

    one, two = fit(1), fit(2)
    for name in ("embedding_", "components_"):
        ours, theirs = getattr(one, name), getattr(two, name)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * theirs.max())


def test_a_leap_that_rises_is_taken_back(monkeypatch):
    X = np.random.default_rng(3).random((30, 20))
    model = NMF(3, random_state=0, max_iter=15, tol=0.0)
    usual = model.fit(X).history_["objective"]
    with monkeypatch.context() as patch:
        patch.setattr(CoordinateDescent, "leap", lambda solver, point: None)
        walked = model.fit(X).history_["objective"]
    assert usual[-1] < walked[-1]
    monkeypatch.setattr(Momentum, "ahead", lambda momentum, index, F: F + 100.0)
    misled = model.fit(X).history_["objective"]
    np.testing.assert_array_equal(misled, walked)


def test_one_new_row_needs_no_compilation_of_its_own():
    rng = np.random.default_rng(0)
    X = rng.random((12, 9))
    model = NMF(2, beta_loss="kullback-leibler", random_state=0, max_iter=3, tol=0.0).fit(X)
    model.transform(X)
    known = len(kl_newton_rows.signatures)
    model.transform(X[:1])
    assert len(kl_newton_rows.signatures) == known


def test_read_only_data_need_no_compilation_of_their_own():
    S = sp.csr_array(sp.random(30, 20, 0.3, random_state=1))
    model = NMF(2, beta_loss="kullback-leibler", random_state=0, max_iter=3, tol=0.0)
    model.fit(S)
    known = len(kl_rows.signatures)
    for part in (S.data, S.indices, S.indptr):
        part.flags.writeable = False
    model.fit(S)
    assert len(kl_rows.signatures) == known


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_row_sees_the_same_penalty_as_the_objective(penalty, distance):
    n = problem("dense")[0].view.shape[0]
    side = knowledge(n, "triplets") | knowledge(n, "graph")
    given, F, _ = problem("dense", penalty=penalty, distance=distance, **side)
    objective = Objective(given, 4)
    terms, incidence = objective.terms[0], RowDescent(objective, 0).incidence
    seen, rows = incidence.coupling(terms, Look(terms, F))
    assert rows.all()
    gradient = terms.split(F).gradient
    rng = np.random.default_rng(0)
    for i in range(n):
        lane = i % LANES
        felt = called(coupling.feel)(seen, i, lane)
        found = Model(np.zeros(4), np.zeros(4), np.zeros((SQUARES, 4)))
        called(coupling.model)(seen, F, i, felt, 1.0, found)
        np.testing.assert_allclose(found.slope, gradient[i], rtol=1e-8, atol=1e-10)
        assert found.up.min() >= 0.0
        assert np.isfinite(found.A).all()
        moved = F.copy()
        moved[i] = rng.random(4)
        rise = terms.value(moved) - terms.value(F)
        changed = called(coupling.change)(seen, F, i, lane, moved[i])
        assert changed == pytest.approx(rise, rel=1e-7, abs=1e-10)
        called(coupling.settle)(seen, i)
        F = moved
        gradient = terms.split(F).gradient
        np.testing.assert_allclose(
            seen.apart, terms.triplets.apart(F)[incidence.every.number], rtol=1e-12
        )


@pytest.mark.parametrize("penalty", ["hinge", "squared_hinge"])
def test_triplets_with_room_to_spare_are_left_out_until_they_lose_it(penalty):
    rng = np.random.default_rng(2)
    n = problem("dense")[0].view.shape[0]
    chosen = random_triplets(rng, n, 3 * n)
    F = rng.random((n, 4)) + 0.1
    q, r, s = F[chosen.T]
    wrong = np.sum((q - r) ** 2, axis=1) > np.sum((q - s) ** 2, axis=1)
    wrong[::5] = False  # all others hold
    chosen[wrong] = chosen[wrong][:, [0, 2, 1]]
    given, _, _ = problem("dense", penalty=penalty, triplets=chosen, weight=np.ones(3 * n))
    objective = Objective(dataclasses.replace(given, margin=0.01), 4)
    incidence = RowDescent(objective, 0).incidence
    triplets = objective.terms[0].triplets
    for move in (0.0, 1e-3, 0.2, 1.0):
        F = F + move * rng.random(F.shape)
        near, far = triplets.near_far(F)
        terms = objective.terms[0]
        seen, rows = incidence.coupling(terms, Look(terms, F), every=False)
        listed = np.flatnonzero(incidence.is_listed)
        assert len(seen.triplets.weight) == 3 * len(listed)
        assert set(np.flatnonzero(far - near <= 1.5 * 0.01)) <= set(listed)
        assert move >= 0.2 or len(listed) < 2 * n
        gradient = terms.split(F).gradient
        np.testing.assert_allclose(gradient[~rows], 0.0, atol=1e-15)
        for i in np.flatnonzero(rows):
            found = Model(np.zeros(4), np.zeros(4), np.zeros((SQUARES, 4)))
            felt = called(coupling.feel)(seen, i, i % LANES)
            called(coupling.model)(seen, F, i, felt, 1.0, found)
            np.testing.assert_allclose(found.slope, gradient[i], rtol=1e-8, atol=1e-10)


def test_a_row_comes_out_the_same_in_any_company():
    """Kernels work in arrays that the row before has used."""
    rng = np.random.default_rng(8)
    X = sp.csr_array(rng.random((12, 9)) * (rng.random((12, 9)) < 0.6))
    side = Side(l1=np.zeros(12), l2=np.where(np.arange(12) % 3 == 0, 50.0, 0.0))
    F, B = rng.random((12, 3)) * (rng.random((12, 3)) < 0.5), rng.random((9, 3)) + 0.1
    for beta_loss in ROW_LOSSES:
        for missing in (None, "zero"):
            objective = Objective(Problem(make_view(X, missing), beta_loss, rows=side), 3)
            descent = RowDescent(objective, 0)
            terms = objective.terms[0]
            together, _ = descent(F, B, terms)
            alone = F.copy()
            for i in descent.free:
                descent.free, descent.blocks = np.array([i]), {}
                alone[i] = descent(F, B, terms)[0][i]
            np.testing.assert_allclose(together, alone, rtol=1e-12)


@pytest.mark.parametrize("kind", ["triplets", "graph"])
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("count", [10, 60, 600])
def test_rows_in_groups_of_four_come_out_as_one_by_one(kind, count, holes):
    rng = np.random.default_rng(count)
    X = rng.random((60, 20))
    if holes:
        X[rng.random(X.shape) < 0.02] = np.nan
        X = sp.csr_array(X)
    side = {"triplets": random_triplets(rng, 60, count), "weight": np.ones(count)}
    if kind == "graph":
        side = {"graph": sp.csr_array(random_graph(rng, 60)), "graph_strength": 0.7}
    view = make_view(X, "nan" if holes else None)
    objective = Objective(Problem(view, rows=Side(**side)), 4)
    F, B = rng.random((60, 4)), rng.random((20, 4))
    descent = RowDescent(objective, 0)
    terms = objective.terms[0]
    in_groups, _ = descent(F, B, terms)
    one_by_one = F.copy()
    order = descent.linked
    for i in order:
        descent.linked = np.array([i])
        one_by_one, _ = descent(one_by_one, B, terms, visit=Visit(free=False))
    np.testing.assert_allclose(in_groups[order], one_by_one[order], rtol=1e-9, atol=1e-12)


def test_the_multiplier_is_that_of_the_factors_given():
    n = problem("dense")[0].view.shape[0]
    given, F, B = problem("dense", **knowledge(n, "triplets"))
    objective = Objective(given, 4)
    solver = CoordinateDescent(objective)
    now = Point(objective, *objective.scale.apply(F, B))
    moved = now.factors[0] * 1.5, now.factors[1]
    there = Point(objective, *moved)
    expected = solver.multiplier(1, moved, there)
    np.testing.assert_allclose(solver.multiplier(1, moved, now), expected, rtol=1e-12)
    assert not np.allclose(solver.multiplier(1, now.factors, now), expected)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("kind", ["triplets", "graph", "norms"])
def test_what_growing_columns_would_change(kind, distance):
    n = problem("dense")[0].view.shape[0]
    given, F, _ = problem("dense", distance=distance, **knowledge(n, kind))
    terms = Objective(given, 4).terms[0]
    gradient = terms.split(F).gradient
    look = Look(terms, F)
    np.testing.assert_allclose(look.gain(terms), np.sum(F * gradient, axis=0), rtol=1e-9)
    assert look.value(terms) == pytest.approx(terms.value(F))


@pytest.mark.parametrize("beta_loss", ROW_LOSSES)
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

    class Foreign:  # as code generators make them
        data = {"dispatcher": type("Made", (), {"py_func": type("f", (), {"__module__": None})})}

    notice = _Notice()
    with caplog.at_level(logging.WARNING, "rprnmf"):
        notice.on_start(Foreign())
        notice.on_start(Event())
        notice.on_start(Event())
    assert len(caplog.records) == 1
    assert "compiles" in caplog.text
