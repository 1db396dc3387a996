"""``rprnmf recommend`` where the ratings are in parts, and Dask does the work."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from tests.cli.running import run_program

pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def parts(data, tmp_path_factory):
    """The ratings of ratings.csv in three Parquet files, and a matrix in shards."""
    folder = tmp_path_factory.mktemp("parts")
    table = pd.read_csv(data / "ratings.csv")
    (folder / "long").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(table)), 3)):
        table.iloc[rows].to_parquet(folder / "long" / f"part-{number}.parquet", index=False)
    X = sp.random(30, 12, 0.4, random_state=0, format="csr")
    X.data = np.ceil(5 * X.data)
    (folder / "shards").mkdir()
    sp.save_npz(folder / "whole.npz", X)
    for number in range(3):
        sp.save_npz(folder / "shards" / f"{number}.npz", X[10 * number : 10 * number + 10])
    return folder


def scores(found, what="recommendations"):
    return {(row["user"], row["item"]): row["score"] for row in found[what]}


def check_same(one, two):
    assert scores(one).keys() == scores(two).keys()
    assert all(abs(scores(two)[pair] - score) < 1e-2 for pair, score in scores(one).items())


def test_parquet_on_workers_of_this_machine(data, call, parts):
    asked = ("--for", "user 3", "-k", 2, "--json", "--quiet")
    _, one, _ = call("recommend", data / "ratings.csv", *asked)
    done = run_program(
        *("recommend", *sorted((parts / "long").iterdir()), *asked, "--scheduler", "local")
    )
    assert done.returncode == 0, done.stderr
    check_same(one, json.loads(done.stdout))


def test_shards_and_a_pattern(call, parts):
    asked = ("--for", "7", "-k", 2, "--kind", "explicit", "--json", "--quiet")
    _, one, _ = call("recommend", parts / "whole.npz", *asked)
    for given in ("shards/*.npz", "shards"):
        code, two, error = call("recommend", parts / given, *asked, "--scheduler", "threads")
        assert code == 0, error
        check_same(one, two)


def test_a_file_that_is_read_at_once(data, call, tmp_path):
    table = tmp_path / "films.csv"
    table.write_text("film,genre\nAlien,space\nTitanic,love\nUnrated,space\n")
    asked = ("--for", "user 3", "-k", 2, "--items", table, "--json", "--quiet")
    found = [
        call("recommend", data / "ratings.csv", *asked, *more)[1]
        for more in ((), ("--scheduler", "threads"))
    ]
    check_same(*found)
    assert ("user 3", "Unrated") in scores(found[1])


def test_what_is_refused(call, parts, tmp_path):
    folder = parts / "long"
    code, _, error = call("recommend", folder, "--save", tmp_path / "m.rprnmf", "--quiet")
    assert code == 2
    assert "--save needs all ratings in one place" in error
    code, _, error = call("recommend", folder, "--rating", "taste", "--quiet")
    assert code == 1
    assert "has no column 'taste'; found user, film, rating" in error
