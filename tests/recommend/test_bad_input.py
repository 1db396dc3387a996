"""Bad input gives an error that says what and where, or a documented fallback; never NaN."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from rprnmf.recommend import Recommender
from rprnmf.recommend.ratings import guessed_columns, read_ratings
from tests.recommend.made import made_ratings

USERS, ITEMS, RATINGS = ["a", "a", "b"], ["x", "y", "x"], [1.0, 5.0, 3.0]


@pytest.mark.parametrize(
    ("users", "items", "ratings", "message"),
    [
        ([], [], [], "there are no ratings"),
        (pd.DataFrame({"user": [], "item": [], "rating": []}), None, None, "there are no ratings"),
        (sp.csr_array((3, 2)), None, None, "matrix of shape"),
        (USERS, ITEMS[:2], RATINGS, "one entry per rating each, got 3 and 2"),
        (USERS, ITEMS, RATINGS[:2], "for each of 3 pairs"),
        (USERS, ITEMS, [1.0, np.nan, 2.0], r"ratings\[1\] is nan"),
        (USERS, ITEMS, [1.0, np.inf, 2.0], r"ratings\[1\] is inf"),
        (USERS, ["x", None, "y"], RATINGS, r"items\[1\] is None"),
        ([1.0, np.nan, 2.0], ITEMS, RATINGS, r"users\[1\] is nan"),
        (pd.DataFrame({"only": [1]}), None, None, "columns user and item"),
    ],
)
def test_what_is_wrong_is_said(users, items, ratings, message):
    with pytest.raises(ValueError, match=message):
        Recommender(2).fit(users, items, ratings)


@pytest.mark.parametrize(
    ("users", "items", "ratings", "message"),
    [
        (USERS, None, None, "items is None"),
        (USERS, ITEMS, ["good", "bad", "ugly"], "ratings must be numbers"),
        ([["a"], ["b"], ["c"]], ITEMS, RATINGS, "must be hashable"),
        ("abc", ITEMS, RATINGS, "users must be a list"),
        (pd.DataFrame({"user": USERS, "item": ITEMS}), ITEMS, None, "DataFrame"),
    ],
)
def test_what_is_of_the_wrong_kind_is_said(users, items, ratings, message):
    with pytest.raises(TypeError, match=message):
        Recommender(2).fit(users, items, ratings)


def test_ratings_out_of_scale():
    made = made_ratings(30, 20)
    with pytest.raises(ValueError, match=r"ratings\[\d+\] = 5 is out of the scale 1 to 4"):
        Recommender(2, scale=(1, 4)).fit(*made[:3])
    with pytest.raises(ValueError, match="the lower first"):
        Recommender(2, scale=(5, 1)).fit(*made[:3])
    model = Recommender(2, scale=(0, 10), random_state=0).fit(*made[:3])
    assert model.scale_ == (0, 10)
    with pytest.raises(ValueError, match="out of the scale 0 to 10"):
        model.fold_in(["i1"], [11])


def test_pairs_that_occur_twice_become_their_mean():
    made = made_ratings(30, 20)
    users = np.concatenate((made.users, made.users[:1]))
    items = np.concatenate((made.items, made.items[:1]))
    ratings = np.concatenate((made.ratings, [6 - made.ratings[0]]))
    with pytest.warns(
        UserWarning, match="1 pair of user and item occurs more than once: their mean"
    ):
        model = Recommender(2, random_state=0).fit(users, items, ratings)
    i, j = model.user_ids_.index(users[0]), model.item_ids_.index(items[0])
    assert model._X[i, j] == 3
    assert any("more than once" in note for note in model.notes_)


def test_counts_above_zero_only():
    with pytest.raises(ValueError, match="must be above 0"):
        Recommender(2, kind="implicit").fit(USERS, ITEMS, [1, 0, 2])
    with pytest.raises(ValueError, match="needs ratings"):
        Recommender(2, kind="explicit").fit(USERS, ITEMS)


@pytest.mark.parametrize("ratings", [RATINGS, None, [2.0, 2.0, 2.0]])
def test_three_ratings_are_enough_for_finite_predictions(ratings):
    model = Recommender(2, random_state=0, unknown="ignore").fit(USERS, ITEMS, ratings)
    found = model.predict(["a", "b", "c", "a"], ["x", "y", "x", "z"])
    assert np.isfinite(found).all()
    assert len(model.recommend("b", 5)) == 1
    assert np.isfinite(model.explain("b", "y").prediction)


def test_users_and_items_without_ratings():
    made = made_ratings(30, 20)
    u = np.array([int(name[1:]) for name in made.users])
    i = np.array([int(name[1:]) for name in made.items])
    matrix = sp.csr_array((made.ratings, (u, i)), shape=(32, 25))
    model = Recommender(3, random_state=0).fit(matrix)
    assert "2 users have no ratings." in model.notes_
    assert "5 items have no ratings." in model.notes_
    found = model.predict([31, 31, 0], [0, 24, 24])
    assert ((found >= 1) & (found <= 5)).all()
    assert len(model.recommend(31, 4)) == 4


def test_ids_of_any_kind_and_unknown_ones():
    users = [("a", 1), ("a", 1), 3, "3", 3]
    model = Recommender(1, random_state=0, unknown="ignore")
    model.fit(users, ["x", "y", "x", "x", "z"], [1, 5, 3, 4, 2])
    assert model.user_ids_ == [("a", 1), 3, "3"]
    assert len(model.recommend(("a", 1), 5)) == 1
    with pytest.raises(KeyError, match="'w' is not known"):
        model.similar_items("w")
    with pytest.raises(KeyError, match="'w' is not known"):
        model.explain(3, "w")
    with pytest.raises(ValueError, match="n must be a whole number"):
        model.recommend(3, 0)


def test_columns_are_found_by_name_or_order():
    assert guessed_columns(["a", "b", "c"]) == {"user": "a", "item": "b", "rating": "c"}
    found = guessed_columns(["timestamp", "movie_id", "Rating", "userId"])
    assert found == {
        "user": "userId",
        "item": "movie_id",
        "rating": "Rating",
        "timestamp": "timestamp",
    }
    assert "rating" not in guessed_columns(["user", "item"])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 3, 4, 5, 4, 4], "explicit"),
        ([0.5, 3.5, 5.0, 4.0], "explicit"),
        ([-10.0, 3.0, 7.5], "explicit"),
        ([0, 1, 1, 0, 1], "explicit"),
        ([1, 1, 1, 1], "implicit"),
        ([1, 1, 2, 1, 3, 1, 40], "implicit"),
        (None, "implicit"),
    ],
)
def test_the_kind_is_seen(values, kind):
    n = 4 if values is None else len(values)
    assert read_ratings(range(n), range(n), values).kind() == kind


def test_parameters_are_checked():
    for wrong in ({"kind": "stars"}, {"n_starts": 0}, {"unknown": "?"}, {"alpha": -1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Recommender(2, **wrong).fit(USERS, ITEMS, RATINGS)
