"""Some random calls; python -m tests.fuzz makes thousands."""

from __future__ import annotations

import numpy as np
import pytest

from rprnmf import NMF
from tests.fuzz.__main__ import one, summary
from tests.fuzz.check import Broken, check_broken, check_call
from tests.fuzz.damage import DAMAGES
from tests.fuzz.draw import ESTIMATORS, Call, draw_call

CALLS = 40


@pytest.fixture(scope="module")
def outcomes():
    return {seed: one(seed, extreme=0.0) for seed in range(CALLS)}


def test_all_promises_hold(outcomes):
    assert [text for text in outcomes.values() if text.startswith("FAILED")] == []


def test_most_calls_are_not_refused(outcomes):
    fitted = sum(text == "fitted" for text in outcomes.values())
    assert fitted >= CALLS / 2


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_a_broken_call_is_refused_and_changes_nothing(name):
    """On the first call that has something to break."""
    for seed in range(1000):
        call = draw_call(seed)
        if DAMAGES[name](np.random.default_rng(seed), call):
            call.broken = name
            assert check_broken(call) == f"broken: {name}"
            return
    pytest.fail("no call has anything of that kind")


def test_calls_are_the_same_for_a_seed_and_reach_every_estimator():
    drawn = [draw_call(seed) for seed in range(40)]
    assert [str(call) for call in drawn] == [str(draw_call(seed)) for seed in range(40)]
    assert {type(call.model) for call in drawn} == set(ESTIMATORS)


class Liar(NMF):
    """Breaks one promise."""

    def __init__(self, lie="nothing", n_components=2, max_iter=5, random_state=0):
        super().__init__(n_components, max_iter=max_iter, tol=0.0, random_state=random_state)
        self.lie = lie

    def fit(self, X, y=None):
        super().fit(X)
        if self.lie == "sign":
            self.components_ = -1.0 - self.components_
        elif self.lie == "objective":
            self.history_["objective"][-1] *= 0.999
        elif self.lie == "rise":
            self.history_["objective"][-1] *= 10
        elif self.lie == "input":
            X[0, 0] += 1
        elif self.lie == "seed":
            self.embedding_ = self.embedding_ * (1 + 1e-6 * np.random.default_rng().random())
        elif self.lie == "index":
            raise IndexError("index 5 is out of bounds")
        elif self.lie == "rate":
            self.row_satisfied_rate_ = 0.5
        return self


@pytest.mark.parametrize(
    ("lie", "promise"),
    [
        ("sign", "components_ at least 0"),
        ("objective", "the objective"),
        ("rise", "no rise"),
        ("input", "inputs as before"),
        ("seed", "second fit"),
        ("rate", "no row rate"),
    ],
)
def test_a_broken_promise_is_seen(lie, promise):
    X = np.random.default_rng(0).random((6, 5))
    call = Call(0, Liar(lie), X, values=X.copy(), mask=np.ones_like(X, dtype=bool))
    with pytest.raises(Broken, match=promise):
        check_call(call)


def test_other_errors_and_missing_ones_are_seen():
    X = np.random.default_rng(0).random((6, 5))
    everything = {"values": X, "mask": np.ones_like(X, dtype=bool)}
    assert check_call(Call(0, Liar(), X, **everything)) == "fitted"
    with pytest.raises(IndexError):
        check_call(Call(0, Liar("index"), X, **everything))
    with pytest.raises(Broken, match="an error"):
        check_broken(Call(0, NMF(2), X, broken="not at all", **everything))


def test_the_summary_counts():
    class Arguments:
        calls, seed, extreme = 3, 0, 0.0

    found = [(0, "fitted"), (1, "refused: no 3 of them"), (2, "FAILED: expected more. NMF()")]
    page = summary(found, Arguments, 60.0)
    assert "| fitted | 1 |" in page
    assert "- 1: no # of them" in page
    assert "- seed 2: expected more. NMF()" in page
