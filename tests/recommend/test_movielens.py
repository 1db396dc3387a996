"""MovieLens 100K, where it is there."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from rprnmf.datasets import fetch_movielens_100k
from rprnmf.recommend import Recommender
from tests.builders import needs_data
from tests.recommend.made import rmse

pytestmark = needs_data("movielens_100k.npz", "movielens_100k_movies.csv")


@pytest.fixture(scope="module")
def movielens():
    bunch = fetch_movielens_100k(download_if_missing=False)
    films = pd.DataFrame({"title": bunch.titles, "genres": bunch.genres}, index=bunch.movie_ids)
    people = {"gender": bunch.gender, "age": bunch.age, "occupation": bunch.occupation}
    people = pd.DataFrame(people, index=bunch.user_ids)
    ratings = bunch.user_ids[bunch.user], bunch.movie_ids[bunch.item], bunch.rating
    return ratings, {"user_metadata": people, "item_metadata": films}


def test_ratings_are_predicted_and_new_ones_taken_in(movielens):
    ratings, known = movielens
    rng = np.random.default_rng(0)
    part = rng.choice(3, len(ratings[2]), p=[0.75, 0.05, 0.2])
    old, new, test = ([column[part == k] for column in ratings] for k in range(3))
    model = Recommender(20, random_state=0, unknown="ignore").fit(*old, **known)
    first = rmse(model.predict(*test[:2]), test[2])
    assert first < 0.895
    model.partial_fit(*new)
    later = rmse(model.predict(*test[:2]), test[2])
    refit = Recommender(20, random_state=0, unknown="ignore")
    refit.fit(*(np.concatenate(pair) for pair in zip(old, new, strict=True)), **known)
    assert later < rmse(refit.predict(*test[:2]), test[2]) + 0.01
    assert later < first


def test_folding_a_user_in_is_as_good_as_a_fit(movielens):
    ratings, known = movielens
    users = ratings[0]
    chosen = np.isin(users, np.random.default_rng(0).choice(np.unique(users), 90, replace=False))
    test = chosen & (np.random.default_rng(1).random(len(users)) < 0.3)
    without = Recommender(20, random_state=0).fit(*(p[~chosen] for p in ratings), **known)
    whole = Recommender(20, random_state=0).fit(*(p[~test] for p in ratings), **known)
    folded, truth = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # films that only these people rated
        for user in np.unique(users[chosen]):
            mine = users == user
            new = without.fold_in(ratings[1][mine & ~test], ratings[2][mine & ~test])
            folded.append(without.predict(new, ratings[1][mine & test]))
            truth.append(ratings[2][mine & test])
        fitted = rmse(whole.predict(users[test], ratings[1][test]), ratings[2][test])
    assert rmse(np.concatenate(folded), np.concatenate(truth)) < fitted + 0.015
