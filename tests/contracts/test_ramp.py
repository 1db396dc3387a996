"""`strength="auto"`: when a strength grows, and when it does not."""

from __future__ import annotations

import numpy as np
import pytest

from rprnmf.objective import Objective, Problem, Side
from rprnmf.observed import make_view
from rprnmf.solvers.ramp import FACTOR, LONGEST, MET, PATIENCE, Ramps

X = np.random.default_rng(0).random((6, 5)) + 0.1
MET_WELL = np.array([[0.0], [0.0], [9.0], [9.0], [9.0], [9.0]])
MET_BARELY = np.array([[0.0], [1.0], [1.001], [9.0], [9.0], [9.0]])
UNMET = np.array([[0.0], [2.0], [1.0], [9.0], [9.0], [9.0]])
H = np.ones((5, 1))


def ramps(triplets=((0, 1, 2),), weight=None, patience=PATIENCE):
    items = np.array(triplets)
    side = Side(
        triplets=items,
        weight=np.ones(len(items)) if weight is None else np.array(weight),
        automatic=True,
    )
    objective = Objective(Problem(make_view(X), rows=side), 1)
    return Ramps(objective, patience), objective.terms[0]


def raises(found, F, losses):
    return [found.raise_strengths(F, H, loss) for loss in losses]


def test_it_grows_while_a_triplet_is_not_met_and_stops_when_it_is():
    found, terms = ramps()
    first = terms.strength
    assert found.raise_strengths(UNMET, H)
    assert terms.strength == pytest.approx(FACTOR * first)
    assert not found.raise_strengths(MET_WELL, H)
    assert terms.strength == pytest.approx(FACTOR * first)  # and is not lowered


def test_it_waits_while_the_loss_falls_fast():
    found, terms = ramps()
    first = terms.strength
    assert all(raises(found, UNMET, [100.0, 90.0, 80.0]))  # more may come: not settled
    assert terms.strength == first
    raises(found, UNMET, [79.0])
    assert terms.strength > first


def test_it_does_not_wait_for_ever():
    found, terms = ramps()
    first = terms.strength
    raises(found, UNMET, 2.0 ** -np.arange(LONGEST))
    assert terms.strength == first
    raises(found, UNMET, [0.0])
    assert terms.strength > first


def test_what_is_met_barely_is_worth_a_few_raises():
    found, _ = ramps()
    grown = raises(found, MET_BARELY, [None] * 20)
    assert sum(grown) == MET + 1  # the first one was a gain
    assert not any(grown[MET + 1 :])


def test_what_stays_unmet_is_given_up():
    found, terms = ramps(patience=7)
    grown = raises(found, UNMET, [None] * 20)
    assert sum(grown) == 7 + 1
    assert terms.strength < found.sides[0][1].cap


def test_the_strength_has_a_cap():
    found, terms = ramps(patience=1000)
    raises(found, UNMET, [None] * 200)
    assert terms.strength == found.sides[0][1].cap


@pytest.mark.parametrize(("weight", "waits"), [((1.0, 1.0), False), ((2.0, 1.0), True)])
def test_of_two_that_contradict_the_heavier_is_waited_for(weight, waits):
    found, _ = ramps(((0, 1, 2), (0, 2, 1)), weight)
    assert found.raise_strengths(UNMET, H) is waits
