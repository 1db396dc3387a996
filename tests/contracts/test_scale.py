"""The scale rule: kept by every step, and blind to the unit of X."""

from __future__ import annotations

import numpy as np
import pytest

from rprnmf import GNMF, RPRNMF
from rprnmf.losses import LOSSES
from rprnmf.objective import Objective, Problem, Side
from rprnmf.observed import make_view
from rprnmf.scale import ScaleRule
from rprnmf.solvers.fixed_norm import FixedSizes, multiplier_ratio
from tests.builders import (
    ROW_LOSSES,
    lay_out,
    random_graph,
    random_mask,
    random_matrix,
    random_triplets,
)

N, M, K = 12, 10, 3
RNG = np.random.default_rng(0)
X = random_matrix(RNG, N, M)
MASK = random_mask(RNG, N, M)
ROWS, COLUMNS = random_triplets(RNG, N, 10), random_triplets(RNG, M, 10)


@pytest.fixture(params=sorted(ROW_LOSSES))
def beta_loss(request):
    return request.param


@pytest.mark.parametrize("layout", ["dense", "sparse-zero"])
def test_the_free_factor_has_columns_of_size_one(beta_loss, layout):
    data, missing = lay_out(X, MASK, layout)
    sizes = LOSSES[beta_loss].column_sizes
    model = RPRNMF(K, beta_loss=beta_loss, missing=missing, max_iter=20, tol=0.0, random_state=0)
    model.fit(data, row_triplets=ROWS)
    np.testing.assert_allclose(sizes(model.components_.T), 1.0, rtol=1e-9)
    model.fit(data, column_triplets=COLUMNS)
    np.testing.assert_allclose(sizes(model.embedding_), 1.0, rtol=1e-9)
    graph = GNMF(K, beta_loss=beta_loss, missing=missing, row_graph=random_graph(RNG, N))
    graph.set_params(max_iter=20, tol=0.0, random_state=0).fit(data)
    np.testing.assert_allclose(sizes(graph.components_.T), 1.0, rtol=1e-9)


@pytest.mark.parametrize("layout", ["dense", "sparse-zero"])
def test_with_both_sides_the_columns_have_equal_sizes(beta_loss, layout):
    data, missing = lay_out(X, MASK, layout)
    sizes = LOSSES[beta_loss].column_sizes
    model = RPRNMF(K, beta_loss=beta_loss, missing=missing, max_iter=20, tol=0.0, random_state=0)
    model.fit(data, row_triplets=ROWS, column_triplets=COLUMNS)
    np.testing.assert_allclose(sizes(model.embedding_), sizes(model.components_.T), rtol=1e-9)


@pytest.mark.parametrize("solver", ["cd", "mu"])
@pytest.mark.parametrize("layout", ["dense", "sparse-zero"])
@pytest.mark.parametrize("sides", ["rows", "columns", "both"])
def test_with_l2_terms_on_both_factors_columns_cost_the_same(beta_loss, layout, sides, solver):
    data, missing = lay_out(X, MASK, layout)
    model = RPRNMF(K, beta_loss=beta_loss, missing=missing, solver=solver)
    model.set_params(alpha_W=0.02, alpha_H=0.05, alpha_power=0.7)
    model.set_params(max_iter=20, tol=0.0, random_state=0)
    known = {"row_triplets": ROWS, "column_triplets": COLUMNS}
    model.fit(
        data, **{k: t for k, t in known.items() if k.startswith(sides[:3]) or sides == "both"}
    )
    mask = MASK if layout == "sparse-zero" else np.ones((N, M), dtype=bool)
    costs = [
        alpha * mask.sum(axis=1 - side) ** 0.7 @ F**2
        for side, (alpha, F) in enumerate(
            ((0.02, model.embedding_), (0.05, model.components_.T.copy()))
        )
    ]
    np.testing.assert_allclose(costs[0], costs[1], rtol=1e-9)


def test_the_rule_keeps_the_product(beta_loss):
    W, Ht = RNG.random((N, K)), RNG.random((M, K))
    W[:, 1] = 0.0
    for rows, columns in ((True, False), (False, True), (True, True), (False, False)):
        rule = ScaleRule(make_view(X), LOSSES[beta_loss], K, rows, columns)
        new_W, new_Ht = rule.apply(W, Ht)
        np.testing.assert_allclose(new_W @ new_Ht.T, W @ Ht.T)
        again = rule.apply(new_W, new_Ht)
        np.testing.assert_allclose(again[0], new_W)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("rows", "columns"), [(True, False), (False, True), (True, True)])
