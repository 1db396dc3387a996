"""Commands that take a model: info, top, transform, evaluate, cluster, triplets ask."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rprnmf
from rprnmf.inputs import read_matrix
from tests.cli.conftest import FILMS, write_documents
from tests.cli.running import run_program

COMMANDS = {
    "info": ["info", "MODEL"],
    "top": ["top", "MODEL"],
    "transform": ["transform", "MODEL", "--out", "OUT.csv"],
    "evaluate": ["evaluate", "MODEL"],
    "cluster": ["cluster", "MODEL"],
    "ask": ["triplets", "ask", "MODEL", "--out", "OUT.csv"],
    "plot": ["plot", "history", "MODEL", "--out", "OUT.png"],
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("bad", ["missing", "table.csv", "cut", "triplets"])
def test_what_is_no_model_is_refused(name, bad, data, call, tmp_path):
    path = data / bad
    if bad == "cut":
        path = tmp_path / "cut.rprnmf"
        path.write_bytes((data / "model.rprnmf").read_bytes()[:-100])
    if bad == "triplets":
        path = tmp_path / "triplets.rprnmf"
        rprnmf.save(rprnmf.Triplets([[0, 1, 2]]), path)
    words = [str(path) if word == "MODEL" else word for word in COMMANDS[name]]
    words = [str(tmp_path / word) if word.startswith("OUT") else word for word in words]
    code, out, err = call(*words)
    if (name, bad) == ("info", "triplets"):
        assert code == 0
        assert "comparisons" in out
        return
    assert (code, out) == (1, "")
    assert str(path) in err
    assert err.count("\n") == 1
    assert not list(tmp_path.glob("OUT*"))


def test_a_model_without_a_fit(tmp_path, call):
    path = tmp_path / "empty.rprnmf"
    rprnmf.save(rprnmf.NMF(3), path)
    code, out, _ = call("info", path, "--json")
    assert (code, out["fitted"], out["parameters"]) == (0, False, {"n_components": 3})
    code, _, err = call("top", path)
    assert code == 1
    assert "was not fitted" in err


def test_info(data, call):
    code, out, _ = call("info", data / "model.rprnmf", "--json")
    assert code == 0
    assert out["class"] == "RPRNMF"
    assert (out["rows"], out["columns"], out["components"]) == (30, 6, 3)
    assert set(out["column_names"]) == set(FILMS)
    assert out["parameters"] == {"n_components": 3, "missing": "zero", "random_state": 0}
    assert out["column_triplets"] == 6
    assert out["rprnmf"] == rprnmf.__version__
    text = call("info", data / "model.rprnmf")[1]
    assert "83.3 % of 6 comparisons met" in text


def test_info_as_a_process(data, tmp_path):
    done = run_program("info", data / "model.rprnmf", "--json")
    assert (done.returncode, json.loads(done.stdout)["rows"]) == (0, 30)
    done = run_program("info", tmp_path / "nothing.rprnmf")
    assert (done.returncode, done.stdout) == (1, "")


def test_top(data, call):
    code, out, _ = call("top", data / "model.rprnmf", "-n", 2, "--side", "both", "--json")
    assert code == 0
    assert len(out["features"]) == len(out["items"]) == 3
    assert all(len(component) <= 2 for component in out["features"])
    assert {entry["name"] for each in out["features"] for entry in each} <= set(FILMS)
    code, text, _ = call("top", data / "model.rprnmf", "--by", "lift")
    assert code == 0
    assert any(film in text for film in FILMS)
    assert call("top", data / "model.rprnmf", "--by", "magic")[0] == 2


def test_top_as_a_process(data):
    done = run_program("top", data / "model.rprnmf")
    assert done.returncode == 0
    assert "strongest features" in done.stdout
    assert run_program("top", data / "nothing.rprnmf").returncode == 1


def test_transform_places_new_rows(data, call, tmp_path):
    new, out = tmp_path / "new.csv", tmp_path / "W.csv"
    # other order of columns, one film that the model does not know, and one that is lacking
    new.write_text("user,film,rating\nzoe,Titanic,5\nzoe,Alien,1\nyan,Star Wars,4\nyan,Jaws,4\n")
    code, text, err = call("transform", data / "model.rprnmf", new, "--out", out)
    assert (code, text) == (0, f"{out}: 2 rows of 3 components.\n")
    assert "1 column that the model does not know" in err
    found = read_matrix(out)
    assert set(found.row_names) == {"zoe", "yan"}
    model = rprnmf.load(data / "model.rprnmf")
    place = {name: k for k, name in enumerate(model.column_names_)}
    row = np.zeros((1, 6))
    row[0, place["Titanic"]], row[0, place["Alien"]] = 5.0, 1.0
    zoe = found.X[list(found.row_names).index("zoe")]
    np.testing.assert_allclose(zoe, model.transform(row)[0], rtol=1e-12)


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".npz", ".parquet"])
def test_transform_without_data_writes_the_factors(suffix, data, call, tmp_path):
    out = tmp_path / f"F{suffix}"
    model = rprnmf.load(data / "model.rprnmf")
    for side, factor in (("row", model.embedding_), ("column", model.components_.T)):
        code, _, _ = call("transform", data / "model.rprnmf", "--side", side, "--out", out)
        assert code == 0
        np.testing.assert_array_equal(read_matrix(out).X, factor)


def test_transform_refuses_what_it_cannot_place(data, call, tmp_path):
    new, out = tmp_path / "new.csv", tmp_path / "W.csv"
    model = data / "model.rprnmf"
    new.write_text("user,film,rating\nzoe,Jaws,5\nyan,Jaws,1\n")
    code, _, err = call("transform", model, new, "--out", out)
    assert code == 1
    assert "none of the columns" in err
    new.write_text("1,2,3\n4,5,6\n")
    code, _, err = call("transform", model, new, "--out", out)
    assert code == 1
    assert "3 columns, the model was fitted on 6" in err
    code, _, err = call("transform", model, new, "--side", "column", "--out", out)
    assert code == 2
    code, _, err = call("transform", model, new, "--out", tmp_path / "W.txt")
    assert code == 1
    assert "must end in" in err
    assert not out.exists()


def test_transform_with_a_table_that_lacks_a_column(data, call, tmp_path):
    path, new, out = tmp_path / "m.rprnmf", tmp_path / "new.csv", tmp_path / "W.csv"
    assert call("fit", data / "table.csv", "-k", 2, "--out", path)[0] == 0
    films = ",".join(reversed(FILMS[1:]))
    new.write_text(f"name,{films}\nzoe,1,2,3,4,5\n")
    code, _, err = call("transform", path, new, "--out", out)
    assert code == 1
    assert "lack the column 'Star Wars'" in err
    new.write_text(f"name,Star Wars,{films}\nzoe,1,2,,4,5,5\n")
    code, _, err = call("transform", path, new, "--out", out)
    assert code == 1
    assert "empty entries" in err


def test_transform_as_a_process(data, tmp_path):
    out = tmp_path / "W.csv"
    done = run_program("transform", data / "model.rprnmf", data / "ratings.csv", "--out", out)
    assert done.returncode == 0
    assert len(out.read_text().splitlines()) == 31
    done = run_program("transform", data / "model.rprnmf", tmp_path / "none.csv", "--out", out)
    assert done.returncode == 1


def test_evaluate_on_the_data_of_the_fit(data, call):
    code, out, _ = call("evaluate", data / "model.rprnmf", data / "ratings.csv", "--json")
    assert code == 0
    model = rprnmf.load(data / "model.rprnmf")
    matrix = read_matrix(data / "ratings.csv")
    expected = rprnmf.metrics.rmse(matrix.X, model.embedding_, model.components_)
    assert out["rmse"] == pytest.approx(expected)
    assert out["loss"] == pytest.approx(expected**2)
    assert out["entries"] == matrix.X.nnz
    assert out["column_satisfied_rate"] == pytest.approx(5 / 6)
    (left,) = out["unmet"]
    assert [left[key] for key in "qrs"] == ["Alien", "Titanic", "Star Wars"]
    assert left["near"] >= left["far"]


def test_evaluate_on_other_entries_of_the_same_people(data, call, tmp_path):
    test = tmp_path / "test.csv"
    test.write_text("user,film,rating\nuser 3,Alien,4\nuser 1,Titanic,2\nnobody,Alien,3\n")
    code, out, err = call("evaluate", data / "model.rprnmf", test, "--json")
    assert code == 0
    assert "1 row of 3: new to the model" in err
    model = rprnmf.load(data / "model.rprnmf")
    rows, columns = list(model.row_names_), list(model.column_names_)
    made = model.embedding_ @ model.components_
    errors = [4 - made[rows.index("user 3"), columns.index("Alien")]]
    errors.append(2 - made[rows.index("user 1"), columns.index("Titanic")])
    assert out["entries"] == 3
    assert out["rmse"] ** 2 * 3 >= np.sum(np.square(errors)) - 1e-9


def test_evaluate_held_out_answers(data, call, tmp_path):
    held, out = tmp_path / "held.csv", tmp_path / "chances.csv"
    held.write_text("q,r,s\nStar Wars,Alien,Notting Hill\nTitanic,Star Trek,Notting Hill\n")
    arguments = ["evaluate", data / "model.rprnmf", "--held-out", held, "--side", "column"]
    code, found, _ = call(*arguments, "--out", out, "--json")
    assert code == 0
    answers = found["held_out"]["answers"]
    model = rprnmf.load(data / "model.rprnmf")
    chances = model.predict_triplets(rprnmf.Triplets.read(held), "column")
    assert sorted(each["chance"] for each in answers) == pytest.approx(sorted(chances))
    assert found["held_out"]["met"] == model.score_triplets(rprnmf.Triplets.read(held), "column")
    assert out.read_text().splitlines()[0] == "q,r,s,chance,met"
    assert len(out.read_text().splitlines()) == 3
    text = call(*arguments)[1]
    assert "Held-out comparisons" in text
    code, _, err = call("evaluate", data / "model.rprnmf", "--out", out)
    assert code == 2
    assert "--held-out FILE is missing" in err
    held.write_text("q,r,s\nStar Wars,Alien,Jaws\n")
    code, _, err = call(*arguments)
    assert code == 1
    assert "line 2" in err
    assert "'Jaws'" in err


def test_evaluate_other_comparisons(data, call, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("q,r,s\nuser 1,user 2,user 3\nuser 1,user 3,user 2\n")
    code, out, _ = call("evaluate", data / "model.rprnmf", "--row-triplets", path, "--json")
    assert (code, out["row_satisfied_rate"], out["row_triplets"]) == (0, 0.5, 2)


def test_evaluate_as_a_process(data, tmp_path):
    done = run_program("evaluate", "model.rprnmf", "ratings.csv", cwd=data)
    assert done.returncode == 0
    assert "error (RMSE)" in done.stdout
    assert "Unmet comparisons: 1" in done.stdout
    assert run_program("evaluate", data / "model.rprnmf", tmp_path / "x.csv").returncode == 1


def test_cluster(data, call, tmp_path):
    out, labels = tmp_path / "clusters.csv", tmp_path / "labels.csv"
    labels.write_text("film,label\n" + "".join(f"{f},{k // 3}\n" for k, f in enumerate(FILMS)))
    arguments = ["cluster", data / "model.rprnmf", "--side", "column", "-c", 2, "--normalize"]
    code, found, _ = call(*arguments, "--labels", labels, "--out", out, "--json")
    assert code == 0
    assert sum(found["sizes"]) == 6
    assert found["labelled"] == 6
    assert found["accuracy"] >= 5 / 6
    assert 0 <= found["nmi"] <= 1
    rows = dict(line.split(",") for line in out.read_text().splitlines())
    assert rows.pop("name") == "cluster"
    assert set(rows) == set(FILMS)
    text = call(*arguments, "--labels", labels)[1]
    assert "most common label" in text
    assert "ACC" in text
    code, _, err = call(*arguments[:-3], "-c", 7)
    assert code == 1
    assert "more than there are columns, 6" in err
    labels.write_text("film,label\nJaws,1\n")
    assert call(*arguments, "--labels", labels)[0] == 1


def test_cluster_as_a_process(data, tmp_path):
    out = tmp_path / "clusters.csv"
    done = run_program("cluster", data / "model.rprnmf", "--clusters", 4, "--out", out)
    assert done.returncode == 0
    assert len(out.read_text().splitlines()) == 31
    done = run_program("cluster", data / "model.rprnmf", "--out", tmp_path / "no" / "c.csv")
    assert (done.returncode, done.stdout) == (1, "")


def test_ask_and_answer(data, call, tmp_path):
    out, made = tmp_path / "questions.csv", tmp_path / "answers.csv"
    arguments = ["triplets", "ask", data / "model.rprnmf", "--side", "column", "-n", 4]
    assert call(*arguments, "--out", out)[0] == 0
    rows = [line.split(",") for line in out.read_text().splitlines()]
    assert rows[0] == ["q", "r", "s", "answer"]
    assert len(rows) == 5
    known = {tuple(row) for row in rprnmf.Triplets.read(data / "triplets.csv").items.tolist()}
    asked = {(q, *order) for q, r, s, _ in rows[1:] for order in ((r, s), (s, r))}
    assert not known & asked
    code, _, err = call(*arguments, "--out", out)
    assert code == 1
    assert "may hold answers; --force" in err
    out.write_text(
        "".join(
            f"{','.join(row[:3])},{end}\n"
            for row, end in zip(rows, ["answer", *"rs r"], strict=True)
        )
    )
    assert call("triplets", "make", "answers", out, "--out", made)[0] == 0
    assert rprnmf.Triplets.read(made).n_triplets == 3
    again = tmp_path / "again.csv"
    assert call(*arguments, "--asked", made, "--out", again)[0] == 0
    first = {tuple(row) for row in rprnmf.Triplets.read(made).items.tolist()}
    second = [tuple(line.split(",")[:3]) for line in again.read_text().splitlines()[1:]]
    assert not first & {(q, *order) for q, r, s in second for order in ((r, s), (s, r))}
    assert call(*arguments, "--out", out, "--force")[0] == 0


def test_ask_as_a_process(data, tmp_path):
    out = tmp_path / "questions.csv"
    done = run_program("triplets", "ask", data / "model.rprnmf", "--out", out, "--json")
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["questions"]) == 20
    assert run_program("triplets", "ask", data / "model.rprnmf", "--out", out).returncode == 1


def test_new_documents_are_placed_by_the_words_of_the_model(call, tmp_path):
    write_documents(tmp_path)
    model, new, out = (tmp_path / name for name in ("m.rprnmf", "new.csv", "W.csv"))
    assert call("fit", tmp_path / "documents.csv", "-k", 2, "--quiet", "--out", model)[0] == 0
    new.write_text('name,text\none,"rocket moon zebra"\ntwo,"soup bread rocket"\n')
    code, _, err = call("transform", model, new, "--out", out)
    assert code == 0
    assert "1 column that the model does not know" in err  # zebra; rocket, in both, is known
    W = read_matrix(out).X
    assert np.argmax(W[0]) != np.argmax(W[1])


def test_whole_numbers_as_names(call, tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        f"{u},{i},{rng.integers(1, 6)},97{u}{i}00000\n" for u in range(7, 27) for i in (5, 3, 9)
    ]
    data, known, model = (tmp_path / name for name in ("u.data", "t.csv", "m.rprnmf"))
    data.write_text("".join(lines))
    known.write_text("q,r,s\n5,3,9\n")
    arguments = ["fit", data, "--column-triplets", known, "-k", 2, "--out", model, "--json"]
    code, found, _ = call(*arguments)
    assert (code, found["rows"], found["columns"]) == (0, 20, 3)
    assert found["column_satisfied_rate"] == 1.0
    code, found, _ = call("evaluate", model, "--held-out", known, "--side", "column", "--json")
    assert (code, found["held_out"]["met"]) == (0, 1.0)
    known.write_text("q,r,s\n7,8,26\n")
    assert call("evaluate", model, data, "--row-triplets", known, "--quiet")[0] == 0
    known.write_text("q,r,s\n5,3,9\n")
    picture, questions = tmp_path / "map.svg", tmp_path / "q.csv"
    drawn = ["plot", "map", model, "--side", "column", "--out", picture]
    assert call(*drawn)[0] == 0
    assert call(*drawn, "--triplets", known)[0] == 0
    asked = ["triplets", "ask", model, "-n", 3, "--out", questions]
    assert call(*asked)[0] == 0
    assert {int(item) for item in questions.read_text().split()[1].split(",")[:3]} <= {
        *range(7, 27)
    }
    assert call("top", model)[0] == 0
    assert call("cluster", model, "-c", 2)[0] == 0
