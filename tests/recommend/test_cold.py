"""Users and items with few ratings or none: metadata, comparisons, mean ratings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from rprnmf.priors import Prior
from rprnmf.recommend import Recommender
from rprnmf.recommend.leaning import best_lean, without_own_row
from rprnmf.recommend.placing import comparisons
from rprnmf.recommend.usual import ENOUGH, Usual
from rprnmf.triplets import Triplets
from tests.recommend.made import made_ratings, rmse


def few_of(made, names, n):
    """Which ratings are left where these items keep n each."""
    left = np.ones(len(made.items), dtype=bool)
    for name in names:
        left[np.flatnonzero(made.items == name)[n:]] = False
    return left


def test_a_regression_without_a_row_is_that_of_the_others():
    rng = np.random.default_rng(0)
    phi, F, weights = rng.normal(size=(12, 3)), rng.random((12, 4)) + 3, rng.random(12) + 0.5
    found = without_own_row(Prior(phi, weights, 2.0), F, np.arange(12))
    for k in (0, 5, 11):
        rest = np.arange(12) != k
        B, b = Prior(phi[rest], weights[rest], 2.0).coefficients(F[rest])
        assert np.allclose(found[k], phi[k] @ B + b)


def test_rows_lean_on_means_where_metadata_tell_nothing():
    rng = np.random.default_rng(0)
    level = rng.random(60) * 2 + 2  # what users give to everything that they rate
    n_items, X = 50, np.zeros((50, 60))
    seen = rng.random(X.shape) < 0.4
    X[seen] = (level[None, :] + 0.1 * rng.normal(size=X.shape))[seen]
    other, F = rng.random((60, 3)), rng.random((n_items, 3))
    nothing = Prior(np.zeros((n_items, 0)), np.ones(n_items), 1.0)
    assert best_lean(nothing, F, other, sp.csr_array(X)) > 0.9
    F, phi = np.ones((n_items, 3)) / 3, rng.normal(size=(n_items, 1))
    exact = np.column_stack([level] * 3)
    told = Prior(np.column_stack((phi, phi**2)), np.ones(n_items), 1.0)
    X[seen] = (exact @ F.T).T[seen] + rng.normal(size=seen.sum())
    assert best_lean(told, F, exact, sp.csr_array(X)) < 0.5


def test_usual_ratings_are_a_product_and_leave_the_rest():
    X = sp.csr_array(np.array([[4.0, 0, 2], [5, 3, 0], [1, 0, 0]]))
    usual = Usual.of(X, (0.5, 0.4))
    rng = np.random.default_rng(0)
    W, H = rng.random((3, 2)), rng.random((3, 2))
    a, b = usual.leans(1, usual.told[1]), usual.leans(0, usual.told[0])
    wanted = (1 - a) * (1 - b)[:, None] * (W @ H.T)
    wanted += np.outer((1 - b) * usual.means[0], a) + np.outer(b, usual.means[1])
    assert np.allclose(usual.beside(0, W) @ usual.beside(1, H).T, wanted)
    left = usual.apart(1, sp.csr_array(X.T)).toarray()
    assert left[2, 0] * (1 - a[2]) + a[2] * usual.means[0][0] == pytest.approx(2)
    enough = Usual(3.0, (np.ones(1), np.ones(1)), (np.array([ENOUGH]), np.array([0])), (1, 1))
    assert enough.leans(0, enough.told[0]) == 0
    assert enough.leans(1, enough.told[1]) == 1


def test_predictions_are_products_of_rows():
    made = made_ratings(60, 40)
    cold = [f"i{k}" for k in range(6)]
    left = few_of(made, cold, 2)
    model = Recommender(4, random_state=0).fit(*(part[left] for part in made[:3]))
    raw = model._scored[0] @ model._scored[1].T
    users, items = model.user_ids_[:10], [cold[0]] * 10
    place = model.item_ids_.index(cold[0])
    assert np.allclose(model.predict(users, items), np.clip(raw[:10, place], 1, 5), atol=1e-5)
    new = model.fold_in(["i20"], [5.0])
    assert model._scored_user(new)[-1] == pytest.approx(
        model._model.usual.leans(0, np.array([1]))[0]
    )
    assert dict(model.recommend(new, 40, caution=0))[cold[0]] == pytest.approx(
        model.predict(new, cold[0])[0], abs=1e-5
    )


def test_an_explanation_with_mean_ratings_adds_up():
    made = made_ratings(60, 40)
    left = few_of(made, ["i0"], 1)
    model = Recommender(4, random_state=0).fit(*(part[left] for part in made[:3]))
    usual = replace(model._model.usual, most=(0.3, 0.4))
    model._keep(replace(model._model, usual=usual), model._ids, model._triplets, model._X)
    why = model.explain("u3", "i0", n=100)
    place = model.item_ids_.index("i0")
    total = float(model._scored[0][model.user_ids_.index("u3")] @ model._scored[1][place])
    assert why.usual > 0
    assert sum(one.part for one in why.components) + why.usual == pytest.approx(total, rel=1e-4)
    rated = sum(one.part for one in why.rated)
    assert why.expected + rated + why.rest == pytest.approx(total, rel=1e-4)
    assert "mean ratings of the user and the item give" in str(why)


@pytest.mark.parametrize("kind", ["explicit", "implicit"])
def test_comparisons_place_an_item_that_nobody_rated(kind):
    made = made_ratings(80, 60)
    genre = made.films.genre
    new = {f"new{k}": {"genre": "?"} for k in range(3)}
    films = pd.concat((made.films, pd.DataFrame(list(new.values()), index=list(new))))
    like, unlike = (
        [item for item in made.films.index if (genre[item] == "t0") is same]
        for same in (True, False)
    )
    said = [["new0", a, b] for a, b in zip(like[:12], unlike[:12], strict=True)]
    model = Recommender(5, kind=kind, random_state=0)
    told = {"item_metadata": films, "item_triplets": said}
    if kind == "explicit":
        model.fit(*made[:3], **told)
    else:
        good = made.ratings >= 3
        model.fit(made.users[good], made.items[good], **told)
    assert model.item_satisfied_rate_ == 1.0
    alike = model.similar_items("new0", 8).items
    assert np.mean([genre.get(item) == "t0" for item in alike]) > 0.7
    users = made.people.index[:40]
    liked = model.predict(users, ["new0"] * 40)
    assert np.isfinite(liked).all()
    assert np.corrcoef(liked, model.predict(users, [like[0]] * 40))[0, 1] > 0.3


def test_comparisons_move_rows_with_few_ratings():
    made = made_ratings(80, 60)
    genre = made.films.genre
    cold = [item for item in made.films.index if genre[item] == "t0"][:6]
    left = few_of(made, cold, 1)
    like = [item for item in made.films.index if genre[item] == "t0" and item not in cold]
    unlike = [item for item in made.films.index if genre[item] != "t0"]
    rng = np.random.default_rng(0)
    said = [[c, rng.choice(like), rng.choice(unlike)] for c in cold for _ in range(15)]
    train = [part[left] for part in made[:3]]
    told = Recommender(5, random_state=0).fit(*train, item_triplets=said)
    plain = Recommender(5, random_state=0).fit(*train)
    assert told.item_satisfied_rate_ > 0.97
    test = ~left
    truth = made.ratings[test]
    errors = [rmse(m.predict(made.users[test], made.items[test]), truth) for m in (told, plain)]
    assert errors[0] < errors[1]


def test_comparisons_hold_after_new_ratings_and_further_ones_are_taken_in():
    made = made_ratings(80, 60)
    late = np.random.default_rng(0).random(len(made.ratings)) < 0.2
    said = [["i1", "i2", "i3"], ["i4", "i5", "i6"], ["i7", "i8", "i9"]]
    model = Recommender(5, random_state=0)
    model.fit(*(part[~late] for part in made[:3]), item_triplets=said)
    model.partial_fit(*(part[late] for part in made[:3]), item_triplets=[["i11", "i12", "i13"]])
    assert model._triplets[1].n_triplets == 4
    assert model.item_satisfied_rate_ == 1.0
    assert any(one.q == "i11" and one.met for one in model.explain("u1", "i11").comparisons)
    with pytest.raises(ValueError, match="'gone'"):
        model.partial_fit(["u1"], ["i1"], [3], item_triplets=[["i1", "gone", "i3"]])
    assert model._triplets[1].n_triplets == 4


def test_rows_to_be_placed_are_numbered_first():
    triplets = Triplets([[7, 2, 9], [1, 2, 3], [4, 7, 2]], weights=[1, 2, 3])
    found = comparisons(triplets, np.array([7, 9]))
    assert found.known.tolist() == [2, 4]
    assert found.triplets.tolist() == [[0, 2, 1], [3, 0, 2]]
    assert found.weights.tolist() == [1, 3]