def test_by_cost_the_rule_keeps_the_product_and_makes_costs_equal(beta_loss, rows, columns, dtype):
    W, Ht = RNG.random((N, K)).astype(dtype), RNG.random((M, K)).astype(dtype)
    W[:, 1] = 0.0
    l2 = 0.1 + RNG.random(N), 3.0 * RNG.random(M)
    rule = ScaleRule(make_view(X.astype(dtype)), LOSSES[beta_loss], K, rows, columns, l2=l2)
    new_W, new_Ht = rule.apply(W, Ht)
    assert new_W.dtype == dtype
    close = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(new_W @ new_Ht.T, W @ Ht.T, rtol=close)
    np.testing.assert_allclose(l2[0] @ new_W**2, l2[1] @ new_Ht**2, rtol=close)
    assert (new_Ht[:, 1] == 0).all()
    equal = ScaleRule(make_view(X), LOSSES[beta_loss], K, True, True)
    named = make_view(X).take(np.arange(5))
    for side in (0, 1):  # a distance of 1 grows as the squares of its factor do
        lean = np.sqrt(l2[1 - side].mean() / l2[side].mean())
        assert rule.sigma(side, 2, named) == pytest.approx(lean * equal.sigma(side, 2, named))
        assert rule.typical_entry(side) == pytest.approx(np.sqrt(lean) * equal.typical_entry(side))


def test_a_distance_of_one_is_a_typical_distance(beta_loss):
    """Whatever the unit of X, and whichever side carries."""
    for factor in (1e-3, 1.0, 1e3):
        view = make_view(factor * X)
        for rows, columns in ((True, False), (False, True), (True, True)):
            rule = ScaleRule(view, LOSSES[beta_loss], K, rows, columns)
            base = ScaleRule(make_view(X), LOSSES[beta_loss], K, rows, columns)
            for degree in (1, 2):
                power = degree * (0.5 if rows and columns else 1.0)
                for side in (0, 1):
                    named = [each.take(np.arange(5)) for each in (view, make_view(X))]
                    if side == 1:
                        named = [each.T.take(np.arange(5)) for each in (view, make_view(X))]
                    assert rule.sigma(side, degree, named[0]) == pytest.approx(
                        factor**power * base.sigma(side, degree, named[1])
                    )


@pytest.mark.parametrize("mask", [False, True])
def test_the_constrained_step_is_the_best_of_its_size(beta_loss, mask):
    """It minimises the surrogate of the loss among all columns of the same size."""
    view = make_view(np.where(MASK, X, np.nan), "nan") if mask else make_view(X)
    F, B = RNG.random((N, K)) + 0.1, RNG.random((M, K)) + 0.1
    loss = LOSSES[beta_loss]
    parts = loss.split(view, F, B)
    w = 2 * F if loss.size_order == 2 else np.ones_like(F)
    new = F * multiplier_ratio(F, parts, w, loss.size_order)
    np.testing.assert_allclose(loss.column_sizes(new), loss.column_sizes(F), rtol=1e-10)
    assert loss.value(view, new, B) < loss.value(view, F, B)

    def surrogate(A):
        if loss.size_order == 2:
            return np.sum(parts.positive * A**2 / (2 * F) - parts.negative * A)
        return np.sum(parts.positive * A - F * parts.negative * np.log(A))

    best = surrogate(new)
    for seed in range(50):
        other = new * np.exp(0.1 * np.random.default_rng(seed).standard_normal(new.shape))
        other *= loss.column_sizes(F) / loss.column_sizes(other)
        assert surrogate(other) >= best - 1e-9


def test_component_split_is_the_gradient_in_the_sizes(beta_loss):
    sides = [
        Side(triplets=items, weight=np.ones(len(items)), strength=0.3) for items in (ROWS, COLUMNS)
    ]
    problem = Problem(make_view(X), beta_loss, rows=sides[0], columns=sides[1])
    objective = Objective(problem, K)
    W, Ht = objective.start(RNG.random((N, K)) + 0.1, RNG.random((M, K)) + 0.1)
    parts = objective.component_split(W, Ht)
    assert (parts.positive >= 0).all()
    assert (parts.negative >= 0).all()
    for k in range(K):
        value = []
        for step in (1e-5, -1e-5):
            growth = np.ones(K)
            growth[k] = np.exp(step / 2)
            value.append(objective.values(W * growth, Ht * growth).objective)
        assert parts.gradient[k] == pytest.approx((value[0] - value[1]) / 2e-5, rel=1e-5)


def test_even_the_shortest_step_along_the_tangent_goes_down(beta_loss):
    side = Side(triplets=ROWS, weight=np.ones(len(ROWS)), strength=5.0)
    other = Side(triplets=COLUMNS, weight=np.ones(len(COLUMNS)), strength=5.0)
    objective = Objective(Problem(make_view(X), beta_loss, rows=side, columns=other), K)
    W, Ht = objective.start(RNG.random((N, K)) + 0.1, RNG.random((M, K)) + 0.1)
    sizes = FixedSizes(objective.scale, 0, None)
    ratio = sizes.tangent_ratio(W, objective.split(0, W, Ht))
    before = objective.values(W, Ht).objective
    new = sizes.resized(W * ratio**1e-5, W)
    assert objective.values(new, Ht).objective < before
