"""Input that is odd, or meant otherwise than it is written: refused or told, nothing changed."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import rprnmf
from rprnmf.recommend import Recommender, evaluate, tune
from tests.recommend.made import made_ratings


@pytest.fixture(scope="module")
def made():
    return made_ratings(40, 30)


@pytest.fixture(scope="module")
def model(made):
    return Recommender(3, random_state=0, max_iter=3).fit(*made[:3])


def small(**settings):
    return Recommender(2, random_state=0, max_iter=2, **settings)


def test_zeros_that_are_stored_are_no_ratings():
    rng = np.random.default_rng(0)
    plays = rng.geometric(0.1, (20, 15)) * (rng.random((20, 15)) < 0.5)
    X = sp.csr_array((plays.ravel().astype(float), (np.divmod(np.arange(300), 15))), shape=(20, 15))
    assert X.nnz == 300
    model = small().fit(X)
    assert model.kind_ == "implicit"
    assert any("counts are 0 and left out" in note for note in model.notes_)
    assert model._X.nnz == (plays > 0).sum()
    given = small(kind="implicit").fit(X)
    assert given._X.nnz == model._X.nnz
    with pytest.raises(ValueError, match="all 2 counts are 0"):
        small(kind="implicit").fit(sp.csr_array(([0.0, 0.0], ([0, 1], [1, 0])), shape=(2, 2)))
    found = evaluate(small(), X, n_splits=2, random_state=0, verbose=0)
    assert "NDCG@10" in found.measures


def test_what_has_a_scale_is_ratings(made):
    low = np.where(np.arange(len(made.users)) % 9 == 0, 5.0, 1.0)
    assert small(scale=(1, 5)).fit(made.users, made.items, low).kind_ == "explicit"
    model = small(scale=np.array([1, 5])).fit(made.users, made.items, low)
    assert model.scale_ == (1.0, 5.0)
    found = evaluate(small(scale=(1, 5)), *made[:2], low, n_splits=2, random_state=0, verbose=0)
    assert "RMSE" in found.measures


def test_tables_that_are_read_wrongly_are_refused(made):
    wide = pd.DataFrame(np.ones((4, 6)), columns=[f"film {k}" for k in range(6)])
    with pytest.raises(ValueError, match="one row per user and one column per item"):
        small().fit(wide)
    named = wide.iloc[:, :3].rename_axis("user")
    with pytest.raises(ValueError, match="one row per user and one column per item"):
        small().fit(named)
    with pytest.raises(ValueError, match="'user' has the users, and none has a name of items"):
        small().fit(pd.DataFrame({"user": ["a", "b"], "thing": ["x", "y"], "rating": [1.0, 2.0]}))
    frame = pd.DataFrame({"film": made.users, "x": made.items, "y": made.ratings})
    assert small().fit(frame).notes_[0] == "columns: user 'film', item 'x', rating 'y'."


def test_new_users_are_of_one_fit(made, tmp_path):
    model = small().fit(*made[:3])
    new = model.fold_in(["i1", "i2"], [5.0, 1.0])
    rprnmf.save(model, tmp_path / "model.rprnmf")
    again = rprnmf.load(tmp_path / "model.rprnmf")
    assert again.recommend(new, 3).items == model.recommend(new, 3).items
    model.partial_fit(["u0", "u1"], ["i3", "new one"], [1.0, 5.0])
    assert len(model.predict(new, ["i3", "new one"])) == 2
    model.fit(*(part[:-3] for part in made[:3]))
    for asked in (
        lambda: model.predict(new, "i3"),
        lambda: model.recommend(new),
        lambda: model.explain(new, "i3"),
        lambda: model.predict([new, "u1"], "i3"),
    ):
        with pytest.raises(ValueError, match="folded into another fit: fold in again"):
            asked()


def test_a_partial_fit_that_fails_changes_nothing(made, monkeypatch):
    model = small().fit(*made[:3])
    before = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="more than once"):
            model.partial_fit(["u1", "u1"], ["i1", "i1"], [1, 5])
    assert all(vars(model)[name] is value for name, value in before.items())
    monkeypatch.setattr(Recommender, "_satisfied", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.partial_fit(["u1"], ["new"], [5], item_triplets=[["i1", "i2", "i3"]])
    assert set(vars(model)) == set(before)
    assert all(vars(model)[name] is value for name, value in before.items())


def test_ids_that_differ_by_type_are_told():
    users, items = [1, 1, 2, 2, 3], ["x", "y", "x", "z", "y"]
    facts = {1: {"age": 3}, "2": {"age": 4}, 3: {"age": 5}}
    with pytest.warns(UserWarning, match=r"the id '2' \(str\), and the ratings 2 \(int\)"):
        model = small().fit(users, items, [1, 5, 3, 2, 4], user_metadata=facts)
    assert "1 user has no ratings." in model.notes_
    twice = {1: {"age": 3}, 2: {"age": 4}, 3: {"age": 4}, 7: {"age": 1}, "7": {"age": 2}}
    with pytest.warns(UserWarning, match="the ids 7 and '7', which differ by type"):
        small().fit(users, items, [1, 5, 3, 2, 4], user_metadata=twice)
    model = small().fit(users, items, [1, 5, 3, 2, 4], user_metadata={1.0: {"age": 3}, 2: {}})
    model.partial_fit([1], ["y"], [3], user_metadata={9: {"age": 4.0}})
    assert model.notes_[-1] == "partial_fit: metadata tell of 1 new users."
    with pytest.raises(ValueError, match="a whole number that no float can hold"):
        small().fit(users, items, [1, 5, 3, 2, 4], user_metadata={1: {"age": 10**400}})


def test_iterators_are_lists(made, model):
    same = Recommender(3, random_state=0, max_iter=3).fit(*(iter(part) for part in made[:3]))
    assert np.array_equal(same.item_factors_, model.item_factors_)
    new = model.fold_in((item for item in ["i1", "i2"]), iter([5, 1]))
    assert np.array_equal(new.factors, model.fold_in(["i1", "i2"], [5, 1]).factors)
    assert len(model.predict("u1", (f"i{k}" for k in range(3)))) == 3
    assert len(model.recommend((f"u{k}" for k in range(3)), 2)) == 3
    kept = model.recommend("u1", 30, among=(f"i{k}" for k in range(9)), exclude_seen=False)
    assert len(kept) == 9
    one = model.fold_in("i1", 5)
    assert np.array_equal(one.factors, model.fold_in(["i1"], [5]).factors)


def test_what_cannot_be_meant_is_refused(made, model):
    with pytest.raises(ValueError, match=r"one row per user and one column per item, got shape"):
        small().fit(sp.coo_array(np.ones(4)))
    with pytest.raises(TypeError, match="users is None"):
        model.predict(None, "i1")
    with pytest.raises(TypeError, match="users is None"):
        model.recommend(None)
    with pytest.raises(TypeError, match="items is None"):
        model.predict("u1", None)
    with pytest.raises(ValueError, match="caution must be a finite number"):
        model.recommend("u1", caution=np.inf)


def test_lists_say_which_ids_are_not_known(model):
    found = model.recommend("u1", among=["i1", "i2", "?"], exclude_seen=False)
    assert found.note == "1 of 3 items of among are not known"
    found = model.recommend("u1", filter_items=["?", "i1"])
    assert found.note == "1 of 2 items of filter_items are not known"


def test_comparisons_of_what_a_part_lacks_are_left_out(made):
    rare = [*made.items[:-1], "rare"]
    said = [["i1", "i2", "rare"], ["i3", "i4", "i5"]]
    data = made.users, rare, made.ratings
    settings = {"n_splits": 2, "random_state": 0, "verbose": 0, "item_triplets": said}
    with pytest.warns(UserWarning, match="1 of 2 item_triplets name items that a training part"):
        found = evaluate(small(), *data, **settings)
    assert len(found.rows) == 2
    with pytest.warns(UserWarning, match="1 of 2 item_triplets"):
        tune(small(), *data, grid={"n_components": [1, 2]}, **settings)


def test_tuning_keeps_the_times(made):
    frame = pd.DataFrame({"user": made.users, "item": made.items, "rating": made.ratings})
    frame["timestamp"] = np.arange(len(frame))
    found = tune(small(), frame, grid={"n_components": [1, 2]}, n_splits=2, split="time", verbose=0)
    assert {row["fold"] for row in found.evaluation.rows} == {"period 1", "period 2"}


def test_ratings_that_look_like_clicks_are_measured_as_they_are_said_to_be(made):
    rng = np.random.default_rng(0)
    low = np.where(rng.random(len(made.ratings)) < 0.9, 1.0, made.ratings)
    said = small(kind="explicit")
    given = (*made[:2], low)
    assert "RMSE" in evaluate(said, *given, n_splits=2, random_state=0, verbose=0).measures
    grid = {"n_components": [1, 2]}
    found = tune(said, *given, grid=grid, n_splits=2, random_state=0, verbose=0)
    assert found.measure == "RMSE"


def test_stored_zeros_of_thumbs_are_measured_as_they_are_fitted():
    X = sp.csr_array((np.random.default_rng(0).random((30, 20)) > 0.6).astype(float))
    X.data[:5] = 0.0
    found = evaluate(small(kind="implicit"), X, n_splits=2, random_state=0, verbose=0)
    assert all(np.isfinite(row["NDCG@10"]) for row in found.summary())


def test_settings_without_a_measure_are_not_the_best(made):
    grid = {"kind": ["implicit", "explicit"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = tune(small(), *made[:3], grid=grid, n_splits=2, random_state=0, verbose=0)
    assert found.best == {"kind": "explicit"}


def test_strange_items_of_a_new_user_go_by_unknown(made, model):
    items = model.item_ids_[:2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet = small(unknown="ignore").fit(*made[:3])
        assert "not known" in quiet.fold_in(["nothing"], [3.0]).note
    strict = small(unknown="error").fit(*made[:3])
    with pytest.raises(KeyError, match="1 of 1 items are not known"):
        strict.fold_in(["nothing"], [3.0])
    with pytest.warns(UserWarning, match="more than once"):
        strict.fold_in([items[0], items[0]], [3.0, 4.0])
    with pytest.raises(TypeError, match="not a new user"):
        model.similar_users(model.fold_in(items, [3.0, 4.0]))
