"""A solver goes on from its state as if it had never stopped: a contract over the registry."""

from __future__ import annotations

import numpy as np
import pytest

from rprnmf.checkpoints import Journal, digest
from rprnmf.objective import Objective, Problem, Side
from rprnmf.observed import make_view
from rprnmf.priors import Prior
from rprnmf.solvers import SOLVERS, Settings
from rprnmf.solvers.coordinate_descent import CoordinateDescent
from rprnmf.solvers.multiplicative import Multiplicative
from rprnmf.solvers.paper import Program
from rprnmf.triplets import triplets_from_features
from tests.builders import ROW_LOSSES, random_graph, random_matrix, random_triplets

N, M, K = 24, 18, 4
SIDES = ("plain", "triplets", "room to spare", "both sides", "graph", "learning", "labels")


def posed(kind, solver, beta_loss):
    """A problem with something on its sides."""
    rng = np.random.default_rng(0)
    X = random_matrix(rng, N, M)
    rows = columns = Side()
    penalty, distance = SOLVERS[solver].default_penalty(beta_loss)
    known = {"triplets": random_triplets(rng, N, 60), "weight": np.ones(60)}
    automatic = SOLVERS[solver].automatic
    if kind == "room to spare":  # most triplets keep their margin, and are not listed
        known["triplets"] = triplets_from_features(X, 60, random_state=0).items
    if kind in ("triplets", "both sides", "room to spare"):
        rows = Side(**known, automatic=automatic)
    if kind == "both sides":
        columns = Side(random_triplets(rng, M, 20), np.ones(20), automatic=automatic)
    if kind == "graph":
        rows = Side(graph=make_view(random_graph(rng, N)).nonzeros().matrix())
    if kind == "learning":
        penalty = "ratio"
        rows = Side(**known, prior=Prior(X[:, :3], np.ones(N), 1.0), learning=True)
    if kind == "labels":
        rows = Side(groups=np.arange(N) // 2)
    program = "gnmf" if kind == "graph" else "rprnmf"
    margin = 0.02 if kind == "room to spare" else 0.35
    given = {"margin": margin, "rows": rows, "columns": columns, "program": program}
    return Problem(make_view(X), beta_loss, penalty, distance, **given)


def solve(solver, problem, path, max_iter):
    """A solve whose journal is in a file; its entry."""
    rng = np.random.default_rng(1)
    start = [rng.random((N, K)), rng.random((M, K))]
    journal = Journal(path, every=1e9)
    solver.solve(problem, start, Settings(max_iter, 0.0, journal=journal))
    (entry,) = journal.top.parts
    return journal, entry


def without_seconds(values):
    return {**values, "history": values["history"][:, :-1]}


@pytest.mark.parametrize("kind", SIDES)
@pytest.mark.parametrize("beta_loss", sorted(ROW_LOSSES))
@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_a_state_is_restored_whole_and_goes_on_alike(name, beta_loss, kind, tmp_path):
    solver, problem = SOLVERS[name], posed(kind, name, beta_loss)
    if kind == "learning" and name == "paper":
        pytest.skip("it has no priors")
    path = tmp_path / "solve"
    _, expected = solve(solver, problem, tmp_path / "other", 30)
    for n_iter in (1, 2, 7, 16):
        journal, entry = solve(solver, problem, path, n_iter)
        before = entry.values
        entry.finished = False
        journal.write()
        _, same = solve(solver, problem, path, n_iter)  # nothing is left to do
        assert digest(without_seconds(same.values)) == digest(without_seconds(before))
        _, on = solve(solver, problem, path, 30)
        assert digest(without_seconds(on.values)) == digest(without_seconds(expected.values))
        path.unlink()


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_a_state_does_not_change_with_later_iterations(name, tmp_path):
    """It is written when the next iteration is half done: by Ctrl-C."""
    solver, problem = SOLVERS[name], posed("both sides", name, "frobenius")
    journal = Journal(tmp_path / "solve", every=1e9)
    rng = np.random.default_rng(1)
    snapshots = []

    def callback(state):
        (entry,) = journal.top.parts
        if entry.values is not None:
            snapshots.append((entry.values, digest(entry.values())))

    start = [rng.random((N, K)), rng.random((M, K))]
    solver.solve(problem, start, Settings(30, 0.0, callback, journal=journal))
    assert len(snapshots) == 29
    assert all(digest(values()) == before for values, before in snapshots)


def changed(value):
    """Every number of a state, another one."""
    if isinstance(value, dict):
        return {key: changed(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(changed(each) for each in value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, np.ndarray):
        return ~value if value.dtype == bool else 0.5 * value
    if value is None:
        return 3.25
    return 7 if isinstance(value, int) else 0.5 * min(value, 100.0)


@pytest.mark.parametrize("kind", ["both sides", "learning"])
@pytest.mark.parametrize("make", [CoordinateDescent, Multiplicative, Program])
def test_every_number_of_a_state_is_restored(make, kind):
    """Also those that a small problem never changes."""
    name = {CoordinateDescent: "cd", Multiplicative: "mu", Program: "paper"}[make]
    if kind == "learning" and make is Program:
        pytest.skip("it has no priors")
    problem = posed(kind, name, "frobenius")
    rng = np.random.default_rng(1)
    W, Ht = rng.random((N, K)), rng.random((M, K))

    def fresh():
        return make(problem, K) if make is Program else make(Objective(problem, K))

    step = fresh()
    for _ in range(3):
        done = step(W, Ht)
        W, Ht = done.W, done.Ht
    state = changed(step.state())
    if make is CoordinateDescent:
        state["fallback"] = {"0": 0.25, "1": 0.125}
    other = fresh()
    other.restore(state, W, Ht)
    assert digest(other.state()) == digest(state)
