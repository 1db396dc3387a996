"""``rprnmf fit``: from files to a model, and what is said when that cannot be."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import rprnmf
from tests.cli.conftest import FILMS
from tests.cli.running import run_program


def test_as_a_process(data, tmp_path):
    out = tmp_path / "model.rprnmf"
    arguments = ["fit", "ratings.csv", "--column-triplets", "triplets.csv", "-k", 3, "--out", out]
    done = run_program(*arguments, "--json", cwd=data)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert (found["rows"], found["columns"], found["components"]) == (30, 6, 3)
    assert found["missing"] == "zero"
    assert found["column_satisfied_rate"] == pytest.approx(5 / 6)
    assert [row["q"] for row in found["unmet"]] == ["Alien"]
    assert "ratings in long form, 30 users x 6 items" in done.stderr
    model = rprnmf.load(out)
    assert set(model.column_names_) == set(FILMS)
    assert model.verbose == 0


def test_for_people(data, call):
    code, out, err = call("fit", data / "table.csv", "-k", 2, "--max-iter", 300)
    assert code == 0
    assert "30 x 6" in out
    assert "RPRNMF, 2 components" in out
    assert "error (RMSE)" in out
    assert "comparisons" not in out
    assert "not kept" in err


def test_the_same_seed_gives_the_same_model(data, call, tmp_path):
    for number, seed in enumerate((5, 5, 6)):
        path = tmp_path / f"{number}.rprnmf"
        assert call("fit", data / "ratings.csv", "-k", 2, "--seed", seed, "--out", path)[0] == 0
    one, two, other = (rprnmf.load(tmp_path / f"{number}.rprnmf") for number in range(3))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert not np.array_equal(one.embedding_, other.embedding_)


def test_standard_input(data, call, monkeypatch):
    text = (data / "table.csv").read_text()
    done = run_program("fit", "-", "-k", 2, "--json", "--quiet", stdin=text)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["rows"] == 30
    code, _, err = call("fit", "-", "--row-triplets", "-")
    assert code == 2
    assert "only one input can be standard input" in err


SETTINGS = {
    "nmf": ["--estimator", "nmf", "--loss", "kullback-leibler"],
    "mu": ["--estimator", "nmf", "--loss", "1.5", "--solver", "mu"],
    "gnmf": ["--estimator", "gnmf", "--row-graph", "knn", "--neighbors", "3"],
    "rprnmf": ["--row-graph", "cosine", "--graph-strength", "1", "--column-strength", "0.1"],
    "norms": ["--alpha-w", "0.1", "--alpha-h", "same", "--l1-ratio", "0.5", "--init", "random"],
    "paper": ["--solver", "paper", "--max-iter", "20"],
    "prior": ["--row-prior", "data", "--column-prior", "none"],
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_reach_the_estimator(name, data, call, tmp_path):
    out = tmp_path / "model.rprnmf"
    options = [*SETTINGS[name], "-k", 2, "--out", out, "--quiet"]
    code, _, err = call("fit", data / "table.csv", *options)
    assert (code, err) == (0, "")
    model = rprnmf.load(out)
    expected = {
        "nmf": {"beta_loss": "kullback-leibler"},
        "mu": {"beta_loss": 1.5, "solver": "mu"},
        "gnmf": {"row_graph": "knn", "n_neighbors": 3},
        "rprnmf": {"row_graph": "cosine", "graph_strength": 1.0, "column_strength": 0.1},
        "norms": {"alpha_W": 0.1, "alpha_H": "same", "l1_ratio": 0.5, "init": "random"},
        "paper": {"solver": "paper", "max_iter": 20},
        "prior": {"row_prior": "data", "column_prior": None},
    }[name]
    assert expected.items() <= model.get_params().items()


def test_what_does_not_go_together_is_said(data, call):
    table, known = data / "table.csv", data / "triplets.csv"
    code, _, err = call("fit", table, "--estimator", "nmf", "--column-triplets", known)
    assert code == 2
    assert "only rprnmf takes them" in err
    code, _, err = call("fit", table, "--estimator", "nmf", "--row-graph", "knn")
    assert code == 2
    assert "--row-graph does not go with --estimator nmf" in err
    code, _, err = call("fit", table, "--loss", "cubic")
    assert code == 2
    assert "neither a number nor one of frobenius" in err


def test_side_files(data, call, tmp_path):
    labels, graph, table = (tmp_path / f"{name}.csv" for name in ("labels", "graph", "people"))
    labels.write_text("name,label\n" + "".join(f"user {k},{k % 2}\n" for k in range(10)))
    out = tmp_path / "model.rprnmf"
    data_and = ["fit", data / "table.csv", "-k", 2, "--quiet", "--out", out]
    assert call(*data_and, "--row-labels", labels)[0] == 0
    W = rprnmf.load(out).embedding_
    np.testing.assert_array_equal(W[0], W[2])
    assert not np.array_equal(W[0], W[1])
    graph.write_text("a,b,weight\nuser 3,user 1,1\nuser 7,user 2,0.5\n")
    assert call(*data_and, "--estimator", "gnmf", "--row-graph", graph)[0] == 0
    weights = rprnmf.load(out).row_graph
    assert (weights[1, 3], weights[3, 1], weights[2, 7], weights.nnz) == (1.0, 1.0, 0.5, 4)
    people = [f"{k % 50 + 20},student|poor,user {k},text {k}\n" for k in reversed(range(30))]
    table.write_text("age,tags,who,letter\n" + "".join(people))
    code, out_and, _ = call(*data_and, "--row-prior", table, "--row-prior", "data", "--json")
    assert code == 0
    assert f"{table}: the column 'letter' differs in every row" in " ".join(out_and["notes"])
    frame = rprnmf.load(out).row_prior[0]
    assert list(frame.columns) == ["age", "tags"]
    assert frame["age"].tolist()[:3] == [20.0, 21.0, 22.0]
    table.write_text("age\n1\n2\n")
    code, _, err = call(*data_and, "--row-prior", table)
    assert code == 1
    assert "a row for each of the 30 rows of X" in err
    labels.write_text("name,label\nnobody,1\n")
    code, _, err = call(*data_and, "--row-labels", labels)
    assert code == 1
    assert "'nobody' is not one of the 30 names of X" in err
    graph.write_text("a,b,weight\nuser 3,nobody,1\n")
    code, _, err = call(*data_and, "--row-graph", graph)
    assert code == 1
    assert "'nobody' is not one of the 30 row names of X" in err


BAD = {
    "a missing file": ("nowhere.csv", [], "nowhere.csv: there is no such file"),
    "text where numbers are": ("words.csv", [], "words.csv"),
    "negative entries": ("negative.csv", [], "at least 0"),
    "too many components": ("table.csv", ["-k", "7"], "-k 7 is too many components"),
    "an unknown name": ("table.csv", ["--column-triplets", "unknown.csv"], "'Jaws'"),
    "no column q": ("table.csv", ["--column-triplets", "table.csv"], "the column 'q' is missing"),
    "positions too large": ("numbers.csv", ["--row-triplets", "far.csv"], "99"),
    "names without names": ("numbers.csv", ["--row-triplets", "triplets.csv"], "line 2"),
    "no folder": ("table.csv", ["--out", "no/where.rprnmf"], "does not exist"),
    "an input as output": ("table.csv", ["--out", "table.csv"], "is an input"),
    "a wrong format": ("table.csv", ["--format", "npy"], "table.csv"),
    "no such column": ("table.csv", ["--index", "nothing"], "nothing"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(case, data, call, tmp_path, monkeypatch):
    for path in data.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.csv").write_text("a,b\n1,2\n3,x\n4,5\n")
    (tmp_path / "negative.csv").write_text("a,b\n1,2\n3,-4\n")
    (tmp_path / "unknown.csv").write_text("q,r,s\nAlien,Titanic,Jaws\n")
    (tmp_path / "far.csv").write_text("q,r,s\n0,1,99\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    x, options, expected = BAD[case]
    code, out, err = call("fit", x, *options, "--quiet")
    assert (code, out) == (1, "")
    assert err.startswith("rprnmf fit: ")
    assert expected in err
    assert err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_bad_input_as_a_process(data):
    done = run_program("fit", "nothing.csv", cwd=data)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "rprnmf fit: nothing.csv: there is no such file\n"
    done = run_program("fit", "nothing.csv", "--debug", cwd=data)
    assert (done.returncode, "Traceback" in done.stderr) == (1, True)


def test_positions_though_there_are_names(data, call, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("q,r,s\n0,1,3\n")
    code, _, err = call("fit", data / "table.csv", "--column-triplets", path, "-k", 2)
    assert code == 1
    assert "--positions" in err
    code, out, _ = call(
        *("fit", data / "table.csv", "--column-triplets", path, "--positions", "-k", 2, "--json")
    )
    assert (code, out["column_triplets"], out["column_satisfied_rate"]) == (0, 1, 1.0)


def test_a_checkpoint_gives_the_same_model_again(data, call, tmp_path):
    kept, out = tmp_path / "run.ckpt", tmp_path / "model.rprnmf"
    arguments = ["fit", data / "ratings.csv", "-k", 2, "--checkpoint", kept, "--out", out]
    assert call(*arguments)[0] == 0
    W = rprnmf.load(out).embedding_
    assert kept.exists()
    assert call(*arguments)[0] == 0
    np.testing.assert_array_equal(rprnmf.load(out).embedding_, W)
    code, _, err = call(*arguments[:3], 3, *arguments[4:])
    assert code == 1
    assert "n_components" in err


STOPS = """
import os, signal, sys
from rprnmf.cli import main
from rprnmf.solvers import loop
usual, calls = loop.Step.at, [0]
def at(*arguments, **options):
    calls[0] += 1
    if calls[0] == 30:
        os.kill(os.getpid(), signal.SIGINT)
    return usual(*arguments, **options)
