"""Facts about users and items become columns that encoders understand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rprnmf.recommend.metadata import Metadata


def test_ids_are_the_index_or_a_column():
    frame = pd.DataFrame({"movie_id": [7, 9], "year": [1990, 2000]})
    assert Metadata(frame, "item").ids == [7, 9]
    assert Metadata(frame.set_index("movie_id"), "item").ids == [7, 9]
    assert Metadata({"a": {"year": 3.0}, "b": {}}, "item").ids == ["a", "b"]


def test_columns_are_read_by_what_they_hold():
    n = 120
    frame = pd.DataFrame(
        {
            "title": [f"The long tale of number{'ab'[k % 2]} ({1950 + k % 60})" for k in range(n)],
            "genres": ["Comedy|Drama", "Drama"] * (n // 2),
            "code": [k % 4 for k in range(n)],
            "price": np.linspace(0, 1, n),
            "empty": [None] * n,
        },
        index=[f"i{k}" for k in range(n)],
    )
    frame["title"] = [f"{title} {chr(97 + k % 26)}{k}" for k, title in enumerate(frame.title)]
    found = Metadata(frame, "item")
    assert list(found.columns) == [
        "title (words)",
        "title (year)",
        "genres",
        "code",
        "code (code)",
        "price",
    ]
    assert found.columns["title (words)"][0] == ("the", "long", "tale", "numbera")
    assert found.columns["title (year)"][3] == 1953
    assert found.columns["genres"][0] == ("Comedy", "Drama")
    assert found.columns["code (code)"][5] == (1,)


def test_labels_that_no_others_share_are_left_out():
    found = Metadata({k: {"tags": ["common", f"own{k}"]} for k in range(5)}, "item")
    assert found.columns["tags"].tolist() == [("common",)] * 5


def test_what_is_not_known_is_empty():
    found = Metadata({"a": {"x": 1.0, "t": "q|r"}, "b": {"x": 2.0, "t": "q"}}, "user")
    table = found.table(["b", "strange"])
    assert table["x"][0] == 2.0
    assert np.isnan(table["x"][1])
    assert table["t"].tolist() == [("q",), None]
    assert table.iloc[[0]]["x"].tolist() == [2.0]


def test_further_facts_are_read_in_the_same_way():
    first = Metadata({"a": {"x": 1.0, "t": "q"}, "b": {"x": 2.0, "t": "q"}}, "user")
    both = first.plus({"b": {"x": 5.0, "t": "q|new"}, "c": {"x": 7, "other": 3}})
    assert both.ids == ["a", "b", "c"]
    assert both.columns["x"].tolist() == [1.0, 5.0, 7.0]
    assert both.columns["t"].tolist() == [("q",), ("q", "new"), ()]
    with pytest.raises(ValueError, match="column 'x' has numbers"):
        first.plus({"c": {"x": "many"}})


def test_errors():
    with pytest.raises(TypeError, match="user_metadata must be a DataFrame"):
        Metadata([1, 2], "user")
    frame = pd.DataFrame({"x": [1, 2]}, index=["a", "a"])
    with pytest.raises(ValueError, match="'a' more than once"):
        Metadata(frame, "item")
