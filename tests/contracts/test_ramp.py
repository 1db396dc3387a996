"""`strength="auto"`: when a strength grows, and when it does not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from rprnmf.objective import Look, Objective, Problem, Side
from rprnmf.observed import make_view
from rprnmf.solvers.ramp import CAP, FACTOR, FARTHEST, LONGEST, MET, PATIENCE, Ramps

X = np.random.default_rng(0).random((6, 5)) + 0.1
MET_WELL = np.array([[0.0], [0.0], [9.0], [9.0], [9.0], [9.0]])
MET_BARELY = np.array([[0.0], [1.0], [1.001], [9.0], [9.0], [9.0]])
UNMET = np.array([[0.0], [2.0], [1.0], [9.0], [9.0], [9.0]])


def ramps(triplets=((0, 1, 2),), weight=None, patience=PATIENCE):
    items = np.array(triplets)
    side = Side(
        triplets=items,
        weight=np.ones(len(items)) if weight is None else np.array(weight),
        automatic=True,
    )
    objective = Objective(Problem(make_view(X), rows=side), 1)
    return Ramps(objective, patience), objective.terms[0]


def raises(found, terms, F, losses):
    """Whether it rose, at each of these losses."""
    return [found.rise((Look(terms, F),), loss) for loss in losses]


def strength(found):
    return found.strengths[0]


def test_it_grows_while_a_triplet_is_not_met_and_stops_when_it_is():
    found, terms = ramps()
    first = strength(found)
    assert raises(found, terms, UNMET, [None]) == [True]
    assert strength(found) == pytest.approx(FACTOR * first)
    assert raises(found, terms, MET_WELL, [None]) == [False]
    assert strength(found) == pytest.approx(FACTOR * first)  # and is not lowered


def test_the_other_side_keeps_what_was_given():
    given = Side(triplets=np.array([[0, 1, 2]]), weight=np.ones(1), strength=0.25)
    auto = dataclasses.replace(given, strength=1.0, automatic=True)
    objective = Objective(Problem(make_view(X), rows=auto, columns=given), 1)
    found, looks = Ramps(objective), tuple(Look(terms, UNMET) for terms in objective.terms)
    found.rise(looks)
    found.rise(looks)
    assert found.strengths[1] == 0.25
    assert objective.strengths == (1.0, 0.25)  # what was built before does not change
    assert objective.at_strengths(found.strengths).strengths == found.strengths


def test_it_waits_while_the_loss_falls_fast():
    found, terms = ramps()
    first = strength(found)
    # more may come: not settled
    assert all(raises(found, terms, UNMET, [100.0, 90.0, 80.0]))
    assert strength(found) == first
    raises(found, terms, UNMET, [79.0])
    assert strength(found) > first


def test_it_does_not_wait_for_ever():
    found, terms = ramps()
    first = strength(found)
    raises(found, terms, UNMET, 2.0 ** -np.arange(LONGEST))
    assert strength(found) == first
    raises(found, terms, UNMET, [0.0])
    assert strength(found) > first


def test_what_is_met_barely_is_worth_a_few_raises():
    found, terms = ramps()
    grown = raises(found, terms, MET_BARELY, [None] * 20)
    assert sum(grown) == MET + 1  # the first one was a gain
    assert not any(grown[MET + 1 :])


CIRCLE = ((0, 1, 2), (2, 0, 1), (1, 2, 0))  # cannot all hold: each pair is nearer than the next


def test_what_contradicts_others_is_given_up():
    found, terms = ramps(CIRCLE, patience=7)
    grown = raises(found, terms, UNMET, [None] * 20)
    assert sum(grown) == 7 + 1
    assert strength(found) < CAP * terms.size_of_named


def test_for_triplets_in_contradiction_the_strength_has_a_cap():
    found, terms = ramps(CIRCLE, patience=1000)
    raises(found, terms, UNMET, [None] * 200)
    assert strength(found) == CAP * terms.size_of_named


def test_what_can_be_met_is_not_given_up():
    found, terms = ramps(patience=7)
    grown = raises(found, terms, UNMET, [None] * 100)
    assert all(grown[:60])
    assert not grown[-1]
    assert strength(found) == pytest.approx(FARTHEST * CAP * terms.size_of_named)


def test_but_not_at_the_price_of_the_data():
    found, terms = ramps(patience=7)
    flat = found.flat_loss
    raises(found, terms, UNMET, [0.5 * flat] * 20)
    high = strength(found)
    assert raises(found, terms, UNMET, [0.76 * flat]) == [False]
    assert raises(found, terms, UNMET, [0.74 * flat]) == [True]
    assert strength(found) > high


@pytest.mark.parametrize(("weight", "waits"), [((1.0, 1.0), False), ((2.0, 1.0), True)])
def test_of_two_that_contradict_the_heavier_is_waited_for(weight, waits):
    found, terms = ramps(((0, 1, 2), (0, 2, 1)), weight)
    assert raises(found, terms, UNMET, [None]) == [waits]
