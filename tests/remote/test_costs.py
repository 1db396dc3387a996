"""Rounds and numbers of an iteration are those of the table in docs/dask.md."""

from __future__ import annotations

import itertools
from typing import Any

import dask
import numpy as np
import pytest

from rprnmf import NMF
from rprnmf.remote.local import LocalPool
from tests.remote.matrices import in_blocks

pytest.importorskip("dask.array")
N, M, K, S = 300, 200, 6, 4
MK = M * K


def numbers(value: Any) -> float:
    """How many numbers of 8 bytes."""
    if isinstance(value, np.ndarray):
        return value.nbytes / 8
    if isinstance(value, (list, tuple, set)):
        return sum(numbers(each) for each in value)
    return float(isinstance(value, (float, np.generic)))


@pytest.fixture
def sent(monkeypatch):
    """Of each round: numbers to and from a block."""
    rounds: list[tuple[float, float]] = []
    plain = LocalPool._send

    def send(self, program):
        asked = [program.arguments, *(each.arguments for each in program.instructions)]
        given = {id(one): one for arguments in asked for one in arguments}
        answers = plain(self, program)
        rounds.append((sum(map(numbers, given.values())), numbers(answers[0])))
        return answers

    monkeypatch.setattr(LocalPool, "_send", send)
    return rounds


#: loss, solver, holes: rounds, numbers to and from each block
COSTS = {
    ("frobenius", "cd", False): (2, MK, MK + K * K),
    ("frobenius", "cd", True): (3, MK + 2 * M, MK * (K + 3) / 2),
    ("kullback-leibler", "cd", False): (5 + K * S, MK * (S + 3), MK * (2 * S + 1) + 8 * M),
    ("kullback-leibler", "cd", True): (5 + K * S, MK * (S + 3), MK * (2 * S + 2) + 8 * M),
    ("frobenius", "mu", False): (3, 2 * MK, MK + K * K),
    ("kullback-leibler", "mu", False): (3, 3 * MK, MK),
}


@pytest.mark.parametrize("case", COSTS)
def test_what_an_iteration_sends(sent, case):
    loss, solver, holes = case
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, 1.0, (N, 4)) @ rng.gamma(1.0, 1.0, (4, M)) * rng.uniform(0.8, 1.2, (N, M))
    if holes:
        X[rng.random(X.shape) < 0.5] = np.nan
    usual = {"beta_loss": loss, "solver": solver, "missing": "nan" if holes else None}
    usual |= {"init": "random", "tol": 0.0, "random_state": 0, "row_prior": None}
    marks: list[int] = []
    model = NMF(K, max_iter=9, column_prior=None, **usual)
    model.callback = lambda state: marks.append(len(sent))
    with dask.config.set(scheduler="synchronous"):
        model.fit(in_blocks(X, (100, 100, 100)))
    # the last round of each is for the callback
    each = [sent[a : b - 1] for a, b in itertools.pairwise(marks)]
    found = [(len(one), *np.sum(one, axis=0)) for one in each]
    rounds, to, back = np.median(found, axis=0)
    assert (rounds, COSTS[case][0]) == (COSTS[case][0], rounds)
    assert 0.8 * COSTS[case][1] <= to <= 1.2 * COSTS[case][1]
    assert 0.8 * COSTS[case][2] <= back <= 1.2 * COSTS[case][2]
    # a step that is taken back costs at most as much again
    assert max(one[0] for one in found) <= 2 * rounds
