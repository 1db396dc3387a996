"""Asking a judge, choosing what to ask, and what answers buy."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from rprnmf import NMF, RPRNMF, Triplets
from rprnmf.model_selection import triplet_learning_curve
from rprnmf.model_selection.answers import triplet_folds
from rprnmf.model_selection.learning import in_groups, resample, rule
from rprnmf.triplets import (
    TripletFileError,
    as_triplets,
    ask,
    next_queries,
    selection,
    triplets_from_features,
)
from rprnmf.triplets.answer_file import AnswerFile
from rprnmf.triplets.posterior import Belief, Questions, RowPosterior

RNG = np.random.default_rng(0)
TASTE = RNG.random((40, 3))
X = np.hstack((TASTE, 1.0 - TASTE, 0.7 * RNG.random((40, 12))))
NAMES = [f"dish {k}" for k in range(40)]
MODEL = RPRNMF(4, row_prior="data", tol=0.01, random_state=0)


def nearer(q, r, s, taste=TASTE):
    return r if np.sum((taste[q] - taste[r]) ** 2) < np.sum((taste[q] - taste[s]) ** 2) else s


class Judge:
    """Answers by taste, and remembers what it was asked."""

    def __init__(self, stop_at=None):
        self.calls, self.stop_at = [], stop_at

    def __call__(self, q, r, s):
        if len(self.calls) == self.stop_at:
            raise KeyboardInterrupt
        self.calls.append((q, r, s))
        return nearer(q, r, s)


def question(q, r, s):
    return q, min(r, s), max(r, s)


def test_the_budget_counts_every_call_and_only_declared_questions_come_twice():
    judge = Judge()
    asked = ask(MODEL, judge, 70, X, repeats=0.2)
    assert len(judge.calls) == asked.n_calls == 70
    times = pd.Series([question(*call) for call in judge.calls]).value_counts()
    assert times.max() == 2
    assert (times == 2).sum() == asked.n_repeated > 5
    assert asked.consistency == 1.0
    assert asked.triplets.n_triplets == len(times)
    assert asked.triplets.weights.sum() == 70
    twice = [call for call in judge.calls if times[question(*call)] == 2]
    assert len(set(twice)) == len(twice)  # the second time the other way round
    q, r, s = asked.triplets.items.T
    assert all(nearer(*row) == row[1] for row in zip(q, r, s, strict=True))
    assert asked.model.row_triplets_.n_triplets == len(times)
    assert "70 calls" in repr(asked)
    assert not hasattr(MODEL, "embedding_")


def test_without_repeats_nothing_is_asked_twice_and_known_things_never():
    known = triplets_from_features(TASTE, 40, random_state=1)
    judge = Judge()
    asked = ask(MODEL, judge, 60, X, known=known, repeats=0.0)
    told = {question(*row) for row in known.items.tolist()}
    found = [question(*call) for call in judge.calls]
    assert len(set(found) | told) == 60 + len(told)
    assert np.isnan(asked.consistency)
    assert asked.model.row_triplets_.n_triplets == 60 + known.n_triplets
    assert len(asked.trace) == 6  # a tenth, from the first call on: something was known


@pytest.mark.parametrize("stop_at", [1, 27, 40])
def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(tmp_path, stop_at):
    whole = ask(MODEL, Judge(), 55, X, path=tmp_path / "whole.jsonl")
    path = tmp_path / "parts.jsonl"
    with pytest.raises(KeyboardInterrupt):
        ask(MODEL, Judge(stop_at), 55, X, path=path)
    assert len(path.read_text().splitlines()) == stop_at
    with path.open("a") as file:
        file.write('{"q": 3, "r": 1')  # killed while it wrote
    judge = Judge()
    asked = ask(MODEL, judge, 55, X, path=path)
    assert len(judge.calls) == 55 - stop_at
    assert path.read_text() == (tmp_path / "whole.jsonl").read_text()
    assert asked.triplets == whole.triplets
    np.testing.assert_array_equal(asked.model.embedding_, whole.model.embedding_)
    np.testing.assert_array_equal(asked.trace, whole.trace)
    ask(MODEL, None, 55, X, path=path)  # the budget is spent: no judge is needed


def test_a_larger_budget_goes_on(tmp_path):
    path = tmp_path / "answers.jsonl"
    ask(MODEL, Judge(), 25, X, path=path)
    ask(MODEL, Judge(), 50, X, path=path)
    ask(MODEL, Judge(), 50, X, path=tmp_path / "at_once.jsonl")
    assert path.read_text() == (tmp_path / "at_once.jsonl").read_text()


def test_a_judge_that_fails_or_says_something_else_loses_nothing(tmp_path):
    path = tmp_path / "answers.jsonl"
    count = iter(range(100))

    def fails(q, r, s):
        if next(count) == 4:
            raise RuntimeError("no connection")
        return s

    with pytest.raises(RuntimeError, match="no connection"):
        ask(MODEL, fails, 30, X, path=path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 4
    assert all(line["answer"] == line["s"] and line["kind"] == "random" for line in lines)
    for wrong in (True, "r", 99, [1, 2]):
        with pytest.raises(ValueError, match=r"must return the nearer one, \d+ or \d+, or None"):
            ask(MODEL, lambda q, r, s, wrong=wrong: wrong, 30, X, path=path)
    assert len(path.read_text().splitlines()) == 4


def test_a_judge_may_not_know():
    asked = ask(MODEL, lambda q, r, s: None if q % 2 else nearer(q, r, s), 50, X)
    assert 10 < asked.n_unknown < 40
    assert asked.triplets.weights.sum() == 50 - asked.n_unknown
    assert (asked.triplets.items[:, 0] % 2 == 0).all()
    nothing = ask(MODEL, lambda q, r, s: None, 30, X)
    assert nothing.triplets.n_triplets == 0
    assert nothing.n_unknown == 30
    assert nothing.model.embedding_.shape == (40, 4)


def test_a_judge_who_contradicts_himself_is_found_out():
    asked = ask(MODEL, lambda q, r, s: r, 80, X, repeats=0.3)
    assert asked.consistency == 0.0  # always the first: the other way round, the other one
    assert asked.n_repeated > 10
    both = Triplets(asked.triplets.items[:, [0, 2, 1]])
    same = {tuple(row) for row in both.items.tolist()} & {
        tuple(row) for row in asked.triplets.items.tolist()
    }
    assert len(same) == 2 * asked.n_repeated


def test_names_are_used_where_there_are_names(tmp_path):
    place = {name: k for k, name in enumerate(NAMES)}

    def judge(q, r, s):
        return NAMES[nearer(place[q], place[r], place[s])]

    frame = pd.DataFrame(X, index=NAMES)
    path = tmp_path / "answers.jsonl"
    some = ask(MODEL, judge, 30, frame, path=path, items=NAMES[:10])
    assert some.triplets.named
    assert set(some.triplets.items.ravel()) <= set(NAMES[:10])
    line = json.loads(path.read_text().splitlines()[0])
    assert {line["q"], line["r"], line["s"], line["answer"]} <= set(NAMES)
    numbers = ask(MODEL, lambda q, r, s: nearer(q, r, s), 30, X, items=range(10))
    assert some.triplets == numbers.triplets.with_names(NAMES)
    by_name = ask(MODEL, judge, 30, X, row_names=NAMES, items=NAMES[:10])
    assert by_name.triplets == some.triplets
    years = pd.DataFrame(X, index=range(1980, 2020))  # whole numbers that are names
    few = numbers.triplets.with_names(years.index)
    found = ask(MODEL, lambda q, r, s: r, 30, years, items=range(1980, 1990), candidates=few)
    assert found.n_calls > 20
    assert found.triplets.items.min() >= 1980


def test_models_that_do_not_learn_can_be_asked_for_too():
    for settings in ({}, {"solver": "paper", "max_iter": 20}):
        asked = ask(RPRNMF(3, tol=0, random_state=0, **settings), Judge(), 30, X, repeats=0.0)
        assert asked.triplets.n_triplets == 30
        assert asked.model.row_satisfied_rate_ > 0.7
    known = Triplets([[0, 1, 2]], absent="drop")
    assert ask(MODEL, Judge(), 5, X, known=known).n_calls == 5


def test_columns_can_be_compared():
    model = RPRNMF(4, column_prior="data", tol=0.01, random_state=0)
    asked = ask(model, Judge(), 50, X.T, side="column")
    assert asked.model.column_triplets_.n_triplets == asked.triplets.n_triplets
    assert asked.model.row_triplets_.n_triplets == 0
    assert asked.triplets.items.max() > 20
    assert asked.model.score_triplets(asked.triplets, "column") > 0.8


def test_candidates_run_out():
    few = triplets_from_features(TASTE, 35, random_state=0)
    judge = Judge()
    asked = ask(MODEL, judge, 500, X, candidates=few, repeats=0.0)
    assert asked.n_calls == 35
    assert {question(*c) for c in judge.calls} == {question(*t) for t in few.items.tolist()}


def test_wrong_settings_are_refused_before_anything_is_asked(tmp_path):
    for settings, message in (
        ({"side": "both"}, "side must be"),
        ({"repeats": 0.9}, "repeats must be a share"),
        ({"checks": -0.1}, "checks must be a share"),
        ({"items": ["tea"]}, "not a row name"),
    ):
        with pytest.raises(ValueError, match=message):
            ask(MODEL, None, 10, X, **settings)
    with pytest.raises(TypeError, match="needs an RPRNMF"):
        ask(NMF(3), None, 10, X)
    with pytest.raises(FileNotFoundError):
        ask(MODEL, None, 10, X, path=tmp_path / "nowhere" / "answers.jsonl")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tea\n", "line 2: this is not JSON"),
        ('{"q": 1}\n', "the field 'r' is missing"),
        ('{"q": 99, "r": 1, "s": 2, "answer": 1, "expected": null, "kind": "random"}\n', "q is 99"),
        ('{"q": 1, "r": 1, "s": 2, "answer": 1, "expected": null, "kind": "random"}\n', "three"),
        ('{"q": 3, "r": 1, "s": 2, "answer": 3, "expected": null, "kind": "random"}\n', "answer"),
    ],
)
def test_a_file_that_is_not_right_says_where(tmp_path, line, message):
    good = '{"q": 0, "r": 1, "s": 2, "answer": null, "expected": null, "kind": "random"}\n'
    path = tmp_path / "answers.jsonl"
    path.write_text(good + line)
    with pytest.raises(TripletFileError, match=message):
        AnswerFile(path, list(range(40))).read()
    assert path.read_text() == good + line


@pytest.mark.parametrize("floor", [None, 0.05])
def test_the_uncertainty_is_that_of_prior_data_and_answers(floor):
    """Row by row, with gradients by finite differences."""
    rng = np.random.default_rng(1)
    F = rng.random((6, 2)) + 0.1
    known = Triplets([[0, 1, 2], [0, 3, 4], [5, 0, 1]], weights=[1.0, 2.0, 3.0])
    data = np.array([[0.3, 0.1], [0.1, 0.2]])
    belief = Belief(0.7, np.linspace(1.0, 2.0, 6), data, floor)

    def gaps(row, items):
        moved = F.copy()
        moved[0] = row
        q, r, s = moved[items.T]
        near, far = np.sum((q - r) ** 2, axis=1), np.sum((q - s) ** 2, axis=1)
        return (near - far) / 0.7 if floor is None else np.log((near + floor) / (far + floor))

    def slope(items):
        steps = 1e-6 * np.eye(2)
        return np.array([(gaps(F[0] + e, items) - gaps(F[0] - e, items)) / 2e-6 for e in steps])

    g, p = slope(known.items), 1.0 / (1.0 + np.exp(-gaps(F[0], known.items)))
    precision = 1.0 * np.eye(2) + data + (g * (p * (1.0 - p) * [0.5, 1.0, 1.5])) @ g.T
    found = RowPosterior(F, belief, known, np.array([0, 1, 2, 3]))
    np.testing.assert_allclose(np.linalg.inv(found.covariance[0]), precision, rtol=1e-6)
    items = np.array([[0, 2, 3], [1, 2, 3]])
    asked = Questions(F, belief, items)
    np.testing.assert_allclose(asked.gaps, gaps(F[0], items))
    np.testing.assert_allclose(asked.slopes[0, 0], slope(items)[:, 0], rtol=1e-6)
    slow = sum(
        asked.slopes[0, k] @ found.covariance[row] @ asked.slopes[0, k]
        for k, row in enumerate(items[0])
    )
    np.testing.assert_allclose(found.variances(asked)[0], slow)
    F[0, 1] = 0.0  # it cannot move, whatever is answered
    held = RowPosterior(F, belief._replace(data=np.zeros((2, 2))), known, np.arange(6))
    assert held.covariance[0, 1, 1] == 1.0


def test_a_batch_knows_what_it_would_have_learned():
    rng = np.random.default_rng(2)
    F = rng.random((9, 3)) + 0.1
    belief = Belief(0.5, np.ones(9), np.zeros((3, 3)))
    items = np.array([rng.permutation(9)[:3] for _ in range(30)])
    targets = np.array([rng.permutation(9)[:3] for _ in range(40)])
    batch = selection.weigh(F, belief, as_triplets(None), items, targets)
    before, gain = batch.parts[0].sum(axis=1), batch.gains()
    number = int(np.argmax(gain))
    batch.learn(number)
    after = batch.parts[0].sum(axis=1)
    assert (after <= before + 1e-12).all()
    assert after[number] < 0.9 * before[number]
    assert batch.gains()[number] < 0.7 * gain[number]
    apart = ~np.isin(items, items[number]).any(axis=1)
    assert apart.any()
    np.testing.assert_allclose(after[apart], before[apart])


def test_chosen_questions_teach_more_than_others():
    """Three rounds of questions from the same start, as many answers."""
    rng = np.random.default_rng(3)
    taste = rng.random((60, 2))
    X = np.hstack((rng.random((60, 6)), taste, 1.0 - taste))
    unseen = triplets_from_features(taste, 3000, random_state=99)
    gained = []
    for seed in range(2):
        scores = {}
        for n_draws in (1, 60):
            known = triplets_from_features(taste, 40, random_state=seed)
            for number in range(4):
                model = RPRNMF(4, row_prior="data", tol=0.01, random_state=0)
                model.fit(X, row_triplets=known)
                found = next_queries(model, 40, n_draws=n_draws, random_state=seed + number).items
                near = [nearer(q, r, s, taste) for q, r, s in found]
                far = found[:, 1:].sum(axis=1) - near
                known = known + np.column_stack((found[:, 0], near, far))
            scores[n_draws] = model.score_triplets(unseen)  # with one draw they are random
        gained.append(scores[60] - scores[1])
    assert np.mean(gained) > 0.01
    assert min(gained) > 0.0


def test_chosen_questions_of_a_learned_model_are_new_and_spread():
    known = triplets_from_features(TASTE, 80, random_state=0)
    model = RPRNMF(4, row_prior="data", tol=0.01, random_state=0).fit(X, row_triplets=known)
    found = next_queries(model, 60, random_state=0)
    assert found == next_queries(model, 60, random_state=0)
    asked = {question(*row) for row in found.items.tolist()}
    assert len(asked) == 60
    assert not asked & {question(*row) for row in known.items.tolist()}
    assert np.bincount(found.items.ravel(), minlength=40).max() <= 7  # 4.5 on average
    assert (model.predict_triplets(found) >= 0.5).all()  # r is the nearer one
    assert next_queries(model, 0).n_triplets == 0
    one = next_queries(model, 5, candidates=[[0, 1, 2], [0, 2, 1]], random_state=0)
    assert one.n_triplets == (question(0, 1, 2) not in {question(*t) for t in known.items.tolist()})
    few = next_queries(model, 500, items=[1, 5, 7, 9], random_state=0)
    assert set(np.unique(few.items)) == {1, 5, 7, 9}
    every = {question(*row) for row in few.items.tolist()}
    assert len(every) == few.n_triplets <= 12


def curve_of(groups=None, **settings):
    known = triplets_from_features(TASTE, 200, random_state=0)
    settings = {"n_splits": 3, "random_state": 0, "verbose": 0} | settings
    return triplet_learning_curve(MODEL, X, known, groups=groups, **settings)


def test_a_learning_curve_rises_within_its_interval():
    curve = curve_of(train_sizes=[10, 40, 1.0])
    assert curve.train_sizes.tolist() == [10, 40, 133]
    assert ((curve.low >= 0) & (curve.low <= curve.accuracy)).all()
    assert ((curve.accuracy <= curve.high) & (curve.high <= 1)).all()
    assert curve.accuracy[-1] > curve.accuracy[0] + 0.05
    assert curve.accuracy[-1] > 0.75
    more, low, high = curve.predict([133, 266, 10**9])
    assert (np.diff(more) > 0).all()
    assert ((low <= more) & (more <= high) & (high <= 1)).all()
    assert abs(more[0] - curve.accuracy[-1]) < 0.05
    assert "266" in str(curve).splitlines()[-1]
    again = curve_of(train_sizes=[10, 40, 1.0])
    np.testing.assert_array_equal(again.accuracy, curve.accuracy)
    np.testing.assert_array_equal(again.resampled, curve.resampled)


def test_groups_stay_together():
    group = np.repeat(np.arange(20), 10)
    rng = np.random.RandomState(0)
    fold = triplet_folds(group, 3, rng)
    assert all(len(set(fold[group == g])) == 1 for g in range(20))
    order = in_groups(np.flatnonzero(fold != 0), group, rng)
    assert sorted(order) == np.flatnonzero(fold != 0).tolist()
    assert np.count_nonzero(np.diff(group[order])) == len(set(group[order])) - 1
    # answers of a group that are right or wrong together say less than as many others
    right = np.repeat(rng.uniform(size=20) < 0.7, 10)[None].astype(float)
    wide, narrow = (
        np.ptp(np.percentile(resample(right, np.ones(200), each, rng), [5, 95]))
        for each in (group, np.arange(200))
    )
    assert wide > 2.0 * narrow


def test_copies_of_a_question_are_not_fitted_and_predicted():
    rng = np.random.default_rng(0)
    noise = np.array([rng.permutation(40)[:3] for _ in range(60)])
    copies = Triplets(np.concatenate((noise, noise, noise[:, [0, 2, 1]])))
    settings = {"train_sizes": [0.5, 1.0], "n_splits": 2, "random_state": 0, "verbose": 0}
    curve = triplet_learning_curve(MODEL, X, copies, **settings)
    assert curve.accuracy.max() < 0.6
    twice = Triplets(np.concatenate((noise, noise)))
    with_copies = triplet_learning_curve(MODEL, X, twice, groups=np.arange(120), **settings)
    assert with_copies.accuracy[-1] > curve.accuracy[-1] + 0.1  # they were told apart by the user


def test_the_rule_of_the_curve():
    n = np.array([100, 400, 1600])
    floor, slope = rule(n, 1.0 - (0.1 + 2.0 / np.sqrt(n))[None])
    np.testing.assert_allclose([floor[0], slope[0]], [0.1, 2.0])
    floor, slope = rule(n, 1.0 - (4.0 / np.sqrt(n) - 0.01)[None])
    assert floor[0] == 0.0
    assert 3.5 < slope[0] < 4.0
    floor, slope = rule(n, np.array([[0.8, 0.7, 0.6]]))  # falling: nothing is gained
    np.testing.assert_allclose([floor[0], slope[0]], [0.3, 0.0])


def test_a_curve_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="fractions above 0"):
        curve_of(train_sizes=[0.5, 1.5])
    with pytest.raises(ValueError, match="from 1 to 133"):
        curve_of(train_sizes=[10, 500])
    with pytest.raises(ValueError, match="two different"):
        curve_of(train_sizes=[10])
    with pytest.raises(ValueError, match="one for each of 200"):
        curve_of(groups=[1, 2])
    with pytest.raises(ValueError, match="n_splits must be from 2"):
        curve_of(groups=np.zeros(200))
