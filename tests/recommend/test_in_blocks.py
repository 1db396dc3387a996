"""Recommenders of Dask collections: the results of the same ratings in one place."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import rprnmf
from rprnmf.recommend import Recommender, evaluate
from rprnmf.recommend import in_dask as blocks_module
from rprnmf.recommend import recommender as memory_module
from tests.recommend.made import made_ratings
from tests.remote.matrices import in_blocks

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

MADE = made_ratings(n=60, m=40, share=0.3)
FRAME = pd.DataFrame({"user": MADE.users, "item": MADE.items, "rating": MADE.ratings})
CLICKS = FRAME[FRAME.rating >= 4][["user", "item"]].reset_index(drop=True)


@pytest.fixture(autouse=True)
def one_after_the_other():
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def double(monkeypatch):
    """Fits in double precision: then nothing hides a step that differs."""
    for module in (memory_module, blocks_module):
        monkeypatch.setattr(module, "PRECISION", np.float64)


def both(one, two, known=None, **settings):
    """A fit of each."""
    usual = {"n_components": 3, "order": "rating", "random_state": 0} | settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return [Recommender(**usual).fit(data, **(known or {})) for data in (one, two)]


def check_same(one, two, tolerance=1e-6):
    """All predictions, and everything that is told."""
    assert one.user_ids_ == two.user_ids_
    assert one.item_ids_ == two.item_ids_
    assert one.notes_ == two.notes_
    users = [user for user in one.user_ids_ for _ in one.item_ids_]
    found = [model.predict(users, one.item_ids_ * len(one.user_ids_)) for model in (one, two)]
    assert np.abs(found[1] - found[0]).max() <= tolerance * np.abs(found[0]).max()
    assert isinstance(two.user_factors_, da.Array)
    W = np.asarray(two.user_factors_)
    assert np.allclose(W, one.user_factors_, atol=tolerance * one.user_factors_.max())
    if tolerance > 1e-6:
        return
    asked = [*one.user_ids_[-3:], *one.user_ids_[:5]]
    lists = [[found.items for found in model.recommend(asked, 5)] for model in (one, two)]
    assert lists[0] == lists[1]
    user, item = one.user_ids_[1], one.item_ids_[2]
    assert one.similar_users(user, 4).items == two.similar_users(user, 4).items
    assert one.similar_items(item, 4).items == two.similar_items(item, 4).items
    assert str(one.explain(user, item)) == str(two.explain(user, item))
    ratings = [5.0, 1.0] if one.kind_ == "explicit" else None
    new = [model.fold_in(one.item_ids_[:2], ratings) for model in (one, two)]
    assert np.allclose(new[0].factors, new[1].factors, rtol=1e-6)
    assert [one.recommend([new[0], user], 3)[0].items] == [
        two.recommend([new[1], user], 3)[0].items
    ]


def test_a_frame_of_ratings(double):
    triplets = {
        "user_triplets": [["u0", "u1", "u2"], ["u3", "u40", "u5"]],
        "item_triplets": [["i0", "i1", "i2"], ["i7", "i8", "new"]],
    }
    people = pd.concat((MADE.people, pd.DataFrame({"group": ["g1"]}, index=["nobody"])))
    films = pd.concat((MADE.films, pd.DataFrame({"genre": ["t1"]}, index=["new"])))
    known = {"user_metadata": people, "item_metadata": films, **triplets}
    few = FRAME.groupby("item").cumcount() < 30 - 3 * (FRAME.index % 7)
    frame = FRAME[few].reset_index(drop=True)
    one, two = both(frame, dd.from_pandas(frame, npartitions=3, sort=False), known)
    check_same(one, two)
    assert one.item_satisfied_rate_ == two.item_satisfied_rate_
    assert one.user_satisfied_rate_ == two.user_satisfied_rate_


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_a_frame_of_clicks(double, beta_loss):
    known = {"user_metadata": MADE.people, "item_metadata": MADE.films}
    alpha, n_starts = (0.05, 2) if beta_loss == "frobenius" else (0.002, 1)
    usual = {"beta_loss": beta_loss, "alpha": alpha, "n_starts": n_starts, "max_iter": 10}
    frame = dd.from_pandas(CLICKS, npartitions=2, sort=False)
    check_same(*both(CLICKS, frame, known, **usual))


def test_an_array_with_empty_rows_and_columns(double):
    rng = np.random.default_rng(0)
    found = np.where(rng.random((50, 30)) < 0.2, np.ceil(rng.gamma(0.5, 9.0, (50, 30))) + 1, 0)
    found[[4, 17]] = found[:, [5]] = 0
    counts = sp.csr_array(found)
    one, two = both(counts, in_blocks(counts, (20, 3, 27)), alpha=0.05, max_iter=5)
    assert two.kind_ == "implicit"
    assert "2 users have no ratings." in two.notes_
    check_same(one, two)


def test_single_precision_and_repeats():
    frame = pd.concat((FRAME, FRAME[:5])).reset_index(drop=True)
    one, two = both(frame, dd.from_pandas(frame, npartitions=3, sort=False))
    assert two.user_factors_.dtype == np.float32
    assert any("more than once" in note for note in two.notes_)
    check_same(one, two, tolerance=1e-3)
    two.order = "interest"  # there is no model of it in blocks
    assert len(two.recommend("u1", 3)) == 3


def test_what_there_is_no_model_for_is_told():
    frame = dd.from_pandas(FRAME, npartitions=2, sort=False)
    with pytest.warns(UserWarning, match="lists are in the order of predicted ratings"):
        model = Recommender(2, random_state=0).fit(frame)
    assert "order='interest' needs the ratings in one place" in model.notes_[-1]


def test_what_is_refused(tmp_path):
    frame = dd.from_pandas(CLICKS, npartitions=2, sort=False)
    model = Recommender(2, kind="implicit", alpha=0.05, max_iter=2, random_state=0)
    with pytest.raises(ValueError, match="early_stopping=True holds ratings out"):
        Recommender(2, early_stopping=True).fit(frame)
    with pytest.raises(TypeError, match="pass no items and no ratings"):
        model.fit(frame, CLICKS.item)
    with pytest.raises(TypeError, match="is not sparse"):
        model.fit(da.ones((6, 4), chunks=(3, 4)))
    with pytest.raises(TypeError, match=r"everything else needs the ratings in one place"):
        evaluate({"a": model}, frame, verbose=0)
    with pytest.raises(ValueError, match="no ratings: the DataFrame is empty"):
        model.fit(frame[frame.user == "nobody"])
    assert not hasattr(model, "user_ids_")
    model.fit(frame)
    with pytest.raises(ValueError, match="partial_fit needs all ratings in one place"):
        model.partial_fit(["u1"], ["i1"])
    with pytest.raises(TypeError, match="of a Dask collection cannot be saved"):
        rprnmf.save(model, tmp_path / "model.rprnmf")
    X = sp.csr_array(np.arange(1.0, 25.0).reshape(6, 4))
    with pytest.raises(ValueError, match="next to all pairs of user and item have a rating"):
        Recommender(2, kind="explicit", order="rating").fit(in_blocks(X, (3, 3)))
    with pytest.raises(ValueError, match="out of the scale 1 to 5"):
        Recommender(2, kind="explicit", order="rating", scale=(1, 5)).fit(in_blocks(X, (3, 3)))


def test_frames_that_are_no_ratings_are_refused():
    dd = pytest.importorskip("dask.dataframe")
    wide = pd.DataFrame(np.ones((6, 12)), columns=[f"film {k}" for k in range(12)])
    with pytest.raises(ValueError, match="one column per item"):
        Recommender(2).fit(dd.from_pandas(wide, npartitions=2))
    rng = np.random.default_rng(0)
    plays = {"user": rng.integers(0, 20, 200), "item": rng.integers(0, 15, 200)}
    plays["count"] = rng.geometric(0.1, 200) - 1.0
    with pytest.raises(ValueError, match="counts must be above 0"):
        Recommender(2).fit(dd.from_pandas(pd.DataFrame(plays), npartitions=2))
