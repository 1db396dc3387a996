"""Ratings in, predictions, lists and explanations out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from rprnmf import Triplets
from rprnmf.recommend import Recommender
from tests.recommend.made import made_ratings, rmse


@pytest.fixture(scope="module")
def made():
    return made_ratings()


@pytest.fixture(scope="module")
def model(made):
    return Recommender(5, random_state=0).fit(*made[:3], **made.known)


def test_unseen_ratings_are_predicted_better_than_by_means(made):
    out = np.random.default_rng(1).random(len(made.ratings)) < 0.2
    train = [part[~out] for part in made[:3]]
    found = Recommender(5, random_state=0).fit(*train, **made.known)
    frame = pd.DataFrame({"user": train[0], "item": train[1], "rating": train[2]})
    by_user, by_item = (frame.groupby(name).rating.mean() for name in ("user", "item"))
    means = by_user[made.users[out]].to_numpy() + by_item[made.items[out]].to_numpy()
    means = means - frame.rating.mean()
    truth = made.ratings[out]
    assert rmse(found.predict(made.users[out], made.items[out]), truth) < 0.85 * rmse(means, truth)


def test_all_ways_of_giving_ratings_agree(made, model):
    frame = pd.DataFrame({"movieId": made.items, "userId": made.users, "rating": made.ratings})
    by_frame = Recommender(5, random_state=0).fit(frame, **made.known)
    assert np.array_equal(by_frame.user_factors_, model.user_factors_)
    u, i = model._ids[0].places(made.users), model._ids[1].places(made.items)
    matrix = sp.csr_array((made.ratings, (u, i)), shape=(80, 60))
    by_matrix = Recommender(5, random_state=0).fit(matrix)
    plain = Recommender(5, random_state=0).fit(u, i, made.ratings)
    assert np.allclose(by_matrix.predict(u, i), plain.predict(u, i), atol=1e-4)


def test_same_seed_same_factors_and_clones_carry_parameters(made, model):
    again = clone(model).fit(*made[:3], **made.known)
    assert np.array_equal(again.item_factors_, model.item_factors_)


def test_several_starts_are_one_model_of_their_mean(made):
    found = Recommender(3, n_starts=3, random_state=0).fit(*made[:3])
    assert found.user_factors_.shape == (80, 9)
    assert found.user_factors_.min() >= 0
    each = [users.F @ items.F.T for users, items in found._model.starts]
    stacked = found.user_factors_ @ found.item_factors_.T
    assert np.allclose(stacked, np.mean(each, axis=0), rtol=1e-4)
    assert not np.allclose(each[0], each[1], rtol=1e-3)


def test_lists_are_the_largest_predictions_of_what_was_not_seen(made, model):
    found = model.recommend("u3", n=60, caution=0)
    seen = set(made.items[made.users == "u3"])
    assert not seen & set(found.items)
    assert len(found) == 60 - len(seen)
    raw = model.item_factors_ @ model.user_factors_[model.user_ids_.index("u3")]
    order = [model.item_ids_[k] for k in np.argsort(-raw, kind="stable")]
    assert found.items == [item for item in order if item not in seen]
    assert model.recommend("u3", 3, exclude_seen=False, caution=0).items == order[:3]


def test_items_with_few_ratings_come_later(made):
    users = np.append(made.users, "u0")
    items, ratings = np.append(made.items, "gem"), np.append(made.ratings, 5)
    model = Recommender(5, random_state=0).fit(users, items, ratings)
    place = [
        np.mean([model.recommend(f"u{k}", 70, caution=c).items.index("gem") for k in range(1, 80)])
        for c in (0, 2)
    ]
    assert place[1] > place[0] + 1
    bold, careful = (dict(model.recommend("u5", 70, caution=c)) for c in (0, 2))
    assert bold.keys() == careful.keys()
    assert all(bold[item] == pytest.approx(careful[item], abs=1e-4) for item in bold)
    with pytest.raises(ValueError, match="caution must be"):
        model.recommend("u5", caution=-1)


def test_lists_of_many_users_are_those_of_each(model):
    several = model.recommend(["u3", "u5"], 4)
    assert [one.items for one in several] == [model.recommend(u, 4).items for u in ("u3", "u5")]


def test_items_can_be_left_out_or_chosen(model):
    first = model.recommend("u3", 5).items
    assert model.recommend("u3", 4, filter_items=first[:1]).items == first[1:]
    assert set(model.recommend("u3", 5, among=first[:2]).items) == set(first[:2])


def test_alike_items_share_genre(made, model):
    alike = [
        np.mean(made.films.genre[model.similar_items(item, 5).items] == made.films.genre[item])
        for item in made.films.index
    ]
    assert np.mean(alike) > 0.8
    assert len(model.similar_users("u0", 3)) == 3


def test_strangers_are_the_mean_and_it_is_said(made, model):
    with pytest.warns(UserWarning, match="1 of 1 users are not known"):
        by_mean = model.predict("nobody", "i3")
    at = made.items == "i3"
    assert abs(by_mean[0] - made.ratings[at].mean()) < 0.7
    with pytest.warns(UserWarning, match="1 of 1"):
        both = model.predict("nobody", "nothing")
    assert both[0] == pytest.approx(made.ratings.mean(), abs=1e-3)
    with pytest.warns(UserWarning, match="mean user"):
        assert model.recommend("nobody", 3).note == "not known: as the mean user"
    strict = clone(model).set_params(unknown="error").fit(*made[:3])
    with pytest.raises(KeyError, match="nobody"):
        strict.predict(["u1", "nobody"], ["i1", "i1"])


def test_metadata_place_items_that_nobody_rated():
    made = made_ratings(200, 100, 0.3)
    cold = np.isin(made.items, [f"i{k}" for k in range(20)])
    train = [part[~cold] for part in made[:3]]
    model = Recommender(5, random_state=0).fit(*train, **made.known)
    truth = made.ratings[cold]
    found = model.predict(made.users[cold], made.items[cold])
    without = Recommender(5, random_state=0, unknown="ignore").fit(*train)
    mean = without.predict(made.users[cold], made.items[cold])
    assert rmse(found, truth) < 0.9 * rmse(mean, truth)
    assert set(model.item_ids_) == set(made.films.index)
    listed = {item for one in model.recommend(model.user_ids_, 20, caution=0) for item in one.items}
    assert listed & {f"i{k}" for k in range(20)}


def test_a_user_can_be_folded_in(made):
    out = made.users == "u7"
    train = [part[~out] for part in made[:3]]
    model = Recommender(5, random_state=0).fit(*train, item_metadata=made.films)
    items, ratings = made.items[out], made.ratings[out]
    new = model.fold_in(items[::2], ratings[::2])
    refit = Recommender(5, random_state=0).fit(
        *(np.concatenate((a, b[out][::2])) for a, b in zip(train, made[:3], strict=True)),
        item_metadata=made.films,
    )
    away = rmse(model.predict(new, items[1::2]), ratings[1::2])
    assert away < rmse(refit.predict("u7", items[1::2]), ratings[1::2]) + 0.1
    assert not set(model.recommend(new, 60).items) & set(items[::2])
    with pytest.warns(UserWarning, match="1 of 2 items are not known"):
        assert len(model.fold_in(["i1", "strange"], [3, 4]).items) == 1
    with pytest.warns(UserWarning, match="no ratings"):
        assert np.isfinite(model.predict(model.fold_in([], []), "i1")).all()


def test_facts_of_a_folded_in_user_count(made, model):
    same = made.people.index[made.people.group == made.people.group["u0"]]
    with pytest.warns(UserWarning, match="no ratings"):
        new = model.fold_in([], metadata={"group": made.people.group["u0"]})
    means = model._model.starts[0][0].F
    alike = means[[model.user_ids_.index(user) for user in same]].mean(axis=0)
    others = means.mean(axis=0)
    assert np.sum((new.factors - alike) ** 2) < np.sum((new.factors - others) ** 2)


def test_partial_fit_takes_in_new_ratings_users_and_items():
    made = made_ratings(120, 80)
    late = np.random.default_rng(3).random(len(made.ratings)) < 0.2
    late |= np.isin(made.users, ["u0", "u1"]) | np.isin(made.items, ["i0", "i1"])
    test = late & (np.random.default_rng(4).random(len(late)) < 0.3)
    now, new = ~late, late & ~test
    model = Recommender(5, random_state=0, unknown="ignore").fit(*(p[now] for p in made[:3]))
    before = model.predict(made.users[test], made.items[test])
    model.partial_fit(*(part[new] for part in made[:3]))
    after = model.predict(made.users[test], made.items[test])
    refit = Recommender(5, random_state=0).fit(*(part[~test] for part in made[:3]))
    truth = made.ratings[test]
    whole = rmse(refit.predict(made.users[test], made.items[test]), truth)
    assert rmse(after, truth) < rmse(before, truth)
    assert rmse(after, truth) < 1.1 * whole
    assert model._X.nnz == now.sum() + new.sum()
    assert not set(made.items[new & (made.users == "u0")]) & set(model.recommend("u0", 80).items)


def test_a_new_rating_of_a_pair_replaces_the_old(model, made):
    model = clone(model).fit(*made[:3])
    user, item, rating = made.users[0], made.items[0], made.ratings[0]
    model.partial_fit([user], [item], [6 - rating])
    i, j = model.user_ids_.index(user), model.item_ids_.index(item)
    assert model._X[i, j] == 6 - rating
    assert model._X.nnz == len(made.ratings)


def test_facts_of_new_items_count_in_partial_fit(made, model):
    model = clone(model).fit(*made[:3], **made.known)
    genre = made.films.genre["i0"]
    model.partial_fit(["u1"], ["i0"], [3], item_metadata={"fresh": {"genre": genre}})
    alike = model.similar_items("fresh", 10).items
    assert np.mean(made.films.genre[alike] == genre) > 0.7


def test_comparisons_are_met_and_explained(made):
    given = [["i1", "i2", "i3"], ["i3", "i4", "i5"]]
    model = Recommender(5, random_state=0).fit(*made[:3], item_triplets=given)
    assert model.item_satisfied_rate_ == 1.0
    assert np.isnan(model.user_satisfied_rate_)
    why = model.explain("u0", "i3")
    assert {(one.q, one.met) for one in why.comparisons} == {("i1", True), ("i3", True)}
    assert "i3 is closer to i4 than to i5: met" in str(why)
    drop = Triplets([*given, ["i1", "gone", "i2"]], absent="drop")
    assert Recommender(3, random_state=0).fit(*made[:3], item_triplets=drop) is not None
    with pytest.raises(ValueError, match="'gone'"):
        Recommender(3).fit(*made[:3], item_triplets=[["i1", "gone", "i2"]])


def test_comparisons_are_drawn_from_metadata(made):
    model = Recommender(5, random_state=0).fit(*made[:3], **made.known, item_triplets=30)
    assert model._triplets[1].n_triplets == 30
    assert model.item_satisfied_rate_ > 0.9
    codes = made.films.assign(code=np.arange(60) % 4, year=np.linspace(1950, 2000, 60))
    coded = Recommender(3, random_state=0)
    coded.fit(*made[:3], item_metadata=codes, item_triplets=20)
    assert coded._triplets[1].n_triplets == 20
    with pytest.raises(ValueError, match="user_metadata, which were not given"):
        Recommender(3).fit(*made[:3], user_triplets=30)


def test_integers_in_triplets_are_ids():
    made = made_ratings()
    items = np.array([10 * int(name[1:]) for name in made.items])
    model = Recommender(3, random_state=0)
    model.fit(made.users, items, made.ratings, item_triplets=[[10, 20, 30]])
    assert [model.item_ids_[k] for k in model._triplets[1].items[0]] == [10, 20, 30]


@pytest.mark.parametrize("kind", ["explicit", "implicit"])
@pytest.mark.parametrize("n_starts", [1, 2])
@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_an_explanation_adds_up(made, kind, n_starts, beta_loss):
    model = Recommender(4, kind=kind, n_starts=n_starts, beta_loss=beta_loss, random_state=0)
    model.fit(made.users, made.items, made.ratings if kind == "explicit" else None)
    item = model.recommend("u3").items[0]
    why = model.explain("u3", item, n=100)
    total = float(
        model.user_factors_[model.user_ids_.index("u3")]
        @ model.item_factors_[model.item_ids_.index(item)]
    )
    assert sum(part for _, part, _ in why.components) == pytest.approx(total, rel=1e-4)
    rated = sum(part for _, _, part in why.rated)
    assert why.expected + rated + why.rest == pytest.approx(total, rel=1e-4)
    assert {one.item for one in why.rated} == set(made.items[made.users == "u3"])
    new = model.fold_in(*[part[made.users == "u3"] for part in made[1:3]])
    folded = model.explain(new, item, n=100)
    assert abs(folded.rest) < 0.02 * abs(total)  # a row that was solved is explained in full


def test_clicks_are_seen_and_held_out_ones_found(made):
    rng = np.random.default_rng(0)
    good = made.ratings >= 3
    users, items = made.users[good], made.items[good]
    out = rng.random(len(users)) < 0.2
    model = Recommender(6, random_state=0).fit(users[~out], items[~out])
    assert model.kind_ == "implicit"
    assert model.scale_ is None
    hits, chance = [], []
    for user in dict.fromkeys(users[out]):
        wanted = set(items[out & (users == user)])
        hits.append(len(wanted & set(model.recommend(user, 10).items)) / len(wanted))
        chance.append(10 / 60)
    assert np.mean(hits) > 1.3 * np.mean(chance)
    assert np.isfinite(model.predict(users, items)).all()


def test_counts_weigh_more_than_single_clicks(made):
    counts = np.random.default_rng(0).geometric(0.4, len(made.users)) ** 2
    model = Recommender(4, random_state=0).fit(made.users, made.items, counts)
    assert model.kind_ == "implicit"
    plain = Recommender(4, random_state=0).fit(made.users, made.items)
    top = counts > np.quantile(counts, 0.95)
    pairs = made.users[top], made.items[top]
    assert model.predict(*pairs).mean() > plain.predict(*pairs).mean()


def test_ratings_below_zero_are_understood(made):
    shifted = made.ratings - 3
    model = Recommender(5, random_state=0).fit(made.users, made.items, shifted)
    assert model.scale_ == (-2, 2)
    found = model.predict(made.users, made.items)
    assert found.min() >= -2
    assert rmse(found, shifted) < 0.6
    folded = model.fold_in(["i1", "i2"], [-2, 2])
    assert folded.ratings.tolist() == [-2, 2]


def test_nothing_changes_after_an_error(made):
    model = Recommender(3, random_state=0).fit(*made[:3])
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match="out of the scale 1 to 5"):
        model.partial_fit(["u1"], ["i1"], [50])
    with pytest.raises(ValueError, match="no ratings"):
        model.fit([], [], [])
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[name] is before[name] for name in before)
