"""Lists by interest and predicted ratings: their order, and that nothing else depends on it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from rprnmf.recommend import Recommender, evaluate
from rprnmf.recommend.listing import RATING, Spread
from rprnmf.recommend.trust import above_others
from tests.recommend.made import made_choices, made_ratings


@pytest.fixture(scope="module")
def made():
    return made_choices()


@pytest.fixture(scope="module")
def model(made):
    return Recommender(4, random_state=0).fit(*made[:3], **made.known)


def by_table(model, user, caution=2.0):
    """All items by the formula, from dense tables."""
    i = model.user_ids_.index(user)
    interest = model._interest.model
    scores = interest.factor(0)[i] @ interest.factor(1).T
    rated = model._scored[0][i] @ model._scored[1].T
    part = model.trust_ * scores / scores.std()
    part = part + RATING * (rated - caution * model._errors) / rated.std()
    return [model.item_ids_[k] for k in np.argsort(-part, kind="stable")]


def test_lists_are_in_the_order_of_the_formula(made, model):
    assert model.trust_ > 0.3
    for user in ("u0", "u7", "u33"):
        seen = set(made.items[made.users == user])
        expected = [item for item in by_table(model, user) if item not in seen]
        assert model.recommend(user, 60).items == expected
    every = model.recommend("u7", 60, exclude_seen=False, caution=0)
    assert every.items == by_table(model, "u7", 0.0)
    np.testing.assert_allclose(every.scores, model.predict("u7", every.items), rtol=1e-5)


def test_interest_finds_what_people_turn_to(made):
    both = Recommender(4, random_state=0)
    models = {"interest": both, "rating": clone(both).set_params(order="rating")}
    found = evaluate(models, *made[:3], n_splits=2, relevant=1, random_state=0, verbose=0)
    interest, rating = (
        {row["model"]: row for row in found.summary()}[name] for name in ("interest", "rating")
    )
    assert interest["NDCG@10"] > 1.3 * rating["NDCG@10"]
    assert interest["RMSE"] == rating["RMSE"]


def test_predictions_do_not_depend_on_the_order(made, model):
    plain = Recommender(4, order="rating", random_state=0).fit(*made[:3], **made.known)
    assert plain.trust_ is None
    assert plain._interest is None
    for one, other in zip(plain._scored, model._scored, strict=True):
        assert one.tobytes() == other.tobytes()
    wanted = [one.items for one in plain.recommend(plain.user_ids_, 7)]
    switched = clone(model).fit(*made[:3], **made.known).set_params(order="rating")
    assert [one.items for one in switched.recommend(plain.user_ids_, 7)] == wanted
    assert switched.explain("u3", "i3").listed is None
    plain.set_params(order="interest")  # there is no model of interest
    assert [one.items for one in plain.recommend(plain.user_ids_, 7)] == wanted


def test_where_who_rated_what_is_chance_ratings_decide():
    made = made_ratings(120, 80, 0.3)
    model = Recommender(4, random_state=0).fit(*made[:3])
    plain = Recommender(4, order="rating", random_state=0).fit(*made[:3])
    assert model.trust_ == 0
    several = model.recommend(model.user_ids_, 5), plain.recommend(model.user_ids_, 5)
    for one, other in zip(*several, strict=True):
        assert one.items == other.items
        np.testing.assert_allclose(one.scores, other.scores, rtol=1e-5)
    assert "looks like chance" in str(model.explain("u0", "i0"))


def test_the_scale_of_ratings_does_not_matter(made):
    lists = []
    for factor in (1.0, 100.0):
        model = Recommender(4, kind="explicit", random_state=0)
        model.fit(made.users, made.items, factor * made.ratings)
        lists.append([one.items for one in model.recommend(model.user_ids_, 5)])
    assert np.mean(np.array(lists[0]) == np.array(lists[1])) > 0.9


def test_filters_leave_the_order_as_it_is(model):
    first = model.recommend("u3", 6).items
    assert model.recommend("u3", 5, filter_items=first[:1]).items == first[1:]
    assert model.recommend("u3", 6, among=first[::-1]).items == first
    several = model.recommend(["u3", "u5"], 4)
    assert [one.items for one in several] == [model.recommend(u, 4).items for u in ("u3", "u5")]


def test_new_users_have_interest(made, model):
    rated = made.users == "u4"
    genre = made.films.genre
    mine = made.people.group["u4"].replace("g", "t")
    new = model.fold_in(made.items[rated], made.ratings[rated])
    listed = model.recommend(new, 8).items
    assert not set(listed) & set(made.items[rated])
    other = next(f"i{k}" for k in range(60) if genre.iloc[k] != mine)
    whole = model.recommend(new, 12, exclude_seen=False).items
    assert np.mean(genre[whole] == mine) > 0.8
    assert model.explain(new, whole[0]).listed.interest > model.explain(new, other).listed.interest
    plain = Recommender(4, order="rating", random_state=0).fit(*made[:3])
    stranger = plain.fold_in(["i0"], [5])
    assert stranger.interest is None
    with pytest.raises(ValueError, match="another fit: fold in again"):
        model.recommend(stranger)
    with pytest.warns(UserWarning, match="no ratings"):
        assert len(model.recommend(model.fold_in([], []), 5)) == 5
    with pytest.warns(UserWarning, match="mean user"):
        assert len(model.recommend("nobody", 5)) == 5


def test_new_ratings_change_interest(made, model):
    genre = made.films.genre
    model = clone(model).fit(*made[:3], **made.known)
    before = model.trust_
    taken = [f"i{k}" for k in range(60) if genre.iloc[k] == "t1"][:8]
    facts = {"fresh": {"genre": "t1"}}
    model.partial_fit(["late"] * 8, taken, [3.0] * 8, item_metadata=facts)
    assert model.trust_ == before
    listed = model.recommend("late", 8).items
    assert np.mean([item == "fresh" or genre[item] == "t1" for item in listed]) > 0.7
    assert model._interest.model.factor(1).shape[0] == len(model.item_ids_)
    cold = model._interest.model.factor(1)[model.item_ids_.index("fresh")]
    other = model._interest.model.factor(0)
    groups = made.people.group.reindex(model.user_ids_).to_numpy()
    assert (other[groups == "g1"] @ cold).mean() > 1.5 * (other[groups == "g0"] @ cold).mean()


def test_an_explanation_says_why_it_is_on_the_list(made, model):
    user = "u8"
    item = model.recommend(user, 1, caution=0).items[0]
    why = model.explain(user, item, n=3)
    i, j = model.user_ids_.index(user), model.item_ids_.index(item)
    interest = model._interest.model
    scores = interest.factor(0)[i] @ interest.factor(1).T
    rated = model._scored[0][i] @ model._scored[1].T
    parts = why.listed
    assert parts.trust == model.trust_
    expected = model.trust_ * (scores[j] - scores.mean()) / scores.std()
    assert parts.interest == pytest.approx(expected, rel=1e-3)
    assert parts.rating == pytest.approx(RATING * (rated - rated.mean())[j] / rated.std(), rel=1e-3)
    assert len(parts.behind) == 3
    assert set(parts.behind) <= set(made.items[made.users == user])
    assert np.mean(made.films.genre[parts.behind] == made.films.genre[item]) > 0.6
    text = str(why)
    assert f"on lists {parts.interest + parts.rating:+.2f} beside the mean item" in text
    assert f"interest, as of who rated {', '.join(parts.behind)}" in text
    assert f"{parts.rating:+.2f}  predicted rating" in text


def test_clicks_have_no_second_model(made):
    model = Recommender(4, random_state=0).fit(*made[:2])
    assert model.kind_ == "implicit"
    assert model._interest is None
    assert model.trust_ is None
    assert model.explain("u0", "i0").listed is None


def test_equal_ratings_and_tiny_data_have_lists():
    model = Recommender(2, kind="explicit", random_state=0)
    model.fit(["a", "a", "b", "c"], ["x", "y", "x", "z"], [5, 5, 5, 5])
    assert model.trust_ == 0
    assert set(model.recommend("b").items) == {"y", "z"}
    model.fit(["a"], ["x"], [3])
    assert len(model.recommend("a")) == 0


def test_a_spread_is_never_zero_and_no_rounding():
    H = np.array([[1.0, 0.0], [1.0, 2.0]])
    found = Spread(H).of(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]))
    assert found[0] == pytest.approx(1.0)
    assert found[1] == pytest.approx(1e-3)
    assert found[2] == 1.0


def test_held_out_pairs_stand_above_others_by_the_definition():
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    W, H = rng.random((5, 3)), rng.random((9, 3))
    kind = rng.integers(0, 3, (5, 9))
    train, held = (sp.csr_array((kind == k).astype(np.float32)) for k in (1, 2))
    expected = []
    for i in range(5):
        rest = (H @ W[i])[kind[i] != 1]
        expected += [*(((H @ W[i])[kind[i] == 2] - rest.mean()) / rest.std())]
    np.testing.assert_allclose(above_others(W, H, train, held), expected)


def test_ratings_that_tell_nothing_do_not_order_lists():
    """People turn to one genre, and rate what they turn to by dice."""
    rng = np.random.default_rng(0)
    genre, group = np.arange(60) // 20, np.arange(300) % 3
    u, i = np.nonzero(rng.random((300, 60)) < np.where(group[:, None] == genre, 0.5, 0.1))
    model = Recommender(4, random_state=0).fit(u, i, rng.integers(1, 6, len(u)).astype(float))
    lists = model.recommend(list(range(300)), 3)
    assert np.mean([genre[one.items] == group[k] for k, one in enumerate(lists)]) > 0.85
