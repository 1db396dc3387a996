"""Lists of items on the command line."""

from __future__ import annotations

import csv
import json

import pytest

import rprnmf
from rprnmf.recommend import Recommender
from tests.cli.conftest import FILMS, KIND
from tests.cli.running import run_program


def test_lists_hold_what_a_user_has_not_rated(data, call):
    code, found, _ = call("recommend", data / "ratings.csv", "-k", 2, "--json", "--quiet")
    assert code == 0
    assert found["kind"] == "explicit"
    assert found["order"] == "interest"
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
    assert "Lists go by what people turn to and by predicted rating, together" in text
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


@pytest.fixture(scope="module")
def kept(data, tmp_path_factory):
    """A recommender in a file, saved by the program, and a table of titles."""
    folder = tmp_path_factory.mktemp("kept")
    path = folder / "recommender.rprnmf"
    (folder / "films.csv").write_text(
        "film,title\n" + "".join(f"{film},{film} (1999)\n" for film in FILMS)
    )
    done = run_program("recommend", data / "ratings.csv", "-k", 3, "--save", path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"wrote {path}: a recommender of 30 users and 6 items"
    return path


def test_a_saved_model_answers_as_the_ratings_do(data, kept, call):
    arguments = ["--for", "user 3", "--for", "user 5", "--why", "--json", "--quiet"]
    first = call("recommend", data / "ratings.csv", "-k", 3, *arguments)[1]
    done = run_program("recommend", kept, *arguments)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["recommendations"] == first["recommendations"]
    assert found["why"] == first["why"]
    everyone = call("recommend", kept, "--json", "--quiet")[1]
    users = {row["user"] for row in everyone["recommendations"]}
    assert len(users) > 20


def test_lists_of_someone_new(kept, call, tmp_path):
    rated = tmp_path / "mine.csv"
    rated.write_text("film,seen,rating\nAlien,yes,5\nTitanic,no,1\nSolaris,no,4\n")
    out = tmp_path / "lists.csv"
    films = kept.parent / "films.csv"
    done = run_program("recommend", kept, "--rated", rated, "--items", films, "--out", out, "--why")
    assert done.returncode == 0, done.stderr
    assert "1 of 3 items are not known and left out." in done.stderr
    assert "Alien, rated 5" in done.stdout
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert {row["user"] for row in rows} == {"new user"}
    assert {row["item"] for row in rows} == set(FILMS) - {"Alien", "Titanic"}
    assert all(row["title"] == f"{row['item']} (1999)" for row in rows)
    assert rows[0]["item"] in ("Star Wars", "Star Trek")
    text = call("recommend", kept, "--rated", rated, "--for", "user 3", "--json", "--quiet")[1]
    expected = rprnmf.load(kept).fold_in(["Alien", "Titanic"], [5, 1])
    lists = [row for row in text["recommendations"] if row["user"] == "new user"]
    found = rprnmf.load(kept).recommend(expected)
    assert [(row["item"], row["score"]) for row in lists] == list(found)


def test_someone_new_of_clicks_needs_no_ratings(data, call, tmp_path):
    model, rated = tmp_path / "clicks.rprnmf", tmp_path / "mine.csv"
    arguments = ["--kind", "implicit", "-k", 2, "--save", model, "--quiet", "--json"]
    code, found, _ = call("recommend", data / "ratings.csv", *arguments)
    assert code == 0
    assert found["kind"] == "implicit"
    assert found["saved"] == str(model)
    assert "recommendations" not in found
    rated.write_text("film\nAlien\n")
    found = call("recommend", model, "--rated", rated, "--json", "--quiet")[1]
    assert len(found["recommendations"]) == 5


def test_similar_items(kept, call, tmp_path):
    out = tmp_path / "similar.csv"
    done = run_program("recommend", kept, "--like", "Alien", "--like", "Titanic", "--out", out)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["like"] for row in rows] == ["Alien"] * 5 + ["Titanic"] * 5
    found = call("recommend", kept, "--like", "Alien", "-n", 2, "--json", "--quiet")[1]
    expected = list(rprnmf.load(kept).similar_items("Alien", 2))
    assert [(row["item"], row["cosine"]) for row in found["similar"]] == expected
    assert found["similar"][0]["item"] in ("Star Wars", "Star Trek")


