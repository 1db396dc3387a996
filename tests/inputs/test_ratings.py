"""Ratings in long form: found by themselves, names kept, the same by both readers."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rprnmf.inputs import InputError, Options, ratings, read_matrix
from rprnmf.inputs import blocks as blocks_module

X = [[5.0, 0.0, 3.5], [0.0, 1.0, 0.0]]
LINES = [("a", "x", "5"), ("b", "y", "1"), ("a", "z", "3.5")]
NUMBERS = [("1", "10", "5"), ("2", "20", "1"), ("1", "30", "3.5")]
TIMED = [(*line, "978300760") for line in NUMBERS]


def text(lines, delimiter=",", header=""):
    return header + "".join(delimiter.join(line) + "\n" for line in lines)


QUOTED = [(f'"{u}"', f'"{i}"', r) for u, i, r in LINES]
WIDE = [(u, "?", i, r, "x") for u, i, r in LINES]
FOUND = {
    "header": text(NUMBERS, header="userId,movieId,rating\n"),
    "timestamps": text(TIMED, header="userId,movieId,rating,timestamp\n"),
    "no header": text(TIMED),
    "tab": text(TIMED, "\t"),
    "colons": text(TIMED, "::"),
    "texts": text(LINES),
    "quoted": text(
        [(f'"{u}"', f'"{i}"', r) for u, i, r in LINES], header='"user","item","rating"\n'
    ),
    "other order": text([(r, i, u) for u, i, r in LINES], header="rating,product_id,user_id\n"),
    "more columns": text(
        [(u, "?", i, r, "x") for u, i, r in LINES], header="user,a,item,stars,b\n"
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_all_of_these_are_the_same_ratings(name, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(FOUND[name])
    found = read_matrix(path)
    assert found.X.toarray().tolist() == X
    assert (found.format, found.missing) == ("ratings", "zero")
    assert isinstance(found.X, sp.csr_array)
    users, items = found.row_names.tolist(), found.column_names.tolist()
    assert (users, items) in ((["a", "b"], ["x", "y", "z"]), ([1, 2], [10, 20, 30]))
    assert found.note == "data.csv: ratings in long form, 2 users x 3 items, 3 entries."


def test_repeated_ratings_become_their_mean(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("user,item,rating\n1,1,4\n1,2,1\n1,1,1\n1,1,1\n")
    found = read_matrix(path)
    assert found.X.toarray().tolist() == [[2, 1]]
    assert "2 repeated ratings averaged" in found.note


def test_a_rating_of_zero_is_stored(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("user,item,rating\n1,1,0\n2,2,1\n")
    assert read_matrix(path).X.nnz == 2


def test_which_columns_can_be_said(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("5,1,10\n1,2,20\n")
    found = read_matrix(path, options=Options(rating=0, user=1, item=2))
    assert found.X.toarray().tolist() == [[5, 0], [0, 1]]
    path.write_text("who,what,how\n1,10,2\n2,20,3\n")
    assert read_matrix(path).format == "csv"
    assert read_matrix(path, options=Options(user="who")).format == "ratings"


def test_three_columns_of_numbers_need_not_be_ratings(tmp_path):
    path = tmp_path / "data.csv"
    np.savetxt(path, np.random.default_rng(0).random((20, 3)), delimiter=",")
    assert read_matrix(path).format == "csv"
    path.write_text("".join(f"{k},{k % 3},{k % 2}\n" for k in range(30)))
    assert read_matrix(path).format == "ratings"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("3,30,-1", "line 4, column 'rating': expected a rating.*found '-1'"),
        ("3,30,good", "line 4, column 'rating': expected a rating.*found 'good'"),
        ("3,30,", "line 4, column 'rating': expected a rating.*found ''"),
        ("3,30", "line 4: has 2 cells, expected 3"),
        (",30,1", "line 4, column 'user': expected a name, found nothing"),
    ],
)
def test_a_bad_line_is_named(line, message, tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(f"user,item,rating\n1,10,5\n2,20,1\n{line}\n1,20,2\n")
    with pytest.raises(InputError, match=message):
        read_matrix(path)


def draw(rng, n, texts):
    users, items = rng.integers(0, 50, n), rng.integers(0, 2**40, 30)[rng.integers(0, 30, n)]
    values = rng.integers(0, 11, n) / 2
    names = [f"é {u}" if texts else str(u) for u in users]
    return [f"{u},{i},{v}" for u, i, v in zip(names, items, values, strict=True)]


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_threads_and_the_general_reader_agree(texts, n_jobs, tmp_path, monkeypatch):
    """Small blocks, so that names and lines meet over many of them."""
    lines = draw(np.random.default_rng(0), 5000, texts)
    path = tmp_path / "ratings.csv.gz"
    path.write_bytes(gzip.compress("\n".join(["user,item,rating", *lines]).encode()))
    found = [read_matrix(path, n_jobs=n_jobs)]
    monkeypatch.setattr(blocks_module, "BLOCK", 700)
    found.append(read_matrix(path, n_jobs=n_jobs))
    monkeypatch.setattr(ratings, "_fast", lambda *_: None)
    found.append(read_matrix(path, n_jobs=n_jobs))
    for other in found[1:]:
        assert (found[0].X != other.X).nnz == 0
        assert found[0].row_names.tolist() == other.row_names.tolist()
        assert found[0].column_names.tolist() == other.column_names.tolist()
    means: dict = {}
    for line in lines:
        user, item, value = line.rsplit(",", 2)
        means.setdefault((user, int(item)), []).append(float(value))
    X, users = found[0].X, [str(name) for name in found[0].row_names]
    items = found[0].column_names.tolist()
    assert X.nnz == len(means)
    for (user, item), values in means.items():
        assert X[users.index(user), items.index(item)] == pytest.approx(np.mean(values))


def test_a_text_after_many_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks_module, "BLOCK", 10_000)
    path = tmp_path / "ratings.csv"
    path.write_text(text([(str(k), str(k % 7), "1") for k in range(20_000)] + [("007", "1", "2")]))
    found = read_matrix(path)
    assert found.row_names[-1] == "007"
    assert found.X.shape == (20_001, 7)


def test_names_that_all_meet_in_one_slot_do_not_hang(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(text([(str(k << 40), str(k), "1") for k in range(1, 20_000)]))
    found = read_matrix(path, format="ratings")
    assert found.X.shape == (19_999, 19_999)
    assert found.row_names[:2].tolist() == [1 << 40, 2 << 40]


NAME = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0#"), min_size=1).filter(
    lambda name: name.strip() == name
)


@given(st.lists(st.tuples(NAME, NAME, st.floats(0, 1e300)), min_size=1, max_size=30))
def test_any_names_and_numbers_come_back(tmp_path_factory, lines):
    import csv

    path = tmp_path_factory.mktemp("any") / "ratings.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("user", "item", "rating"), *lines])
    found = read_matrix(path, format="ratings", options=Options(delimiter=",", header=True))
    expected: dict = {}
    for user, item, value in lines:
        expected.setdefault((user, item), []).append(value)
    users, items = (
        [str(name) for name in names] for names in (found.row_names, found.column_names)
    )
    assert found.X.nnz == len(expected)
    for (user, item), values in expected.items():
        got = found.X[users.index(user), items.index(item)]
        assert got == values[0] if len(values) == 1 else got == pytest.approx(np.mean(values))


def test_the_bar_ends_at_the_size_of_the_file(tmp_path, capsys):
    path = tmp_path / "ratings.csv"
    path.write_text(FOUND["texts"])
    read_matrix(path, verbose=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("reading ratings.csv")
    assert "100%" in lines[-1]
    read_matrix(path)
    assert capsys.readouterr().err == ""
