"""What each component is made of."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.exceptions import NotFittedError

from rprnmf import NMF, top_features, top_items
from tests.plotting.fits import ESTIMATORS, X, fitted

pd = pytest.importorskip("pandas")


def slow(F, n, names):
    """Sort every column."""
    return [
        sorted(
            ((names[k], v) for k, v in enumerate(column.tolist()) if v > 0), key=lambda e: -e[1]
        )[:n]
        for column in F.T
    ]


@pytest.mark.parametrize("n", [1, 4, 1000])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_by_weight(name, n):
    model = fitted(name)
    names = model.column_names_.tolist(), model.row_names_.tolist()
    assert top_features(model, n) == slow(model.components_.T, n, names[0])
    assert top_items(model, n) == slow(model.embedding_, n, names[1])


def test_without_names_positions_are_given():
    model = fitted("NMF", named=False)
    (name, weight), *_ = top_features(model)[0]
    assert name == int(np.argmax(model.components_[0]))
    assert weight == model.components_[0].max()
    assert {type(item) for top in top_items(model) for item, _ in top} == {int}


def test_names_from_a_frame_and_names_that_are_given():
    letters = list("abcdefghi")
    model = NMF(2, max_iter=20, tol=0, random_state=0).fit(pd.DataFrame(X, columns=letters))
    assert {name for top in top_features(model) for name, _ in top} <= set(letters)
    model = NMF(2, max_iter=20, tol=0, random_state=0).fit(X)
    assert top_features(model, 1, names=letters)[0][0][0] in letters
    with pytest.raises(ValueError, match="one name for each of 9 columns, got 2"):
        top_features(model, names=["a", "b"])


def model_of(W, H):
    """A fitted model with given factors."""
    model = NMF(len(H), init="custom", max_iter=1, tol=0).fit(W @ H, W=W, H=H)
    model.embedding_, model.components_ = W, H
    return model


def test_what_is_frequent_everywhere_is_not_relevant():
    # "the" is the largest of both; "odd" is all but absent, and in one component only
    H = np.array([[9.0, 3, 0.001, 0], [9, 0, 0, 4]])
    model = model_of(np.ones((3, 2)), H)
    words = ["the", "cat", "odd", "tree"]

    def first(by):
        return [top[0][0] for top in top_features(model, by=by, names=words)]

    assert first("weight") == ["the", "the"]
    assert first("relevance") == ["cat", "tree"]
    assert first("lift")[1] == "tree"
    assert {name for name, _ in top_features(model, 2, by="lift", names=words)[0]} == {"cat", "odd"}


def test_lift_and_relevance_by_their_formulas():
    model = fitted()
    W, H = model.embedding_, model.components_
    mass = W.sum(axis=0) * H.sum(axis=1)
    overall = (W.sum(axis=0) @ H) / mass.sum()
    share = H / H.sum(axis=1, keepdims=True)
    names = model.column_names_.tolist()
    for by, expected in (("lift", share / overall), ("relevance", share**3 / overall**2)):
        for top, row in zip(top_features(model, 1000, by=by), expected, strict=True):
            assert dict(top) == pytest.approx(
                {name: v for name, v in zip(names, row, strict=True) if v > 0}
            )
            assert [number for _, number in top] == sorted((v for _, v in top), reverse=True)


@pytest.mark.parametrize("by", ["weight", "lift", "relevance"])
def test_units_and_dead_components(by):
    H = np.array([[2.0, 1, 0], [0, 0, 0], [0, 1, 3]])
    W = np.array([[1.0, 1, 0], [2, 1, 1]])
    tops = top_features(model_of(W, H), by=by)
    assert tops[1] == []
    for size in (1e-200, 1e200):
        other = model_of(W, H)
        other.embedding_, other.components_ = W * size, H * size
        found = [[name for name, _ in top] for top in top_features(other, by=by)]
        assert found == [[name for name, _ in top] for top in tops]
    single = model_of(W, H)
    single.components_ = H.astype(np.float32)
    assert [[name for name, _ in top] for top in top_features(single, by=by)] == found


def test_a_frame():
    model = fitted()
    frame = top_items(model, 3, as_frame=True)
    assert list(frame.columns) == ["component", "rank", "item", "weight"]
    lists = [
        [(row.item_, row.weight) for row in part.rename(columns={"item": "item_"}).itertuples()]
        for _, part in frame.groupby("component")
    ]
    assert lists == top_items(model, 3)
    assert frame["rank"].tolist() == [1, 2, 3] * 3
    columns = list(top_features(model, by="lift", as_frame=True).columns)
    assert columns == ["component", "rank", "feature", "lift"]


def test_a_frame_needs_pandas(monkeypatch):
    model = fitted()
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert top_items(model)
    with pytest.raises(ImportError, match=r"needs pandas: pip install \"rprnmf\[data\]\""):
        top_items(model, as_frame=True)


def test_the_model_may_be_of_scikit_learn():
    model = decomposition.NMF(2, random_state=0, max_iter=2000).fit(pd.DataFrame(X).add_prefix("x"))
    assert top_features(model, 1, by="relevance")[0][0][0].startswith("x")
    with pytest.raises(TypeError, match="NMF keeps no embedding_"):
        top_items(model)


@pytest.mark.parametrize("n", [0, -1, 2.0, True, None, "3"])
def test_a_wrong_number(n):
    with pytest.raises(ValueError, match="n must be a whole number from 1"):
        top_features(fitted(), n)


def test_what_cannot_be_asked():
    with pytest.raises(ValueError, match="by must be one of weight, lift, relevance; got 'size'"):
        top_features(fitted(), by="size")
    with pytest.raises(NotFittedError):
        top_features(NMF(2))
    with pytest.raises(TypeError, match="is needed, got NMF"):
        top_features(NMF)
