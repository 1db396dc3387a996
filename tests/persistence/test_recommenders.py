"""Recommenders come back, and all their methods say the same to the last bit."""

from __future__ import annotations

import copy
import os
import uuid

import numpy as np
import pytest
from sklearn.base import clone

import rprnmf
from rprnmf.persistence import describe
from rprnmf.recommend import Recommender
from tests.persistence.equality import bits
from tests.persistence.recommenders import (
    FILMS,
    FITS,
    IDS,
    MADE,
    PEOPLE,
    answers,
    fitted,
    taught,
    with_ids,
)


@pytest.fixture
def again(tmp_path):
    """Through a file."""

    def through(model):
        path = tmp_path / "ratings.rprnmf"
        rprnmf.save(model, path)
        assert os.listdir(tmp_path) == ["ratings.rprnmf"]
        return rprnmf.load(path)

    return through


def attributes(model):
    """All but the estimators, which are not kept."""
    return {name: part for name, part in vars(model).items() if name != "estimators_"}


def same(loaded, model):
    assert set(vars(loaded)) == set(attributes(model))
    ordered = {name: vars(model)[name] for name in vars(loaded)}
    assert bits(vars(loaded)) == bits(ordered)


@pytest.mark.parametrize("name", FITS)
def test_a_recommender_is_the_same(name, again):
    model = fitted(name)
    loaded = again(model)
    same(loaded, model)
    assert bits(answers(loaded)) == bits(answers(model))


@pytest.mark.parametrize("name", FITS)
def test_it_learns_the_same_afterwards(name, again):
    model = taught(copy.deepcopy(fitted(name)))
    loaded = taught(again(fitted(name)))
    same(loaded, model)
    assert bits(answers(loaded)) == bits(answers(model))
    once_more = again(loaded)  # more users and items than in the fit
    same(once_more, model)
    assert bits(answers(once_more)) == bits(answers(model))


def test_it_can_be_fitted_again(again):
    first, second = (
        clone(each).fit(PEOPLE, FILMS, MADE.ratings, **MADE.known)
        for each in (fitted("tables"), again(fitted("tables")))
    )
    assert bits(second.item_factors_) == bits(first.item_factors_)
    assert len(second.estimators_) == 1


def test_an_unfitted_one_has_its_parameters(again):
    model = Recommender(7, kind="implicit", scale=(1, 5), random_state=np.random.RandomState(3))
    loaded = again(model)
    assert bits(vars(loaded)) == bits(vars(model))
    assert not hasattr(loaded, "user_ids_")


@pytest.mark.parametrize("kind", IDS)
def test_ids_of_all_kinds(kind, again):
    model = with_ids(kind)
    loaded = again(model)
    assert bits([loaded.user_ids_, loaded.item_ids_]) == bits([model.user_ids_, model.item_ids_])
    for user in model.user_ids_:
        assert bits(loaded.recommend([user], 3)) == bits(model.recommend([user], 3))


STRANGERS = {"uuid": uuid.UUID(int=1), "complex": 1j, "object": ("a", object()), "range": range(3)}


@pytest.mark.parametrize("stranger", STRANGERS.values(), ids=list(STRANGERS))
def test_other_ids_are_refused_before_anything_is_written(stranger, tmp_path):
    path = tmp_path / "ratings"
    rprnmf.save(Recommender(9), path)
    before = path.read_bytes()
    users = [*PEOPLE[:-1], stranger]
    model = Recommender(2, max_iter=2, random_state=0).fit(users, FILMS, MADE.ratings)
    place = model.user_ids_.index(stranger)
    kind = type(stranger).__name__
    with pytest.raises(TypeError, match=rf"user_ids_\[{place}\] cannot be .* the type {kind}; ids"):
        rprnmf.save(model, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["ratings"]


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_id_is_refused(missing, tmp_path):
    facts = {f"i{k}": ["a"] for k in range(9)}
    model = Recommender(2, max_iter=2, random_state=0)
    model.fit(PEOPLE, FILMS, MADE.ratings, item_metadata=facts)
    model.item_ids_[-1] = missing  # no fit leaves it so
    with pytest.raises(ValueError, match=r"\] must be an id, got (None|nan)"):
        rprnmf.save(model, tmp_path / "ratings")
    assert os.listdir(tmp_path) == []


def test_labels_that_cannot_be_saved_are_said(tmp_path):
    kinds = [uuid.UUID(int=k) for k in range(2)]
    facts = {f"i{k}": {"kind": [kinds[k % 2]]} for k in range(16)}
    model = Recommender(2, max_iter=2, random_state=0)
    model.fit(PEOPLE, FILMS, MADE.ratings, item_metadata=facts)
    with pytest.raises(TypeError, match=r"metadata column 'kind' cannot be saved: .* type UUID"):
        rprnmf.save(model, tmp_path / "ratings")
    assert os.listdir(tmp_path) == []


def test_an_own_attribute_is_left_out_with_a_warning(tmp_path):
    model = copy.deepcopy(fitted("ratings"))
    model.note = "mine"
    with pytest.warns(UserWarning, match="note of Recommender cannot be saved"):
        rprnmf.save(model, tmp_path / "ratings")
    assert not hasattr(rprnmf.load(tmp_path / "ratings"), "note")


def test_the_file_tells_its_class_and_is_not_large(tmp_path):
    path = tmp_path / "ratings"
    rprnmf.save(fitted("tables"), path)
    assert describe(path)["class"] == "Recommender"
    model = fitted("tables")
    assert path.stat().st_size < 100_000 + 2 * model.user_factors_.nbytes


def test_many_users_fit_into_a_file(again):
    """Their ids are not in the header, whose size is limited."""
    n = 50_000
    rng = np.random.default_rng(0)
    users = [f"person {k}" for k in range(n)]
    model = Recommender(1, kind="implicit", max_iter=1, random_state=0)
    model.fit(users, rng.integers(0, 20, n))
    assert again(model).user_ids_ == model.user_ids_
