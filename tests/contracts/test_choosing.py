"""Choosing the strength, the next question, and the report after a fit."""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold

from rprnmf import NMF, RPRNMF, Triplets
from rprnmf.metrics import satisfied_rate, triplet_distances
from rprnmf.model_selection import choose_settings, choose_strength, triplet_scorer
from rprnmf.triplets import next_queries, propose_queries, triplets_from_features

RNG = np.random.default_rng(0)
HIDDEN = RNG.random((40, 3))
X = HIDDEN @ RNG.random((3, 25)) + 0.05 * RNG.random((40, 25))
KNOWN = triplets_from_features(HIDDEN, 150, random_state=0)
MODEL = RPRNMF(4, max_iter=25, tol=0, random_state=0)
MODEL_AUTO = clone(MODEL).fit(X, row_triplets=KNOWN)


def test_strengths_are_judged_on_what_was_held_out(capsys):
    strengths = ["auto", 1.0, 0.001]
    settings = {"row_triplets": KNOWN, "n_splits": 3, "random_state": 0}
    curve = choose_strength(MODEL, X, strengths, **settings)
    assert "10 of 10 fits" in capsys.readouterr().err
    assert curve.strengths == [0.001, 1.0, "auto"]
    assert curve.satisfied.shape == curve.losses.shape == (3, 3)
    assert curve.met.shape == (3, 150)
    np.testing.assert_allclose(curve.met.mean(axis=1), curve.satisfied_mean)  # folds of 50
    assert ((curve.satisfied >= 0) & (curve.satisfied <= 1)).all()
    assert (curve.losses > 0).all()
    assert curve.recommended in curve.strengths
    place = curve.strengths.index(curve.recommended)
    assert curve.auto == pytest.approx(MODEL_AUTO.history_["row_strength"][-1])
    assert f"({curve.auto:.2g})" in str(curve)
    assert "<- recommended" in str(curve).splitlines()[1 + place]
    again = choose_strength(MODEL, X, strengths, **settings, verbose=0)
    np.testing.assert_array_equal(again.satisfied, curve.satisfied)
    np.testing.assert_array_equal(again.losses, curve.losses)
    assert MODEL.row_strength == "auto"


def test_noise_is_not_worth_following():
    """Triplets at random say nothing about held-out ones: the weakest strength will do, by far
    most of the time (that a stronger one is a standard error better happens by chance)."""
    curves = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        noise = np.array([rng.permutation(40)[:3] for _ in range(150)])
        curves.append(
            choose_strength(
                MODEL, X, [1e-4, 1.0], row_triplets=noise, n_splits=4, random_state=0, verbose=0
            )
        )
    assert sum(curve.recommended == 1e-4 for curve in curves) >= 8
    assert all(curve.loss_mean[1] > curve.loss_mean[0] for curve in curves)
    assert abs(np.mean([curve.satisfied_mean[0] for curve in curves]) - 0.5) < 0.08


def test_groups_are_held_out_together():
    from rprnmf.model_selection.answers import triplet_folds

    group = np.arange(150) // 10
    fold = triplet_folds(group, 5, np.random.RandomState(0))
    assert np.bincount(fold).tolist() == [30] * 5
    assert all(len(set(fold[group == g])) == 1 for g in range(15))


def test_groups_are_those_of_the_triplets_that_x_knows():
    """What absent="drop" leaves out takes its group with it."""
    frame = pd.DataFrame(X, index=[f"row {i}" for i in range(40)])
    names = np.array(frame.index, dtype=object)[KNOWN.items]
    names[::3, 1] = "nobody"
    settings = {"strengths": [1.0], "n_splits": 3, "random_state": 0, "verbose": 0}
    some = Triplets(names, absent="drop")
    kept = np.flatnonzero(names[:, 1] != "nobody")
    group = np.arange(150) % 7
    given = choose_strength(MODEL, frame, row_triplets=some, row_groups=group, **settings)
    same = choose_strength(
        MODEL, X, row_triplets=KNOWN.take(kept), row_groups=group[kept], **settings
    )
    np.testing.assert_array_equal(given.satisfied, same.satisfied)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"row_triplets": None}, "needs row_triplets or column_triplets"),
        ({"strengths": []}, "strengths is empty"),
        ({"strengths": [0.0]}, "positive numbers or 'auto'"),
        ({"n_splits": 200}, "from 2 to the number of answers"),
        ({"n_splits": 1}, "n_splits must be from 2 to .* got 1"),
        ({"row_groups": [1, 2]}, "one for each of 150 triplets, got 2"),
    ],
)
def test_what_cannot_be_chosen_is_said(change, message):
    given = {"strengths": [1.0], "row_triplets": KNOWN, "verbose": 0} | change
    with pytest.raises(ValueError, match=message):
        choose_strength(MODEL, X, **given)