def test_ids_that_are_numbers(call, tmp_path):
    """As a person makes them in Python."""
    users, items = [k % 9 for k in range(40)], [k % 8 for k in range(40)]
    model = Recommender(2, random_state=0).fit(users, items, [1.0 + k % 5 for k in range(40)])
    path, rated = tmp_path / "numbers.rprnmf", tmp_path / "mine.csv"
    rprnmf.save(model, path)
    found = call("recommend", path, "--for", 3, "--json", "--quiet")[1]
    assert [row["item"] for row in found["recommendations"]] == model.recommend(3).items
    rated.write_text("item,stars\n1,5\n2,3\n")
    found = call("recommend", path, "--rated", rated, "--json", "--quiet")[1]
    assert {row["item"] for row in found["recommendations"]} == {0, *range(3, 8)}


def test_info_of_a_recommender(kept, call, tmp_path):
    code, found, _ = call("info", kept, "--json")
    assert code == 0
    assert found["class"] == "Recommender"
    assert (found["users"], found["items"], found["kind"]) == (30, 6, "explicit")
    assert found["scale"] == [1.0, 5.0]
    done = run_program("info", kept)
    assert "explicit, 1 to 5" in done.stdout
    assert "30 users, 6 items, 1" in done.stdout
    rprnmf.save(Recommender(), tmp_path / "new.rprnmf")
    assert call("info", tmp_path / "new.rprnmf", "--json")[1]["fitted"] is False


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--for", "nobody"], 1, "has no user 'nobody'; found 'user 0', ..."),
        (["--like", "Solaris"], 1, "has no item 'Solaris'; found "),
        (["--like", "Alien", "--for", "user 3"], 2, "--like lists items: leave out --for"),
        (["-k", 3], 2, "-k is for a fit, but"),
        (["--kind", "explicit"], 2, "--kind is for a fit, but"),
        (["--users", "films.csv"], 2, "--users is for a fit, but"),
        (["--rated", "nothing.csv"], 1, "nothing.csv: there is no such file"),
        (["--rated", "bad.csv"], 1, "column 'rating' must have numbers"),
        (["--rated", "strange.csv"], 1, "must have a column with names that the ratings use"),
        (["--rated", "names.csv"], 1, "must have a column with ratings beside 'film'"),
        (["--rated", "high.csv"], 1, "ratings[0] = 9 is out of the scale 1 to 5"),
        (["--save", "no/where.rprnmf"], 1, "does not exist"),
        (["--save", "recommender.rprnmf"], 1, "is an input"),
    ],
    ids=str,
)
def test_bad_input_of_a_saved_model(arguments, code, message, kept):
    folder = kept.parent
    (folder / "bad.csv").write_text("film,rating\nAlien,good\n")
    (folder / "strange.csv").write_text("film,rating\nSolaris,4\n")
    (folder / "names.csv").write_text("film\nAlien\n")
    (folder / "high.csv").write_text("film,rating\nAlien,9\n")
    before = kept.read_bytes()
    done = run_program("recommend", kept, *arguments, "--quiet", cwd=folder)
    assert done.returncode == code
    assert done.stdout == ""
    assert message in " ".join(done.stderr.split())
    assert kept.read_bytes() == before