loop.Step.at = at
sys.exit(main(sys.argv[1:]))
"""


def test_an_interrupt_keeps_what_there_is(data, tmp_path):
    kept, out = tmp_path / "run.ckpt", tmp_path / "model.rprnmf"
    arguments = ["fit", data / "table.csv", "-k", "2", "--tol", "0", "--max-iter", "200"]
    arguments += ["--out", out, "--checkpoint", kept]
    done = subprocess.run(
        [sys.executable, "-c", STOPS, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130, done.stderr
    assert f"The same command goes on from {kept}" in done.stderr
    assert "Traceback" not in done.stderr
    assert f"{out} has the factors of" in done.stderr
    assert 0 < rprnmf.load(out).n_iter_ < 200


def test_comparisons_of_what_is_not_there_can_be_left_out(data, call, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("q,r,s\nAlien,Star Wars,Titanic\nAlien,Jaws,Titanic\n")
    arguments = ["fit", data / "table.csv", "--column-triplets", path, "-k", 2, "--json"]
    code, _, err = call(*arguments)
    assert code == 1
    assert "line 3" in err
    assert "--drop-unknown" in err
    code, found, err = call(*arguments, "--drop-unknown")
    assert (code, found["column_triplets"]) == (0, 1)
    assert "1 of 2 comparisons name what X lacks" in err
    path.write_text("q,r,s\n0,1,2\n0,1,99\n")
    code, found, _ = call(*arguments[:-1], "--positions", "--drop-unknown", "--json")
    assert (code, found["column_triplets"]) == (0, 1)
