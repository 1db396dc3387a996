"""A penalty, a loss and a solver of a stranger: one small class and one line in a registry each.

What a solver minimises and records is then the objective with the new part in it, or it refuses
by the names of both parts. It never computes something else in silence.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError

from rprnmf import GNMF, LCNMF, NMF, RPRNMF
from rprnmf.kernels.triplet import At, violation
from rprnmf.losses import LOSSES
from rprnmf.losses.base import Loss
from rprnmf.objective import Objective, Point
from rprnmf.penalties import PENALTIES, TripletPenalty
from rprnmf.solvers import SOLVERS, Result, Solver
from rprnmf.solvers.loop import Step, alternate
from tests.builders import (
    LAYOUTS,
    ROW_LOSSES,
    lay_out,
    observed_mask,
    random_graph,
    random_mask,
    random_matrix,
    random_triplets,
)
from tests.oracles import objective as oracle

N, M, K = 12, 10, 3
RNG = np.random.default_rng(0)
X, MASK = random_matrix(RNG, N, M), random_mask(RNG, N, M)
TRIPLETS = {
    "row_triplets": random_triplets(RNG, N, 15),
    "column_triplets": random_triplets(RNG, M, 12),
}
GRAPHS = random_graph(RNG, N), random_graph(RNG, M)
LABELS = {"y": RNG.integers(-1, 4, size=N), "column_labels": RNG.integers(-1, 3, size=M)}


class CubedHinge(TripletPenalty):
    """max(u, 0)^3, u = 1 + (near - far) / margin."""

    @staticmethod
    def point(near, far, shape):
        u = max(violation(near, far, shape), 0.0)
        pull = 3.0 * shape.slope * u * u
        bend = 6.0 * shape.slope * shape.slope * u
        return At(u * u * u, pull, pull, bend, bend)


class SumOfBoth(Loss):
    """The squared error plus the divergence."""

    one, other = LOSSES["frobenius"], LOSSES["kullback-leibler"]

    def value(self, view, F, G):
        return self.one.value(view, F, G) + self.other.value(view, F, G)

    def split(self, view, F, G):
        return self.one.split(view, F, G).plus(self.other.split(view, F, G))

    def unit(self, view):
        return self.one.unit(view) + self.other.unit(view)

    def curvature(self, view):
        return self.one.curvature(view) + self.other.curvature(view)


class RootSteps(Solver):
    """F *= sqrt(negative / positive), and nothing else."""

    name = "roots"
    automatic = False

    def check(self, problem):
        self.check_margin(problem)

    def solve(self, problem, start, settings):
        self.check(problem)
        objective = Objective(problem, start[0].shape[1])

        def step(W, Ht):
            factors = [W, Ht]
            for index in objective.moving:
                F, B = factors[index], factors[1 - index]
                parts = objective.tied(index, objective.split(index, F, B))
                factors[index] = F * np.sqrt(parts.negative / parts.positive)
            return Step.at(objective, Point(objective, *factors))

        result = Result(*objective.start(start.pop(0), start.pop()))
        return alternate(step, result, objective.loss, settings)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(PENALTIES, "cubed", CubedHinge)
    monkeypatch.setitem(LOSSES, "sum", SumOfBoth())
    monkeypatch.setitem(SOLVERS, "roots", RootSteps())
    parts = [oracle.LOSSES[name] for name in ("frobenius", "kullback-leibler")]
    slow = oracle.SlowLoss(
        lambda x, y: sum(part.value(x, y) for part in parts),
        lambda x: sum(part.unit(x) for part in parts),
        lambda x: sum(part.curvature(x) for part in parts),
    )
    monkeypatch.setitem(oracle.LOSSES, "sum", slow)
    monkeypatch.setitem(oracle.COSTS, "cubed", lambda near, far, u: max(u, 0) ** 3)


def make(name, **parameters):
    """An estimator, what its fit is told, and its graphs."""
    settings = {"n_components": K, "init": "random", "random_state": 0, "max_iter": 15, "tol": 0.0}
    settings |= parameters
    if name == "NMF":
        return NMF(**settings), {}, (None, None)
    if name == "LCNMF":
        return LCNMF(**settings), LABELS, (None, None)
    if name == "GNMF":
        strengths = {"row_strength": 0.5, "column_strength": 2.0}
        graphs = {"row_graph": GRAPHS[0], "column_graph": GRAPHS[1]}
        return GNMF(**graphs, **strengths, **settings), {}, GRAPHS
    settings = {"penalty": "squared_hinge", "distance": "euclidean"} | settings
    return RPRNMF(row_strength=0.3, **settings), TRIPLETS, (None, None)


def assert_recorded_is_true(name, layout, **parameters):
    """The last recorded objective is that of the plain formulas; tells the fitted model."""
    data, missing = lay_out(X, MASK, layout)
    model, knowledge, graphs = make(name, missing=missing, alpha_W=0.01, **parameters)
    model.fit(data, **knowledge)
    last = model.history_[-1]
    seen = observed_mask(MASK, layout)
    factors = model.embedding_, model.components_
    strengths = last["row_strength"], last["column_strength"]
    slow = oracle.slow_objective(model, X, seen, *factors, knowledge, graphs, strengths)
    assert last["objective"] == pytest.approx(slow, rel=1e-9)
    assert last["objective"] < model.history_["objective"][0]
    return model, data


def refusal(name, layout, **parameters):
    data, missing = lay_out(X, MASK, layout)
    model, knowledge, _ = make(name, missing=missing, **parameters)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the words are looked at one by one
        model.fit(data, **knowledge)
    assert not hasattr(model, "components_")
    return str(caught.value)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["NMF", "GNMF", "LCNMF", "RPRNMF"])
class TestLoss:
    def test_multiplicative_steps_take_it(self, name, layout):
        model, data = assert_recorded_is_true(name, layout, beta_loss="sum", solver="mu")
        if name != "RPRNMF":  # whose column strength is automatic: it rises
            assert (np.diff(model.history_["objective"]) <= 0).all()
        model.set_params(max_iter=1000, tol=1e-6)
        seen, H = observed_mask(MASK, layout), model.components_
        placed, fitted = (
            oracle.LOSSES["sum"].value(X[seen], (W @ H)[seen])
            for W in (model.transform(data), model.embedding_)
        )
        assert placed <= 1.05 * fitted

    @pytest.mark.parametrize("solver", ["cd", "paper"])
    def test_who_needs_a_row_problem_refuses_it_by_name(self, name, layout, solver):
        said = refusal(name, layout, beta_loss="sum", solver=solver)
        assert repr(solver) in said
        assert "'sum'" in said
        assert "row problem" in said


@pytest.mark.parametrize("layout", LAYOUTS)
class TestPenalty:
    @pytest.mark.parametrize(
        ("solver", "beta_loss"),
        [*((solver, loss) for solver in ("cd", "mu") for loss in ROW_LOSSES), ("mu", "sum")],
    )
    def test_it_is_minimised(self, solver, beta_loss, layout):
        options = {"penalty": "cubed", "solver": solver, "beta_loss": beta_loss}
        assert_recorded_is_true("RPRNMF", layout, **options)
        fixed, _ = assert_recorded_is_true("RPRNMF", layout, column_strength=0.2, **options)
        assert (np.diff(fixed.history_["objective"]) <= 0).all()

    @pytest.mark.parametrize("beta_loss", ROW_LOSSES)
    def test_the_authors_program_refuses_it_by_name(self, layout, beta_loss):
        said = refusal("RPRNMF", layout, penalty="cubed", solver="paper", beta_loss=beta_loss)
        for part in ("solver='paper'", "penalty='cubed'", f"beta_loss={beta_loss!r}"):
            assert part in said


@pytest.mark.parametrize("beta_loss", [*ROW_LOSSES, "sum"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["NMF", "GNMF", "LCNMF", "RPRNMF"])
def test_a_solver_runs_in_every_estimator(name, layout, beta_loss):
    model, data = assert_recorded_is_true(name, layout, beta_loss=beta_loss, solver="roots")
    assert np.isfinite(model.transform(data)).all()


@pytest.mark.parametrize(
    ("parameter", "registry", "name"),
    [("penalty", PENALTIES, "cubed"), ("beta_loss", LOSSES, "sum"), ("solver", SOLVERS, "roots")],
)
def test_a_name_is_known_as_long_as_it_is_registered(parameter, registry, name):
    model = RPRNMF(K, init="random", random_state=0, max_iter=2, tol=0.0)
    model.set_params(**{"solver": "mu", parameter: name}).fit(X, **TRIPLETS)
    kept = registry.pop(name)
    with pytest.raises(InvalidParameterError, match=f"'{parameter}' parameter") as caught:
        model.fit(X, **TRIPLETS)
    registry[name] = kept
    for known in set(registry) - {name}:
        assert repr(known) in str(caught.value)
    assert f"Got '{name}'" in str(caught.value)


@pytest.mark.parametrize("factor", [0.5, 3.0])
@pytest.mark.parametrize("solver", ["cd", "paper"])
def test_a_loss_that_is_not_what_its_row_problem_says_is_refused(monkeypatch, solver, factor):
    class Times(Loss):
        """A multiple of the squared error."""

        row_problem = "quadratic"

        def value(self, view, F, G):
            return factor * LOSSES["frobenius"].value(view, F, G)

        def split(self, view, F, G):
            return LOSSES["frobenius"].split(view, F, G).times(factor)

        def unit(self, view):
            return LOSSES["frobenius"].unit(view)

        def curvature(self, view):
            return factor

    monkeypatch.setitem(LOSSES, "times", Times())
    with pytest.raises(ValueError, match=r"'times'.*quadratic"):
        NMF(K, beta_loss="times", solver=solver, max_iter=3).fit(X)
    fitted = NMF(K, beta_loss="times", solver="mu", max_iter=5, tol=0.0).fit(X)
    model = fitted.inverse_transform(fitted.embedding_)
    assert fitted.history_["loss"][-1] == pytest.approx(factor * np.sum((X - model) ** 2))
