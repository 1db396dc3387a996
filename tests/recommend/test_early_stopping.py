"""The number of iterations, found on ratings that a fit does not see; and Poisson factorisation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf.recommend import Recommender
from rprnmf.recommend.early_stopping import Watch, hidden
from tests.recommend.made import made_ratings


def test_every_user_and_item_keeps_a_rating():
    rng = np.random.default_rng(0)
    X = sp.csr_array(np.triu(np.ones((30, 30))) * rng.integers(1, 6, (30, 30)))
    train, held = hidden(X, 0.5, np.random.RandomState(0))
    assert np.diff(train.indptr).min() >= 1
    assert np.diff(sp.csc_array(train).indptr).min() >= 1
    assert (train + held != X).nnz == 0
    assert train.nnz + held.nnz == X.nnz
    assert held.nnz > 0.35 * X.nnz


@pytest.mark.parametrize("kind", ["explicit", "implicit"])
def test_the_number_of_iterations_is_found_and_said(kind):
    made = made_ratings(80, 60)
    ratings = made.ratings if kind == "explicit" else None
    model = Recommender(5, kind=kind, early_stopping=True, max_iter=60, random_state=0)
    model.fit(made.users, made.items, ratings)
    measure = "RMSE" if kind == "explicit" else "NDCG@10"
    note = next(note for note in model.notes_ if "predict best" in note)
    assert measure in note
    assert note.startswith(f"{model.n_iter_} iterations predict best")
    fixed = Recommender(5, kind=kind, max_iter=model.n_iter_, random_state=0)
    fixed.fit(made.users, made.items, ratings)
    assert np.array_equal(fixed.user_factors_, model.user_factors_)  # all ratings are fitted


def test_too_few_ratings_to_hold_any_out():
    model = Recommender(1, early_stopping=True, random_state=0)
    model.fit(["a", "b", "c"], ["x", "y", "z"], [1, 5, 3])
    assert any("too few ratings" in note for note in model.notes_)


class State:
    def __init__(self, iteration, W, H):
        self.iteration, self.W, self.H = iteration, W, H


def test_it_stops_when_lists_get_no_better():
    train = sp.csr_array(np.array([[1.0, 0, 0, 0], [0, 1, 0, 0]]))
    held = sp.csr_array(np.array([[0.0, 1, 0, 0], [0, 0, 1, 0]]))
    watch = Watch(train, held, implicit=True)
    good, bad = np.array([[0.0, 2, 1, 0], [0, 0, 2, 1]]), np.array([[0.0, 1, 2, 3], [3, 0, 1, 2]])
    assert watch.missed(np.eye(2), good.T) == 0.0
    worse = 1 - (1 / np.log2(4))  # third of those that were not clicked, for both
    assert watch.missed(np.eye(2), bad.T) == pytest.approx(worse)
    assert not watch(State(1, np.eye(2), good))
    assert watch.at == 1
    assert not watch(State(5, np.eye(2), bad))
    assert watch(State(1 + watch.patience, np.eye(2), bad))


def test_poisson_factorisation_of_counts():
    made = made_ratings(80, 60)
    counts = np.random.default_rng(0).geometric(0.4, len(made.users)) ** 2
    model = Recommender(6, beta_loss="kullback-leibler", random_state=0)
    model.fit(made.users, made.items, counts)
    assert model.kind_ == "implicit"
    liked = model.predict(made.users, made.items).mean()
    users, items = np.random.default_rng(1).permutation(made.users), made.items
    assert liked > 1.1 * model.predict(users, items).mean()
    assert model.estimators_[0].beta_loss == "kullback-leibler"
    new = model.fold_in(made.items[made.users == "u5"], counts[made.users == "u5"])
    old = model.user_factors_[model.user_ids_.index("u5")]
    assert np.allclose(new.factors, old, rtol=0.1, atol=0.1 * old.max())
