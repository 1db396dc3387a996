"""Folds hold out what they say, and measures are what they are called."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rprnmf.metrics import recommendation_f1
from rprnmf.plotting import EvaluationDisplay, plot_evaluation
from rprnmf.recommend import Recommendations, Recommender, evaluate, tune
from rprnmf.recommend.measures import list_measures, paper_f1, rating_measures
from rprnmf.recommend.ratings import read_ratings
from rprnmf.recommend.splits import folds_of
from tests.recommend.made import made_ratings


@pytest.fixture(scope="module")
def made():
    return made_ratings(60, 40)


def test_every_rating_is_held_out_once(made):
    data = read_ratings(*made[:3])
    folds = list(folds_of(data, "random", 4, 0.2, 0))
    assert np.array_equal(np.sum([fold.test for fold in folds], axis=0), np.ones(data.n))
    assert all(np.array_equal(fold.train, ~fold.test) for fold in folds)


def test_the_future_is_not_seen(made):
    time = np.random.default_rng(0).permutation(len(made.users))
    frame = pd.DataFrame(
        {"user": made.users, "item": made.items, "rating": made.ratings, "timestamp": time}
    )
    data = read_ratings(frame)
    folds = list(folds_of(data, "time", 2, 0.2, 0))
    assert len(folds) == 2
    assert sum(fold.test.sum() for fold in folds) == round(0.2 * data.n)
    for fold in folds:
        assert time[fold.train].max() < time[fold.test].min()
    with pytest.raises(ValueError, match="needs the time"):
        list(folds_of(read_ratings(*made[:3]), "time", 2, 0.2, 0))


@pytest.mark.parametrize("split", ["cold items", "cold users"])
def test_cold_ones_keep_as_many_ratings_as_is_said(made, split):
    data = read_ratings(*made[:3])
    code = data.item if split == "cold items" else data.user
    kinds = set()
    for fold in folds_of(data, split, 2, 0.2, 0):
        kind = fold.name.split(" rating")[0]
        low, _, high = kind.partition("-")
        kinds.add(kind)
        left = np.bincount(code[fold.train], minlength=code.max() + 1)[code[fold.test]]
        assert left.min() >= int(low)
        assert left.max() <= int(high or low)
        assert not (fold.train & fold.test).any()
    assert kinds == {"0", "1", "2-5"}


def test_measures_of_ratings():
    found = rating_measures(np.array([1.0, 3.0]), np.array([2.0, 5.0]))
    assert found == {"RMSE": pytest.approx(np.sqrt(2.5)), "MAE": 1.5}


def test_f1_is_that_of_the_paper():
    rng = np.random.default_rng(0)
    W, H = rng.random((6, 2)), rng.random((2, 5))
    u, i = np.nonzero(rng.random((6, 5)) < 0.8)
    train = read_ratings(np.repeat(np.arange(6), 2), np.tile([0, 1], 6), rng.random(12))
    truth = rng.random(len(u)) + 0.1
    test = read_ratings(u, i, truth)
    X = np.zeros((6, 5))
    X[u, i] = truth
    means = np.bincount(train.user, weights=train.values) / 2
    assert np.array_equal(test.users.names, range(6))
    found = paper_f1(train, test, (W @ H)[u, i])
    assert found == pytest.approx(recommendation_f1(X, W, H, means))


def test_measures_of_lists():
    lists = [Recommendations(["a", "b"], np.zeros(2)), Recommendations(["a", "c"], np.zeros(2))]
    found = list_measures(lists, [{"b"}, {"a", "c", "d"}], 2, 5)
    assert found["precision@2"] == pytest.approx((0.5 + 1.0) / 2)
    assert found["recall@2"] == pytest.approx((1.0 + 2 / 3) / 2)
    assert found["NDCG@2"] == pytest.approx((1 / np.log2(3) + 1.0) / 2)
    assert found["coverage@2"] == 3 / 5


@pytest.fixture(scope="module")
def evaluation(made):
    models = {"two": Recommender(2, random_state=0), "five": Recommender(5, random_state=0)}
    return evaluate(models, *made[:3], n_splits=2, random_state=0, verbose=0, **made.known)


def test_a_row_for_each_model_and_fold(evaluation):
    assert [(row["model"], row["fold"]) for row in evaluation.rows] == [
        ("two", "fold 1"),
        ("five", "fold 1"),
        ("two", "fold 2"),
        ("five", "fold 2"),
    ]
    assert evaluation.measures[:3] == ["RMSE", "MAE", "F1"]
    assert len(evaluation.frame) == 4
    mean = np.mean([row["RMSE"] for row in evaluation.rows if row["model"] == "two"])
    summary = evaluation.summary()
    assert summary[0]["RMSE"] == pytest.approx(mean)
    assert f"{mean:.4f}" in str(evaluation)
    assert all(row["RMSE"] < 0.8 for row in evaluation.rows)


def test_a_picture_of_it(evaluation):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    ax = evaluation.plot("MAE", ax=Figure().subplots())
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == pytest.approx([row["MAE"] for row in evaluation.summary()])
    assert "less is better" in ax.get_xlabel()
    with pytest.raises(ValueError, match="measure must be one of"):
        evaluation.plot("beauty")
    display = EvaluationDisplay.from_evaluation(evaluation, "NDCG@10", ax=Figure().subplots())
    assert display.ax_.get_xlabel() == "NDCG@10 (more is better)"
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == display.names
    with pytest.raises(
        TypeError, match=r"needs what rprnmf\.recommend\.evaluate returned, got list"
    ):
        plot_evaluation([1, 2])


def test_cold_users_are_evaluated(made):
    model = Recommender(3, random_state=0)
    found = evaluate(
        model, *made[:3], split="cold users", n_splits=1, random_state=0, verbose=0, **made.known
    )
    assert {row["folds"] for row in found.summary()} == {"0 ratings", "1 rating", "2-5 ratings"}
    assert all(np.isfinite(row["RMSE"]) for row in found.rows)


def test_the_better_setting_is_found(made):
    found = tune(
        Recommender(3, random_state=0),
        *made[:3],
        grid={"n_components": [1, 4]},
        n_splits=2,
        random_state=0,
        verbose=0,
    )
    assert found.best == {"n_components": 4}
    assert found.means[1] < found.means[0]
    assert "<- best" in str(found)
    with pytest.raises(ValueError, match="measure must be one of"):
        tune(Recommender(2), *made[:3], grid={"n_components": [1]}, measure="?", verbose=0)


def test_wrong_requests_are_refused(made):
    with pytest.raises(ValueError, match="split must be one of"):
        evaluate(Recommender(2), *made[:3], split="odd", verbose=0)
    with pytest.raises(ValueError, match="models is empty"):
        evaluate({}, *made[:3], verbose=0)
    with pytest.raises(ValueError, match="need as many ratings"):
        evaluate(Recommender(2), ["a"], ["b"], [1.0], verbose=0)