def test_other_files_are_no_recommenders(data, kept, call, tmp_path):
    code, _, error = call("recommend", data / "model.rprnmf", "--quiet")
    assert code == 1
    assert "holds RPRNMF; a file of ratings is needed" in error
    rprnmf.save(Recommender(), tmp_path / "new.rprnmf")
    code, _, error = call("recommend", tmp_path / "new.rprnmf", "--quiet")
    assert code == 1
    assert "holds a recommender that was not fitted" in error
    code, _, error = call("top", kept)
    assert code == 1
    assert "holds Recommender; a model is needed" in error
    damaged = tmp_path / "damaged.rprnmf"
    damaged.write_bytes(kept.read_bytes()[:-100])
    done = run_program("recommend", damaged)
    assert done.returncode == 1
    assert "cut short" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_how_good_lists_are(data, call, tmp_path):
    out = tmp_path / "folds.csv"
    done = run_program(
        *("recommend-test", data / "ratings.csv", "-k", "1,2", "--folds", 3, "--count", 3),
        *("--out", out, "--quiet"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    table = [line for line in done.stdout.splitlines() if not line.startswith("wrote ")]
    assert max(map(len, table)) <= 80
    assert "NDCG@3" in done.stdout
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [(row["model"], row["fold"]) for row in rows] == [
        (f"k={K}", f"fold {k}") for k in (1, 2, 3) for K in (1, 2)
    ]
    error = {K: [float(row["RMSE"]) for row in rows if row["model"] == K] for K in ("k=1", "k=2")}
    assert sum(error["k=2"]) < sum(error["k=1"])  # there are two kinds of films
    assert sum(int(row["n_test"]) for row in rows) == 2 * (
        len((data / "ratings.csv").read_text().splitlines()) - 1
    )


def test_how_good_cold_items_are(data, call, tmp_path):
    table = tmp_path / "films.csv"
    lines = [f"{film},{kind}\n" for film, kind in zip(FILMS, KIND, strict=True)]
    table.write_text("film,genre\n" + "".join(lines))
    code, found, _ = call(
        *("recommend-test", data / "ratings.csv", "--split", "cold-items", "--items", table),
        *("--item-triplets", data / "triplets.csv", "-k", 2, "--folds", 3, "--json", "--quiet"),
    )
    assert code == 0
    assert found["split"] == "cold-items"
    assert {row["folds"] for row in found["means"]} <= {"0 ratings", "1 rating", "2-5 ratings"}
    assert all(row["RMSE"] < 3 for row in found["means"])


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-k", "0"], 2, "a model needs at least one component"),
        (["-k", "two"], 2, "expected whole numbers with commas between"),
        (["--split", "never"], 2, "'never' is not one of"),
        (
            ["--split", "time"],
            1,
            "ratings.csv: --split time needs a column of times, called timestamp",
        ),
        (["--folds", "1"], 2, "1 is not in the range"),
        (["--items", "nothing.csv"], 1, "nothing.csv: there is no such file"),
    ],
    ids=str,
)
def test_bad_input_of_a_test(arguments, code, message, data):
    done = run_program("recommend-test", data / "ratings.csv", *arguments, "--quiet", cwd=data)
    assert done.returncode == code
    assert done.stdout == ""
    assert message in " ".join(done.stderr.split())


def test_the_order_of_lists(data, call):
    arguments = ["-k", 3, "--json", "--quiet", "--why"]
    lists = {
        order: call("recommend", data / "ratings.csv", "--order", order, *arguments)[1]
        for order in ("interest", "rating")
    }
    assert "on lists" in lists["interest"]["why"][0]
    assert "on lists" not in lists["rating"]["why"][0]
    found = [lists[order]["recommendations"] for order in ("interest", "rating")]
    items = [{(row["user"], row["item"]): row["score"] for row in rows} for rows in found]
    assert items[0] == pytest.approx(items[1], rel=1e-5)


def test_the_order_of_lists_is_said(data, call):
    wanted = {"--order": ("rating", "predicted rating, less some"), "--kind": ("implicit", "score")}
    for option, (value, said) in wanted.items():
        code, text, _ = call(
            *("recommend", data / "ratings.csv", "-k", 2, "--for", "user 3", "--quiet"),
            *(option, value),
        )
        assert code == 0
        assert f"Lists go by {said}" in text
