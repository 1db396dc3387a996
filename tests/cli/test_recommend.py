"""Lists of items on the command line."""

from __future__ import annotations

import csv

from tests.cli.conftest import FILMS, KIND


def test_lists_hold_what_a_user_has_not_rated(data, call):
    code, found, _ = call("recommend", data / "ratings.csv", "-k", 2, "--json", "--quiet")
    assert code == 0
    assert found["kind"] == "explicit"
    rated = {tuple(row[:2]) for row in csv.reader((data / "ratings.csv").read_text().splitlines())}
    listed = {(row["user"], row["item"]) for row in found["recommendations"]}
    assert not rated & listed
    everyone = {user for user, _ in rated if user != "user"}
    assert rated | listed >= {(user, film) for user in everyone for film in FILMS}
    assert all(1 <= row["score"] <= 5 for row in found["recommendations"])


def test_titles_files_and_reasons(data, call, tmp_path):
    table = tmp_path / "films.csv"
    lines = [
        f"{film},{film} (19{90 + k}),{'love' if KIND[k] else 'space'}\n"
        for k, film in enumerate(FILMS)
    ]
    table.write_text("film,title,genre\n" + "".join(lines) + "Unrated,Unrated (1999),space\n")
    out = tmp_path / "lists.csv"
    code, text, _ = call(
        *("recommend", data / "ratings.csv", "-k", 2, "--for", "user 3", "--items", table),
        *("--item-triplets", data / "triplets.csv", "--out", out, "--why", "--quiet"),
    )
    assert code == 0
    assert "without any rating one would expect" in text
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert {row["user"] for row in rows} == {"user 3"}
    assert {"Unrated"} <= {row["item"] for row in rows}
    assert all(row["title"].startswith(row["item"]) for row in rows)


def test_errors_say_what_is_wrong(data, call, tmp_path):
    code, _, error = call("recommend", data / "ratings.csv", "--for", "nobody", "-k", 2, "--quiet")
    assert code == 1
    assert "has no user 'nobody'" in error
    table = tmp_path / "films.csv"
    table.write_text("a,b\n1,2\n")
    code, _, error = call("recommend", data / "ratings.csv", "--items", table, "--quiet")
    assert code == 1
    assert "must have a column with names that the ratings use" in error
