"""What docs/recommend.md shows must run and be true."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "recommend.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the page is not part of the package")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The names that all blocks leave, run one after the other as a reader would."""
    pytest.importorskip("pandas")
    names: dict = {"__name__": "page"}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("error")
        patch.chdir(tmp_path_factory.mktemp("page"))
        for number, code in enumerate(blocks):
            exec(compile(code, f"recommend.md, block {number}", "exec"), names)
    return names


def genre(film):
    return film.split()[0]


def test_lists_are_of_what_a_person_likes(ran):
    model, hits = ran["same"], []
    for person, liking in zip(ran["people"], ran["liking"], strict=True):
        best = ran["genres"][int(np.argmax(liking))]
        if np.sort(liking)[-1] - np.sort(liking)[-2] > 0.4:
            hits += [genre(film) == best for film in model.recommend(person, 2).items]
    assert len(hits) > 10
    assert np.mean(hits) > 0.8


def test_a_file_gives_the_same_model(ran):
    fresh = ran["Recommender"](4, random_state=0).fit(ran["users"], ran["items"], ran["ratings"])
    assert np.array_equal(ran["same"].item_factors_, fresh.item_factors_)


def test_parts_of_an_explanation_add_up(ran):
    told = ran["same"].explain("person 3", "space 1", n=100)
    total = told.expected + sum(part.part for part in told.rated) + told.rest
    assert np.clip(total, 1, 5) == pytest.approx(told.prediction, abs=1e-4)


def test_kinds_are_told(ran):
    assert ran["model"].kind_ == "explicit"
    assert ran["clicks"].kind_ == "implicit"


def test_an_item_that_nobody_rated_has_a_place(ran):
    informed, fan = ran["informed"], ran["fan"]
    rated = informed.predict(fan, "space 99")[0]
    assert rated > informed.predict(fan, "love 1")[0] + 0.5
    stranger = ran["people"][int(np.argmin(ran["liking"][:, 0]))]
    assert rated > informed.predict(stranger, "space 99")[0] + 0.5


def test_comparisons_hold(ran):
    assert ran["compared"].item_satisfied_rate_ == 1.0


def test_someone_new_gets_what_they_like(ran):
    found = ran["model"].recommend(ran["visitor"], 3).items
    assert [genre(film) for film in found].count("space") >= 2
    assert "person 60" in ran["model"].user_ids_
    assert "space 6" not in ran["model"].recommend("person 60", 30).items


def test_measures_are_there(ran):
    assert {"RMSE", "MAE", "NDCG@10"} <= set(ran["measured"].measures)
    assert {row["folds"] for row in ran["cold"].summary()} == {
        "0 ratings",
        "1 rating",
        "2-5 ratings",
    }
    assert ran["tuning"].best["n_components"] in (2, 4, 8)


def test_a_loaded_model_is_the_same(ran):
    best, again = ran["best"], ran["again"]
    assert not hasattr(again, "estimators_")
    assert np.array_equal(
        again.predict(ran["people"], "love 1"), best.predict(ran["people"], "love 1")
    )


def test_figures_are_left_to_files_of_results():
    """But for those that exist elsewhere, the page has no measured numbers."""
    text = re.sub(r"```.*?```", "", PAGE.read_text(), flags=re.DOTALL)
    assert not re.findall(r"\d\.\d", text)
    assert "benchmarks/results/clicks.md" in text
    assert "benchmarks/results/recommend_explicit_1m.md" in text
