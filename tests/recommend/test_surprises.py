"""What people meet who use a recommender in ways that nobody thought of."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from rprnmf.recommend import Recommender, evaluate, tune
from rprnmf.recommend.metadata import Metadata
from rprnmf.recommend.ratings import guessed_columns, read_ratings, without_repeats
from tests.recommend.made import made_ratings


@pytest.fixture(scope="module")
def made():
    return made_ratings(60, 40)


@pytest.fixture(scope="module")
def model(made):
    return Recommender(4, random_state=0, unknown="ignore").fit(*made[:3])


def test_a_rating_of_zero_is_seen():
    model = Recommender(3, kind="explicit", random_state=0, unknown="ignore")
    model.fit(list("aaabbcc"), list("xyzxwyw"), [0, 1, 0, 1, 0, 1, 1.0])
    assert model.recommend(["a", "stranger"])[0].items == model.recommend("a").items == ["w"]


def test_counts_that_come_later_must_be_counts(made):
    model = Recommender(3, random_state=0).fit(made.users, made.items)
    before = model.user_factors_
    with pytest.raises(ValueError, match=r"ratings\[0\] = -5: clicks and counts must be above 0"):
        model.fold_in(["i1", "i2"], [-5.0, 2.0])
    with pytest.raises(ValueError, match=r"ratings\[1\] = 0"):
        model.partial_fit(["u0", "u0"], ["i1", "i2"], [1.0, 0.0])
    assert model.user_factors_ is before


def test_repeated_pairs_are_on_one_side_of_a_split(made):
    frame = pd.DataFrame({"user": made.users, "item": made.items})
    frame["timestamp"] = np.arange(len(frame))
    twice = pd.concat((frame, frame.assign(timestamp=frame.timestamp + 10_000)))
    data, n = without_repeats(read_ratings(twice), "implicit")
    assert n == data.n == len(frame)
    assert data.time.min() == 10_000
    assert (data.values == 2).all()
    small = Recommender(3, random_state=0, max_iter=5)
    once = evaluate(small, made.users, made.items, n_splits=2, random_state=0, verbose=0)
    with pytest.warns(UserWarning, match="occur more than once: their sum"):
        more = evaluate(small, twice, n_splits=2, random_state=0, verbose=0)
    assert more.summary()[0]["NDCG@10"] == pytest.approx(once.summary()[0]["NDCG@10"], abs=0.1)


def test_metadata_that_speak_of_nobody_are_refused(made):
    facts = {k: {"genre": "a"} for k in range(40)}
    with pytest.raises(ValueError, match="no id of item_metadata is among the rated items: 0"):
        Recommender(3).fit(*made[:3], item_metadata=facts)
    with pytest.raises(ValueError, match="has no id in row 1"):
        Metadata(pd.DataFrame({"item": ["a", None], "genre": ["x", "y"]}), "item")
    assert Metadata(pd.DataFrame({"Item ID": ["a"], "year": [1.0]}), "item").ids == ["a"]


def test_facts_that_cannot_be_used_are_refused(made, model):
    with pytest.raises(ValueError, match="the fit had no user_metadata"):
        model.fold_in(["i1"], [5.0], metadata={"age": 3})
    known = Recommender(3, random_state=0).fit(*made[:3], **made.known)
    with pytest.raises(ValueError, match="no column of the fit: found 'agee', expected 'group'"):
        known.fold_in(["i1"], [5.0], metadata={"agee": 3})
    first = Metadata({"a": {"x": 1.0, "t": "q"}, "b": {"x": 2.0, "t": "q"}}, "user")
    assert first.plus({"a": {"x": 9.0}}).columns["t"].tolist() == [("q",), ("q",)]


def test_models_of_both_kinds_are_compared(made):
    models = {
        "stars": Recommender(3, kind="explicit", random_state=0),
        "clicks": Recommender(3, kind="implicit", random_state=0),
    }
    found = evaluate(models, *made[:3], n_splits=2, random_state=0, verbose=0)
    stars, clicks = found.summary()
    assert np.isfinite(stars["RMSE"])
    assert np.isnan(clicks["RMSE"])
    assert 0 < clicks["recall@10"] <= 1
    assert "clicks" in str(found)
    with pytest.raises(TypeError, match="models must be a recommender, or a dict"):
        evaluate([models["stars"]], *made[:3], verbose=0)


def test_coverage_is_of_what_can_be_listed(made):
    films = pd.concat((made.films, pd.DataFrame({"genre": ["t0"] * 100}, index=range(100))))
    found = evaluate(
        Recommender(3, random_state=0),
        *made[:3],
        n_splits=2,
        n=100,
        random_state=0,
        verbose=0,
        item_metadata=films,
    )
    assert all(0 < row["coverage@100"] <= 1 for row in found.rows)


def test_new_users_stand_in_lists_of_users(model):
    new = model.fold_in(["i1", "i2"], [5.0, 1.0])
    both = model.recommend([new, "u3"], 4)
    assert both[0].items == model.recommend(new, 4).items
    assert both[1].items == model.recommend("u3", 4).items
    assert not {"i1", "i2"} & set(both[0].items)
    pair = model.predict([new, "u3"], ["i5", "i5"])
    assert pair[0] == pytest.approx(model.predict(new, "i5")[0])
    other = Recommender(2, random_state=0).fit(["a", "b"], ["i1", "x"], [1, 5])
    with pytest.raises(ValueError, match="folded into another fit"):
        other.predict(new, "x")


def test_a_tuple_of_ids_is_several(model):
    assert len(model.predict(("u0", "u1"), ("i0", "i1"))) == 2
    assert len(model.recommend(("u0", "u1"), 3)) == 2


def test_columns_of_dates_and_numbers_are_no_ratings():
    days = pd.to_datetime(["2020-01-01", "2020-01-02"])
    frame = pd.DataFrame({"user": ["a", "b"], "item": ["x", "y"], "bought": days})
    with pytest.raises(ValueError, match="'bought' has no name of ratings"):
        Recommender(1).fit(frame)
    with pytest.raises(TypeError, match="ratings are dates"):
        Recommender(1).fit(["a", "b"], ["x", "y"], days)
    assert guessed_columns(["user", "item", "count", "rating"])["rating"] == "rating"


def test_the_parts_add_up_where_the_scale_begins_below_zero(made):
    model = Recommender(3, random_state=0).fit(made.users, made.items, made.ratings - 6)
    why = model.explain("u1", "i3", n=100)
    total = sum(one.part for one in why.components) + why.usual + why.lowest
    assert total == pytest.approx(why.expected + sum(one.part for one in why.rated) + why.rest)
    assert "the scale begins at -5" in str(why)
    with pytest.raises(ValueError, match="n must be a whole number"):
        model.explain("u1", "i3", n=-1)


def test_repeated_ratings_are_told(made, model):
    strict = Recommender(3, random_state=0).fit(*made[:3])
    with pytest.warns(UserWarning, match="1 pair of user and item occurs more than once"):
        new = strict.fold_in(["i1", "i1"], [1, 5])
    assert "more than once" in new.note
    with pytest.warns(UserWarning, match="more than once: their mean"):
        strict.partial_fit(["u1", "u1"], ["i1", "i1"], [1, 5])
    assert "more than once" in strict.notes_[-1]


def test_users_without_ratings_are_told(made):
    u = np.array([int(name[1:]) for name in made.users])
    i = np.array([int(name[1:]) for name in made.items])
    matrix = sp.csr_array((made.ratings, (u, i)), shape=(62, 40))
    model = Recommender(3, random_state=0, unknown="error").fit(matrix)
    assert model.recommend(61).note == "no ratings: as the mean user"
    assert model.recommend(0).note == ""
    with pytest.warns(UserWarning, match="no ratings"):
        assert np.isfinite(model.fold_in([]).factors).all()


def test_thumbs_are_ratings_and_low_stars_are_asked_about(made):
    thumbs = (np.arange(len(made.users)) % 7 == 0).astype(float)
    assert Recommender(2, random_state=0).fit(made.users, made.items, thumbs).kind_ == "explicit"
    low = np.where(np.arange(len(made.users)) % 9 == 0, 5.0, 1.0)
    with pytest.warns(UserWarning, match="look like counts"):
        Recommender(2, random_state=0).fit(made.users, made.items, low)


def test_messages(made, model):
    with pytest.raises(TypeError, match="filter_items must be a list"):
        model.recommend("u0", filter_items="i1")
    with pytest.raises(ValueError, match=r"ratings\[0\] is 1e\+39, expected at most"):
        Recommender(2).fit(["a", "b"], ["x", "y"], [1e39, 1])
    with pytest.raises(ValueError, match="n_splits must be"):
        evaluate(model, *made[:3], n_splits=1, verbose=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="measure must be one of RMSE, MAE"):
            tune(model, *made[:3], measure="rmse", verbose=0)
    frame = pd.DataFrame({"user": made.users, "item": made.items, "rating": made.ratings})
    frame["time"] = np.append(np.nan, np.arange(len(frame) - 1.0))
    with pytest.raises(ValueError, match="that of 0 is missing"):
        evaluate(model, frame, split="time", verbose=0)
    with pytest.raises(TypeError, match="column 'g', row 0"):
        Metadata({"a": {"g": ["a", ["b"]]}}, "item")