def made(seed, n=80, n_known=600):
    """Answers about two of six topics, some of them wrong, and X, which shows all topics."""
    rng = np.random.default_rng(seed)
    topics = rng.gamma(0.5, 1.0, (n, 6))
    asked = np.array([rng.choice(n, 3, replace=False) for _ in range(n_known + 2000)])
    q, r, s = np.sqrt(topics[asked.T, :2])
    doubt = rng.logistic(scale=0.2, size=len(asked))
    other = np.sum((q - r) ** 2, axis=1) + doubt > np.sum((q - s) ** 2, axis=1)
    asked[other] = asked[other][:, [0, 2, 1]]
    data = topics @ (rng.random((6, 30)) < 0.3) + 0.1 * rng.random((n, 30))
    return data, asked[:n_known], asked[n_known:]


class CountedSteps:
    """Counts the iterations of every fit."""

    def __init__(self, monkeypatch):
        from rprnmf.solvers import SOLVERS

        solver, self.n = type(SOLVERS["cd"]), 0
        solve = solver.solve

        def counted(this, *arguments):
            result = solve(this, *arguments)
            self.n += result.n_iter
            return result

        monkeypatch.setattr(solver, "solve", counted)

    def of(self, call):
        before = self.n
        found = call()
        return self.n - before, found


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("prior", [None, "data"])
def test_ten_fits_are_enough(prior, monkeypatch):
    """In iterations, which do not depend on the machine."""
    steps = CountedSteps(monkeypatch)
    data, known, _ = made(0)
    model = RPRNMF(8, row_prior=prior, random_state=0)
    one, _ = steps.of(lambda: clone(model).fit(data, row_triplets=known))
    settings = {"row_triplets": known, "random_state": 0, "verbose": 0}
    several, curve = steps.of(lambda: choose_strength(model, data, **settings))
    assert several <= 10 * one
    assert curve.satisfied.shape == (6, 5)
    if prior is None:
        slowest = clone(model).set_params(row_prior="data", row_graph="knn", graph_strength=1.0)
        one, _ = steps.of(lambda: slowest.fit(data, row_triplets=known))
        several, _ = steps.of(lambda: choose_settings(model, data, **settings))
        assert several <= 10 * one


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_recommended_is_not_worse_than_the_default():
    """On answers that neither the fit nor the choice has seen, on average over draws."""
    gains = []
    for seed in range(4):
        data, known, unseen = made(seed)
        model = RPRNMF(8, random_state=0)
        settings = {"row_triplets": known, "random_state": 0, "verbose": 0}
        curve = choose_strength(model, data, **settings)
        table = choose_settings(model, data, **settings)
        default, strength, chosen = (
            clone(model).set_params(**change).fit(data, row_triplets=known).score_triplets(unseen)
            for change in ({}, {"row_strength": curve.recommended}, table.recommended)
        )
        gains.append((strength - default, chosen - default))
    assert np.mean(gains, axis=0)[0] >= -0.005
    assert np.mean(gains, axis=0)[1] >= 0.02


