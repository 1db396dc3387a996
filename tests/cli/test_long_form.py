"""Ratings and clicks in long form on the command line: as the library reads them."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import rprnmf
from rprnmf.recommend import Recommender
from tests.cli.running import run_program


def drawn(lowest=1.0, n_users=20, n_items=9):
    """Users, items and whole ratings of five steps, of two tastes."""
    rng = np.random.default_rng(0)
    users, items = np.nonzero(rng.random((n_users, n_items)) < 0.6)
    ratings = lowest + np.where(users % 2 == items % 2, 4, rng.integers(0, 3, len(users)))
    return [f"u{k}" for k in users], [f"film {k}" for k in items], ratings


def written(path, header, *columns, sep=","):
    lines = [sep.join(f"{x:g}" if isinstance(x, float) else str(x) for x in row)
             for row in zip(*columns, strict=True)]  # fmt: skip
    path.write_text("\n".join(([header] if header else []) + lines) + "\n")
    return path


def saved(path, *arguments, stdin=None):
    """The model that the program makes of a file, and what it says on stderr."""
    out = (path.parent if stdin is None else arguments[0]) / "model.rprnmf"
    arguments = arguments if stdin is None else arguments[1:]
    done = run_program("recommend", path, "-k", 2, *arguments, "--save", out, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return rprnmf.load(out), " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("header", "sep"),
    [("user,item", ","), ("user_id\tmovie", "\t"), ("film,user", ",")],
    ids=str,
)
def test_two_columns_are_clicks(header, sep, tmp_path):
    users, items, _ = drawn()
    columns = (items, users) if header.startswith("film") else (users, items)
    path = written(tmp_path / "clicks.csv", header, *columns, sep=sep)
    model, said = saved(path)
    assert "clicks in long form, 20 users x 9 items" in said
    expected = Recommender(2, random_state=0, verbose=0).fit(users, items)
    assert model.kind_ == "implicit"
    assert model.user_ids_ == expected.user_ids_
    np.testing.assert_allclose(model.item_factors_, expected.item_factors_, rtol=1e-5)


def test_clicks_by_number_of_standard_input(tmp_path):
    text = "user,item\n" + "".join(f"{k % 7},{k % 5}\n" for k in range(35))
    model, said = saved("-", tmp_path, stdin=text)
    assert "stdin: clicks in long form, 7 users x 5 items, 35 lines" in said
    assert set(model.item_ids_) == set("01234")


@pytest.mark.parametrize("odd", [False, True], ids=["compiled", "cell by cell"])
@pytest.mark.parametrize("kind", ["implicit", "explicit"])
def test_repeats_are_joined_as_the_library_does(kind, odd, tmp_path):
    users, items, ratings = drawn()
    users, items, ratings = [*users, *users[:9]], [*items, *items[:9]], [*ratings, *ratings[9:18]]
    values = [f"+{x:g}" if odd else f"{x:g}" for x in ratings]  # compiled reading knows no plus
    path = written(tmp_path / "ratings.csv", "user,item,rating", users, items, values)
    model, said = saved(path, "--kind", kind)
    how = "sum" if kind == "implicit" else "mean"
    assert f"9 pairs of user and item occur more than once: their {how} is used" in said
    with pytest.warns(UserWarning, match=how):
        expected = Recommender(2, kind=kind, random_state=0, verbose=0).fit(users, items, ratings)
    np.testing.assert_allclose(model.user_factors_, expected.user_factors_, rtol=1e-5)
    np.testing.assert_allclose(model.item_factors_, expected.item_factors_, rtol=1e-5)


def test_ratings_below_zero(tmp_path):
    users, items, ratings = drawn(lowest=-2.0)
    path = written(tmp_path / "ratings.csv", "user,item,rating", users, items, ratings)
    model, _ = saved(path)
    assert (model.kind_, model.scale_) == ("explicit", (-2.0, 2.0))
    expected = Recommender(2, random_state=0, verbose=0).fit(users, items, ratings)
    found = model.predict(users[:5], items[:5])
    np.testing.assert_allclose(found, expected.predict(users[:5], items[:5]), rtol=1e-4, atol=1e-4)


def test_lines_without_names_and_other_columns(tmp_path):
    """As MovieLens has them; and a wide table is a wide table."""
    users, items, ratings = drawn()
    numbers = [name[1:] for name in users], [name[5:] for name in items]
    times = [978300000 + k for k in range(len(users))]
    path = written(tmp_path / "u.data", None, *numbers, ratings, times, sep="\t")
    model, _ = saved(path)
    assert model.scale_ == (1.0, 5.0)
    done = run_program("recommend-test", path, "-k", 2, "--split", "time", "--folds", 2)
    assert done.returncode == 0, done.stderr
    assert "period" in done.stdout
    table = tmp_path / "wide.csv"
    table.write_text("user,movie,book,game\n" + "".join(f"u{k},1,{k % 5},3\n" for k in range(9)))
    model, said = saved(table)
    assert "a table of 9 rows x 3 columns" in said
    assert set(model.item_ids_) == {"movie", "book", "game"}


def test_columns_that_options_name(tmp_path):
    users, items, ratings = drawn()
    path = written(tmp_path / "clicks.csv", "who,liked", users, items)
    model, said = saved(path, "--user", "who", "--item", "liked")
    assert "clicks in long form, 20 users x 9 items" in said
    assert set(model.user_ids_) == set(users)
    path = written(tmp_path / "grades.csv", "user,item,grade", users, items, ratings)
    done = run_program("recommend", path, "--quiet")
    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    assert "the column 'grade' has no name of ratings: say --rating 'grade', or --drop" in said
    assert saved(path, "--rating", "grade")[0].kind_ == "explicit"
    assert saved(path, "--drop", "grade")[0].kind_ == "implicit"
    path = written(
        tmp_path / "both.csv", "user,item,count,rating", users, items, [7] * len(users), ratings
    )
    assert saved(path)[0].scale_ == (1.0, 5.0)


@pytest.mark.parametrize("dates", [False, True], ids=["seconds", "dates"])
@pytest.mark.parametrize("rated", [False, True], ids=["clicks", "ratings"])
def test_split_by_time(dates, rated, tmp_path):
    users, items, ratings = drawn()
    order = np.random.default_rng(1).permutation(len(users))
    times = [f"2024-01-{1 + k // 24:02} {k % 24:02}:00" if dates else 10 * k for k in order]
    columns = [users, items, ratings, times] if rated else [users, items, times]
    header = "user,item,rating,timestamp" if rated else "user,item,timestamp"
    path, out = written(tmp_path / "r.csv", header, *columns), tmp_path / "folds.csv"
    arguments = ["--split", "time", "--folds", 2, "-k", 2, "--out", out, "--json", "--quiet"]
    done = run_program("recommend-test", path, *arguments)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["split"] == "time"
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["fold"] for row in rows] == ["period 1", "period 2"]
    assert sum(int(row["n_test"]) for row in rows) == round(0.2 * len(users))
    assert ("RMSE" in rows[0]) == rated
    if not rated:  # times are no ratings
        assert "clicks in long form" in saved(path)[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user,item,rating\na,x,3\nb,y,good\n", "line 3, column 'rating': expected a rating, a"),
        ("user,item,rating\na,x,3\nb,y,\n", "line 3, column 'rating': expected a rating, a"),
        ("user,item,rating\na,x,3\nb,y,1e999\n", "line 3, column 'rating': expected a rating, a"),
        ("user,item\na,x\nb,\n", "line 3, column 'item': expected a name, found nothing"),
        ("user,item\na,x\nb,y,z\nc,x\n", "line 3: has 3 cells, expected 2"),
        ("user,item\n", "has a header and no rows"),
        ("user,item,count\na,x,3\nb,y,-1\n", "must be above 0"),
    ],
    ids=str,
)
def test_bad_lines(text, message, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    kind = ["--kind", "implicit"] if "count" in text else []
    done = run_program("recommend", path, "-k", 1, *kind, "--quiet")
    assert done.returncode == 1
    assert done.stdout == ""
    assert message in " ".join(done.stderr.split())


def test_bad_times(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("user,item,time\na,x,3\nb,y,yesterday\n")
    done = run_program("recommend-test", path, "--split", "time", "--quiet")
    assert done.returncode == 1
    assert "line 3, column 'time': expected a time, a number or a date" in done.stderr
    path.write_text("name,x,y,z\na,1,2,3\nb,4,1,2\n")
    done = run_program("recommend-test", path, "--split", "time", "--quiet")
    assert done.returncode == 1
    assert "--split time needs one line per rating" in " ".join(done.stderr.split())


def test_an_id_twice_in_a_table(tmp_path):
    users, items, ratings = drawn()
    path = written(tmp_path / "ratings.csv", "user,item,rating", users, items, ratings)
    table = tmp_path / "films.csv"
    table.write_text("film,title\nfilm 1,One\nfilm 2,Two\nfilm 1,Three\n")
    done = run_program("recommend", path, "-k", 2, "--items", table, "--quiet")
    assert done.returncode == 1
    assert "column 'film' has the id 'film 1' more than once" in " ".join(done.stderr.split())
