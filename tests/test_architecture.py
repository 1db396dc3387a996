"""What ARCHITECTURE.md shows must run and be true."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from rprnmf import NMF, RPRNMF
from rprnmf.losses import LOSSES
from rprnmf.penalties import PENALTIES
from rprnmf.solvers import SOLVERS
from tests.builders import LAYOUTS, lay_out, observed_mask, random_mask, random_matrix
from tests.contracts.test_imports import LEVEL, ORDER

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
RNG = np.random.default_rng(0)
X, MASK = random_matrix(RNG, 9, 7), random_mask(RNG, 9, 7)


@pytest.fixture
def registered():
    """What each example adds to a registry; it is there for one test alone."""
    registries = LOSSES, PENALTIES, SOLVERS
    before: list[dict] = [dict(registry) for registry in registries]
    try:
        for code in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
            exec(compile(code, "ARCHITECTURE.md", "exec"), {"__name__": "example"})
        yield [sorted(set(now) - set(then)) for now, then in zip(registries, before, strict=True)]
    finally:
        for now, then in zip(registries, before, strict=True):
            now.clear()
            now.update(then)


def test_the_examples_add_one_part_of_each_kind(registered):
    assert registered == [["hellinger"], ["cubed_hinge"], ["roots"]]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_loss_is_that_of_its_formula(registered, layout):
    data, missing = lay_out(X, MASK, layout)
    model = NMF(3, beta_loss="hellinger", solver="mu", missing=missing, random_state=0, tol=0)
    model.set_params(row_prior=None, column_prior=None).fit(data)
    seen = observed_mask(MASK, layout)
    Y = model.inverse_transform(model.embedding_)
    slow = np.sum((np.sqrt(X[seen]) - np.sqrt(Y[seen])) ** 2)
    assert model.history_["loss"][-1] == pytest.approx(slow, rel=1e-9)
    assert model.history_["loss"][-1] < 0.9 * model.history_["loss"][0]


@pytest.mark.parametrize("solver", ["cd", "mu", "roots"])
def test_the_penalty_is_that_of_its_formula(registered, solver):
    triplets = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8]])
    model = RPRNMF(3, penalty="cubed_hinge", row_strength=0.5, solver=solver, tol=0)
    model.fit(X, row_triplets=triplets)
    W = model.embedding_
    sigma = 2.0 * X.var(axis=0).sum()
    near, far = (np.sum((W[triplets[:, 0]] - W[triplets[:, k]]) ** 2, axis=1) for k in (1, 2))
    u = np.maximum(1.0 + (near - far) / sigma / model.margin, 0.0)
    slow = 0.5 * np.sum(X**2) * np.mean(u**3)
    assert model.history_["row_penalty"][-1] == pytest.approx(slow, rel=1e-9, abs=1e-12)
    assert model.history_["objective"][-1] < model.history_["objective"][0]


def test_the_files_that_it_names_exist():
    names = set(re.findall(r"[\w/]+\.py", TEXT))
    assert len(names) > 10
    for name in names:
        assert (ROOT / name).exists() or (ROOT / "src" / "rprnmf" / name).exists(), name


def test_the_rooms_stand_in_the_order_of_imports():
    diagram = TEXT.split("## The rooms")[1].split("## ")[0]
    shown = []
    for line in re.findall(r"^    (\w.*)$", diagram, re.MULTILINE):
        shown.append(re.split(r"\s{3,}", line)[0].split())
    rooms = [room for line in shown for room in line]
    assert sorted(rooms) == sorted(set().union(*ORDER) - {"__init__", "__main__"})
    levels = [LEVEL[room] for room in rooms]
    assert levels == sorted(levels)