def test_settings_are_a_table_of_parameters():
    data, known, _ = made(1)
    model = RPRNMF(8, max_iter=50, random_state=0)
    settings = {"row_triplets": known, "random_state": 0, "verbose": 0}
    table = choose_settings(model, data, strengths=[1.0], **settings)
    assert table.settings[:2] == [{"row_strength": "auto"}, {"row_strength": 1.0}]
    assert {"row_prior": "data", "row_strength": "auto"} in table.settings
    assert table.satisfied.shape == table.losses.shape == (8, 5)
    dropped = np.isnan(table.satisfied).any(axis=1)
    assert not dropped[:2].any()
    assert dropped.sum() == 2
    assert not np.isnan(table.satisfied[:, :3]).any()
    lines = str(table).splitlines()
    assert "<- recommended" in lines[1 + table.settings.index(table.recommended)]
    assert sum("dropped after 3 folds" in line for line in lines) == 2
    again = choose_settings(model, data, strengths=[1.0], **settings)
    np.testing.assert_array_equal(again.satisfied, table.satisfied)
    features = np.random.default_rng(0).random((80, 2))
    own = choose_settings(model, data, [{"row_prior": features}], **settings, n_splits=3)
    assert own.satisfied.shape == (6, 3)
    assert "row_prior=<80 x 2>" in str(own)
    has_both = clone(model).set_params(row_prior="data", row_graph="knn", graph_strength=1.0)
    assert len(choose_settings(has_both, data, **settings, n_splits=2).settings) == 3


def test_answers_of_columns_may_choose_too():
    data, known, _ = made(2, n=40, n_known=200)
    settings = {"column_triplets": known, "random_state": 0, "n_splits": 2, "verbose": 0}
    model = RPRNMF(5, max_iter=30, random_state=0)
    curve = choose_strength(model, data.T, [0.1, "auto"], **settings)
    rows = choose_strength(
        model, data.T, [0.1, "auto"], row_triplets=[[0, 1, 2], [3, 4, 5]] * 3, **settings
    )
    assert curve.satisfied.shape == rows.satisfied.shape == (2, 2)
    table = choose_settings(model, data.T, **settings)
    assert {"column_prior": "data", "column_strength": "auto"} in table.settings


@pytest.mark.parametrize("solver", ["cd", "mu", "paper"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "missing"])
def test_every_solver_and_kind_of_data(solver, kind):
    data = np.where(RNG.random(X.shape) < 0.2, np.nan, X) if kind == "missing" else X
    data = sparse.csr_array(X) if kind == "sparse" else data
    missing = "nan" if kind == "missing" else None
    model = RPRNMF(4, solver=solver, missing=missing, max_iter=10, tol=0, random_state=0)
    settings = {"row_triplets": KNOWN, "n_splits": 2, "random_state": 0, "verbose": 0}
    curve = choose_strength(model, data, [0.1, "auto"], **settings)
    assert (curve.losses > 0).all()
    assert np.isfinite(curve.satisfied).all()
    if solver == "paper":
        assert curve.auto == 1.0
    else:
        table = choose_settings(model, data, **settings)
        assert np.isfinite(table.losses).all()


def scores(*rates):
    """Settings with these rates in three folds of 100 answers each."""
    from rprnmf.model_selection.recommend import Score

    return [
        Score(np.array(row), np.concatenate([np.arange(100) < 100 * rate for rate in row]) * 1.0)
        for row in rates
    ]


def test_a_setting_must_be_clearly_better_than_the_default():
    from rprnmf.model_selection.recommend import first_good, gain

    equal = scores([0.6, 0.7, 0.5], [0.61, 0.69, 0.51], [0.6, 0.7, 0.5])
    assert first_good(equal, 2) == 2
    assert first_good(equal, None) == 0
    better = scores([0.5, 0.6, 0.4], [0.71, 0.79, 0.61], [0.7, 0.8, 0.6], [0.6, 0.7, 0.5])
    assert first_good(better, 3) == 1
    assert first_good(better, None) == 1
    assert first_good(better, 3, errors=100.0) == 3
    # folds that are alike by chance do not make one sure: 30 of 300 answers are
    difference, error = gain(better[2], better[3])
    assert difference == pytest.approx(0.1)
    assert error == pytest.approx(np.sqrt(0.09 / 299))


