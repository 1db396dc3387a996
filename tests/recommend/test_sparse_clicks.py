"""Few clicks for each user: the weight of L2 terms is chosen, users lean on the mean user."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf.datasets import fetch_movielens_100k
from rprnmf.recommend import Recommender
from tests.builders import needs_data


def made_clicks(n=1000, m=100, few=3, most=14, seed=0):
    """Users of six tastes, who click a few of m items; and later a few more."""
    rng = np.random.default_rng(seed)
    known = 1.0 / np.arange(1, m + 1) ** 0.6
    like = rng.dirichlet(np.full(6, 0.1), m) @ rng.dirichlet(np.full(6, 0.15), n).T
    chance = known[:, None] * (0.01 + like)
    order = np.argsort(-np.log(rng.random((m, n))) / chance, axis=0)  # drawn without repeats
    count = rng.integers(few, most + 1, n)
    users = np.repeat(np.arange(n), count)
    items = np.concatenate([order[:size, user] for user, size in enumerate(count)])
    return users, items, order[most + 1 : most + 4].T


def hits(lists, later):
    return float(np.mean([len(set(a) & set(b)) for a, b in zip(lists, later, strict=True)]))


def found(model, later):
    """How many of the later clicks are among the first ten."""
    lists = model.recommend(list(range(len(later))), 10)
    return float(
        np.mean([len(set(one.items) & set(row)) for one, row in zip(lists, later, strict=True)])
    )


def found_by_clicks(users, items, later):
    """The same for lists by the number of clicks."""
    seen = sp.csr_array((np.ones(len(users)), (users, items))).toarray()
    score = np.where(seen > 0, -1.0, seen.sum(axis=0))
    lists = np.argsort(-score, axis=1, kind="stable")[:, :10]
    return float(
        np.mean([len(set(one) & set(row)) for one, row in zip(lists.tolist(), later, strict=True)])
    )


@pytest.fixture(scope="module")
def small():
    return made_clicks()


def test_the_weight_is_chosen(small):
    users, items, later = small
    model = Recommender(32, random_state=0).fit(users, items)
    assert model._model.weights.alpha > 0.12
    assert any("clicks held out" in note for note in model.notes_)
    same = Recommender(32, random_state=0).fit(users, items)
    assert same.notes_ == model.notes_
    assert np.array_equal(same.item_factors_, model.item_factors_)
    given = Recommender(32, alpha=0.09, random_state=0).fit(users, items)
    assert given._model.weights.alpha == 0.09
    assert not any("alpha" in note for note in given.notes_)
    assert found(model, later) > found(given, later)
    assert found(model, later) > found_by_clicks(*small)


def test_few_clicks_keep_the_usual_weight():
    model = Recommender(2, random_state=0).fit([1, 1, 2, 2, 3], list("abbca"))
    assert model._model.weights.alpha == 0.09
    assert model.notes_[-1] == "alpha = 0.09, the usual: too few clicks to choose it."


def test_the_choice_is_of_the_divergence_too(small):
    model = Recommender(4, beta_loss="kullback-leibler", max_iter=5, random_state=0)
    model.fit(*small[:2])
    assert any(note.startswith("alpha = ") for note in model.notes_)


def test_next_to_no_clicks_are_no_worse_than_popularity():
    users, items, later = made_clicks(800, 400, 1, 4, seed=1)
    model = Recommender(32, random_state=0).fit(users, items)
    assert found(model, later) > 0.95 * found_by_clicks(users, items, later)


def test_a_user_of_one_click_leans_on_the_mean_user(small):
    users, items, _ = small
    model = Recommender(16, alpha=0.09, unknown="ignore", random_state=0).fit(users, items)
    popular = int(np.bincount(items).argmax())
    one, none = model.fold_in([popular]), model.recommend("stranger", 20)
    assert len(set(model.recommend(one, 20).items) & set(none.items)) > 10
    many = np.flatnonzero(np.diff(model._X.indptr) >= 10)  # these stay as the fit has found them
    start = model.estimators_[0].embedding_
    assert np.array_equal(model._model.starts[0][0].F[many], start[many])


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_explanations_of_few_clicks_add_up(small, beta_loss):
    users, items, _ = small
    model = Recommender(8, beta_loss=beta_loss, random_state=0, max_iter=20).fit(users, items)
    new = model.fold_in([3, 5])
    for user in (int(np.bincount(users).argmin()), new):
        why = model.explain(user, 7, n=100)
        total = why.expected + sum(one.part for one in why.rated) + why.rest
        assert total == pytest.approx(why.prediction, abs=1e-6)
        assert abs(why.rest) <= 0.02 * why.prediction


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_explanations_without_clicks_are_of_what_is_expected(small, beta_loss):
    users, items, _ = small
    known = {user: {"group": f"g{user % 3}"} for user in range(1001)}
    model = Recommender(8, beta_loss=beta_loss, random_state=0, max_iter=20, unknown="ignore")
    model.fit(users, items, user_metadata=known)
    with pytest.warns(UserWarning, match="no ratings"):
        nobody = model.fold_in([])
    for user in (1000, "stranger", nobody):
        why = model.explain(user, 7)
        assert why.prediction > 0
        assert why.expected == pytest.approx(why.prediction, rel=1e-4)
        assert sum(one.part for one in why.components) <= why.prediction + 1e-6
        assert "all else" not in str(why)


@needs_data("movielens_100k.npz", "movielens_100k_movies.csv")
def test_movielens_keeps_the_usual_weight():
    bunch = fetch_movielens_100k(download_if_missing=False)
    liked = bunch.rating >= 4
    model = Recommender(kind="implicit", max_iter=2, random_state=0)
    model.fit(bunch.user[liked], bunch.item[liked])
    assert model._model.weights.alpha == 0.09
