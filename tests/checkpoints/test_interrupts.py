"""Ctrl-C: the factors of the last iteration stay, and the same call goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from rprnmf import NMF, RPRNMF
from rprnmf.solvers.coordinate_descent import CoordinateDescent
from tests.builders import random_triplets
from tests.checkpoints.runs import outcome, quietly

RNG = np.random.default_rng(0)
X = RNG.random((16, 3)) @ RNG.random((3, 10)) + 0.1 * RNG.random((16, 10))
ROWS = random_triplets(RNG, 16, 80)
SETTINGS = {"n_components": 3, "max_iter": 20, "tol": 0.0, "random_state": 0}


class Interrupt:
    """A callback that is interrupted once, at the nth iteration that it sees."""

    def __init__(self, at):
        self.at, self.seen = at, 0

    def __call__(self, state):
        self.seen += 1
        if self.seen == self.at:
            raise KeyboardInterrupt


def test_the_model_has_the_factors_of_the_last_iteration_and_the_interrupt_is_raised():
    model = RPRNMF(**SETTINGS, callback=Interrupt(7))
    with pytest.raises(KeyboardInterrupt, match="stopped after 7 iterations") as error:
        model.fit(X, row_triplets=ROWS)
    assert "With checkpoint='a file' the same call could go on" in str(error.value)
    expected = quietly(RPRNMF(**SETTINGS | {"max_iter": 7}), X, row_triplets=ROWS)
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)
    np.testing.assert_array_equal(model.components_, expected.components_)
    assert model.n_iter_ == 7
    assert not model.converged_
    assert model.transform(X[:2]).shape == (2, 3)


@pytest.mark.parametrize("solver", ["cd", "mu", "paper"])
@pytest.mark.parametrize("at", [1, 5, 20])
def test_with_a_checkpoint_the_same_call_goes_on(at, solver, tmp_path):
    path = tmp_path / "run.ckpt"
    model = RPRNMF(**SETTINGS, solver=solver, callback=Interrupt(at))
    with pytest.raises(KeyboardInterrupt, match=f"goes on from {path}"):
        model.fit(X, row_triplets=ROWS, checkpoint=path)
    quietly(model, X, row_triplets=ROWS, checkpoint=path)
    expected = quietly(RPRNMF(**SETTINGS, solver=solver), X, row_triplets=ROWS)
    assert outcome(model) == outcome(expected)


@pytest.mark.parametrize("calls", range(1, 15, 3))
def test_in_the_middle_of_an_iteration(calls, tmp_path, monkeypatch):
    """Steps, and what they remember, are half done: the checkpoint is of the last whole one."""
    path, count = tmp_path / "run.ckpt", [0]
    step = CoordinateDescent.row_step

    def interrupted_step(self, *arguments):
        count[0] += 1
        if count[0] == calls:
            raise KeyboardInterrupt
        return step(self, *arguments)

    model = RPRNMF(**SETTINGS)
    with monkeypatch.context() as patch:
        patch.setattr(CoordinateDescent, "row_step", interrupted_step)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, row_triplets=ROWS, checkpoint=path)
    if hasattr(model, "embedding_"):
        few = quietly(RPRNMF(**SETTINGS | {"max_iter": model.n_iter_}), X, row_triplets=ROWS)
        np.testing.assert_array_equal(model.embedding_, few.embedding_)
    quietly(model, X, row_triplets=ROWS, checkpoint=path)
    assert outcome(model) == outcome(quietly(RPRNMF(**SETTINGS), X, row_triplets=ROWS))


@pytest.fixture
def count_steps(monkeypatch):
    """Counts iterations of all solves of a fit, and interrupts it at one of them."""
    step, counted = CoordinateDescent.__call__, {"n": 0, "at": None}

    def counting(self, W, Ht):
        counted["n"] += 1
        if counted["n"] == counted["at"]:
            raise KeyboardInterrupt
        return step(self, W, Ht)

    monkeypatch.setattr(CoordinateDescent, "__call__", counting)
    return counted


def test_anywhere_in_a_fit_of_many_solves(count_steps, tmp_path):
    """Before the factors of the fit have begun nothing is set; the checkpoint goes on from all."""
    settings = SETTINGS | {"row_prior": "data", "row_strength": "obey", "max_iter": 10}
    known = {"row_triplets": ROWS}
    expected = outcome(quietly(RPRNMF(**settings), X, **known))
    total, fitted = count_steps["n"], []
    for at in np.linspace(2, total, 25).astype(int):
        model, path = RPRNMF(**settings), tmp_path / f"{at}.ckpt"
        count_steps.update(n=0, at=at)
        with pytest.raises(KeyboardInterrupt, match="goes on from") as error:
            quietly(model, X, checkpoint=path, **known)
        fitted.append(hasattr(model, "embedding_"))
        assert fitted[-1] == ("the model has their factors" in str(error.value))
        quietly(model, X, checkpoint=path, **known)
        assert outcome(model) == expected
        assert count_steps["n"] in (total, total + 1), "what was done was not done again"
    assert not fitted[0]
    assert fitted[-1]


def test_an_earlier_start_is_kept_if_the_next_is_interrupted(tmp_path):
    settings = SETTINGS | {"init": "random", "n_init": 3}
    for at in (1, 20, 21, 33, 45):
        model, path = NMF(**settings, callback=Interrupt(at)), tmp_path / f"{at}.ckpt"
        with pytest.raises(KeyboardInterrupt, match="the model has their factors"):
            quietly(model, X, checkpoint=path)
        one = quietly(NMF(**settings | {"n_init": 1}), X)
        if at > 20:
            assert model.reconstruction_err_ <= one.reconstruction_err_
        quietly(model, X, checkpoint=path)
        assert outcome(model) == outcome(quietly(NMF(**settings), X))


def test_before_the_first_iteration_the_model_is_as_it_was():
    model = NMF(**SETTINGS).fit(X)
    before = outcome(model)

    class Hasty:
        def __array__(self, dtype=None, copy=None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="the model is as it was"):
        model.fit(Hasty())
    assert outcome(model) == before


def test_a_search_over_parameters_stops():
    """An interrupt that was swallowed would only end one of many fits."""
    calls = []

    def callback(state):
        calls.append(state.iteration)
        raise KeyboardInterrupt

    search = GridSearchCV(NMF(**SETTINGS, callback=callback), {"alpha_W": [0.0, 0.1]}, cv=2)
    search.scoring = lambda model, X, y=None: 0.0
    with pytest.raises(KeyboardInterrupt):
        search.fit(X)
    assert calls == [1]


PROGRAM = """
import sys
import numpy as np
from rprnmf import NMF
X = np.random.default_rng(0).random((60, 40))
def callback(state):
    if state.iteration == 20:
        open(sys.argv[2], "w").close()
model = NMF(5, max_iter=1_000_000, tol=0, random_state=0, callback=callback)
try:
    model.fit(X, checkpoint=sys.argv[1], checkpoint_every=1e6)
except KeyboardInterrupt as error:
    print(error)
    print(model.embedding_.shape)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it has other signals")
def test_a_real_signal(tmp_path):
    path = tmp_path / "run.ckpt"
    running = tmp_path / "running"  # compiling may take long before the first iteration
    command = [sys.executable, "-c", PROGRAM, path, running]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    while not running.exists():
        time.sleep(0.01)
        assert process.poll() is None
    size = path.stat().st_size
    os.kill(process.pid, signal.SIGINT)
    text = process.communicate(timeout=120)[0].decode()
    assert process.returncode == 0
    assert f"goes on from {path}" in text
    assert "(60, 5)" in text
    assert path.stat().st_size > size, "it was written when the fit was interrupted"