def test_a_search_of_scikit_learn_may_choose_too():
    unlike = np.random.default_rng(7).random((40, 2))  # what X does not say
    known = triplets_from_features(unlike, 600, random_state=0)
    train, test = known.split(0.3, random_state=0)
    rows = np.arange(len(X))
    search = GridSearchCV(
        MODEL, {"row_strength": [1e-6, 1.0]}, scoring=triplet_scorer(test), cv=[(rows, rows)]
    )
    search.fit(X, row_triplets=train)
    assert search.best_params_ == {"row_strength": 1.0}
    names = [f"item {i}" for i in range(40)]
    frame = pd.DataFrame(X, index=names, columns=[f"c{j}" for j in range(25)])
    by_name = [
        Triplets(np.array(names, dtype=object)[part.items], absent="drop") for part in (train, test)
    ]
    search = GridSearchCV(
        MODEL, {"row_strength": [0.1, 1.0]}, scoring=triplet_scorer(by_name[1]), cv=2
    )
    search.fit(frame, row_triplets=by_name[0])
    for fold, (rest, held) in enumerate(KFold(2).split(X)):
        model = (
            clone(MODEL).set_params(row_strength=1.0).fit(frame.iloc[rest], row_triplets=by_name[0])
        )
        W = model.transform(frame.iloc[held])  # not the rows that it was fitted on
        inside = by_name[1].positions(len(held), frame.index[held])
        expected = satisfied_rate(W, inside)
        assert search.cv_results_[f"split{fold}_test_score"][1] == pytest.approx(expected)


def test_questions_are_uncertain_new_and_spread():
    model = RPRNMF(4, max_iter=25, tol=0, random_state=0).fit(X, row_triplets=KNOWN)
    asked = next_queries(model, 60, random_state=0)
    assert asked == next_queries(model, 60, random_state=0)
    assert asked.n_triplets == 60

    def questions(rows):
        return {(q, min(r, s), max(r, s)) for q, r, s in rows.tolist()}

    assert len(questions(asked.items)) == 60
    assert not questions(asked.items) & questions(KNOWN.items)
    _, near, far = triplet_distances(model.embedding_, asked)
    assert (near <= far).all()
    certain = (far - near) / (near + far)
    rng = np.random.default_rng(0)
    other = np.array([rng.permutation(40)[:3] for _ in range(2000)])
    _, a, b = triplet_distances(model.embedding_, other)
    assert np.median(certain) < 0.1 * np.median(np.abs(a - b) / (a + b))
    counts = np.bincount(asked.items.ravel(), minlength=40)
    assert counts.max() <= 10  # 4.5 on average
    assert (asked.weights == 1).all()  # they are no votes
    more = next_queries(model, 60, asked=asked, random_state=0)
    assert not questions(more.items) & questions(asked.items)
    columns = next_queries(model, 5, side="column", random_state=0)
    assert columns.items.max() < 25


def test_questions_among_given_ones():
    F = HIDDEN
    few = [[0, 1, 2], [0, 2, 1], [3, 4, 5]]
    found = propose_queries(F, 10, candidates=few)
    assert found.n_triplets == 2
    assert propose_queries(F, 10, candidates=few, asked=[[3, 5, 4]]).n_triplets == 1
    some = propose_queries(F, 30, items=[1, 5, 7, 9], random_state=0)
    assert some.n_triplets == 12  # all that four items make
    assert set(np.unique(some.items)) == {1, 5, 7, 9}
    both = propose_queries(F, 10, items=[0, 1, 2], candidates=few)
    assert both.n_triplets == 1
    with pytest.raises(NotFittedError):
        next_queries(RPRNMF(2), 3)
    with pytest.raises(ValueError, match="needs three items"):
        propose_queries(F, 3, items=[1, 2])
    with pytest.raises(ValueError, match="side must be"):
        next_queries(NMF(2).fit(X), 3, side="both")


def test_no_more_questions_are_drawn_than_there_are():
    """40 items have 29,640 questions, whatever is asked for."""
    tracemalloc.start()
    every = propose_queries(HIDDEN, 10**6, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert every.n_triplets == 40 * 39 * 38 // 2
    assert peak < 50e6
    assert (every.items != every.items[:, [1, 2, 0]]).all()
    known = every.take(np.arange(20_000))
    rest = propose_queries(HIDDEN, 10**6, asked=known, n_draws=1, random_state=0)
    assert rest.n_triplets == 9_640
    some = propose_queries(HIDDEN, 5000, asked=known.take(np.arange(9000)), n_draws=1)
    assert some.n_triplets == 5000


def test_questions_about_names():
    names = [f"item {i}" for i in range(40)]
    frame = pd.DataFrame(X, index=names)
    known = Triplets(np.array(names, dtype=object)[KNOWN.items])
    model = RPRNMF(2, max_iter=5, tol=0, random_state=0).fit(frame, row_triplets=known)
    asked = [["item 0", "item 1", "item 2"]]
    few = [["item 0", "item 2", "item 1"], ["item 3", "item 4", "item 5"]]
    assert next_queries(model, 5, asked=asked, candidates=few).n_triplets == 1


def test_an_empty_side_has_no_say():
    settings = {"strengths": [1.0], "row_triplets": KNOWN, "n_splits": 3, "verbose": 0}
    curve = choose_strength(MODEL, X, column_triplets=[], random_state=0, **settings)
    np.testing.assert_array_equal(
        curve.satisfied, choose_strength(MODEL, X, random_state=0, **settings).satisfied
    )


def test_what_is_said_twice_is_held_out_once():
    """Also what is said the other way round: it is an answer to the same question."""
    from rprnmf.model_selection.answers import known_answers, triplet_folds

    turned = Triplets(KNOWN.items[:, [0, 2, 1]])
    _, group = known_answers(KNOWN + KNOWN + turned, None, 40, None, "row")
    fold = triplet_folds(group, 3, np.random.RandomState(0))
    np.testing.assert_array_equal(fold[:150], fold[150:300])
    np.testing.assert_array_equal(fold[:150], fold[300:])


def test_a_report_has_one_row_per_triplet():
    names = [f"item {i}" for i in range(40)]
    frame = pd.DataFrame(X, index=names, columns=[f"c{j}" for j in range(25)])
    rows = Triplets(np.array(names, dtype=object)[KNOWN.items], weights=np.arange(1.0, 151.0))
    columns = Triplets([["c0", "c1", "c2"], ["c0", "c2", "c1"]])
    model = RPRNMF(4, max_iter=25, tol=0, random_state=0)
    model.fit(frame, row_triplets=rows, column_triplets=columns)
    report = model.triplet_report()
    table = report.frame
    assert list(table.columns) == [
        *("side", "q", "r", "s", "near", "far", "margin", "satisfied", "weight")
    ]
    assert tuple(table.columns) == report.columns
    assert len(table) == len(report) == 152
    for name in report.columns:
        assert table[name].tolist() == report[name].tolist() == getattr(report, name).tolist()
    with pytest.raises(KeyError, match="no column 'distance'; it has side, q, r"):
        report["distance"]
    row = table[table.side == "row"]
    assert row[["q", "r", "s"]].to_numpy().tolist() == rows.items.tolist()
    np.testing.assert_array_equal(row.weight, rows.weights)
    np.testing.assert_allclose(row.margin, row.far - row.near)
    assert row.satisfied.mean() == pytest.approx(model.row_satisfied_rate_)
    assert table[table.side == "column"].satisfied.sum() == 1
    text = str(report)
    assert f"row triplets: {int(row.satisfied.sum())} of 150 met" in text
    assert "column triplets: 1 of 2 met (50.0 %)" in text
    assert "c0 (1)" in text
    nothing = RPRNMF(2, max_iter=2, tol=0).fit(X).triplet_report()
    assert str(nothing) == "no triplets were given"
    assert len(nothing) == len(nothing.frame) == 0


def test_a_table_needs_pandas(monkeypatch):
    report = RPRNMF(2, max_iter=2, tol=0).fit(X, row_triplets=KNOWN).triplet_report()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "rprnmf\[data\]"'):
        _ = report.frame


def test_settings_are_not_chosen_for_the_program_of_the_paper():
    with pytest.raises(ValueError, match="needs a solver with priors"):
        choose_settings(RPRNMF(2, solver="paper"), np.ones((4, 3)), row_triplets=[[0, 1, 2]])
