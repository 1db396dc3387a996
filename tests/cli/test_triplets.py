"""``rprnmf triplets``: from what is known to comparisons, and what is wrong with them."""

from __future__ import annotations

import io
import json
import sys

import pytest

from rprnmf import Triplets
from rprnmf.cli import main
from tests.cli.running import run_program

CROWD = "q,r,s,weight\na,b,c,3\na,c,b,1\nd,e,f,1\nd,e,a,1\n"


@pytest.fixture
def crowd(tmp_path):
    path = tmp_path / "crowd.csv"
    path.write_text(CROWD)
    return path


def rows(path):
    return [line.split(",") for line in path.read_text().splitlines()]


def document(capsys):
    return json.loads(capsys.readouterr().out)


def test_check_names_what_contradicts(crowd, capsys):
    assert main(["triplets", "check", str(crowd), "--json"]) == 0
    found = document(capsys)
    assert (found["triplets"], found["conflicts"], found["in_conflict"]) == (4, 1, 2)
    assert found["satisfiable"] == [pytest.approx(5 / 6), pytest.approx(5 / 6)]
    assert [row["q"] for row in found["listed"]] == ["a", "a"]
    assert main(["triplets", "check", str(crowd)]) == 0
    text = capsys.readouterr().out
    assert "83.3 % of their weight" in text
    assert "rprnmf triplets resolve" in text


def test_check_as_a_process_reads_standard_input(crowd, tmp_path):
    done = run_program("triplets", "check", "-", stdin=crowd.read_text())
    assert done.returncode == 0
    assert "83.3 % of their weight" in done.stdout
    assert "\x1b" not in done.stdout  # no colours in a file
    assert all(line == line.rstrip() for line in done.stdout.splitlines())
    done = run_program("triplets", "check", tmp_path / "nowhere.csv")
    assert done.returncode == 1
    assert done.stderr == (
        f"rprnmf triplets check: {tmp_path / 'nowhere.csv'}: there is no such file\n"
    )


def test_errors_in_standard_input_say_so(capsys, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(b"q,r\na,b\n"))
    monkeypatch.setattr(sys, "stdin", stream)
    assert main(["triplets", "check", "-"]) == 1
    text = capsys.readouterr().err
    assert text.startswith("rprnmf triplets check: standard input, line 1: the column 's'")


def test_consistent_ones_are_called_so(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("q,r,s\n1,2,3\n2,3,4\n")
    assert main(["triplets", "check", str(path)]) == 0
    assert "no contradiction" in capsys.readouterr().out


def test_whole_numbers_and_names_may_be_mixed(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("q,r,s\n1,b,3\n2,b,4\n")
    assert main(["triplets", "check", str(path), "--json"]) == 0
    assert document(capsys)["items"] == 5


@pytest.mark.parametrize(("method", "kept"), [("feedback-arc", 3), ("majority", 3), ("drop", 2)])
def test_resolve(method, kept, crowd, tmp_path, capsys):
    out = tmp_path / "kept.csv"
    arguments = ["triplets", "resolve", str(crowd), "--method", method, "--out", str(out)]
    assert main([*arguments, "--json"]) == 0
    assert document(capsys)["kept"] == kept
    assert Triplets.read(out).n_triplets == kept


def test_outputs_are_looked_at_before_anything_is_done(crowd, tmp_path, capsys):
    def fails(out, *others):
        code = main(["triplets", "resolve", str(crowd), "--out", str(out), *others])
        return code, capsys.readouterr().err

    code, text = fails(tmp_path / "no" / "t.csv")
    assert code == 1
    assert "does not exist" in text
    code, text = fails(crowd)
    assert code == 1
    assert "is an input" in text
    assert crowd.read_text() == CROWD
    code, text = fails(tmp_path)
    assert code == 1
    assert "must end in .csv" in text
    code, text = fails(tmp_path / "t.txt")
    assert code == 1
    (tmp_path / "dir.csv").mkdir()
    code, text = fails(tmp_path / "dir.csv")
    assert code == 1
    assert "is a folder" in text


def test_an_output_that_exists_is_replaced(crowd, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("what was there")
    done = run_program("triplets", "resolve", crowd, "--out", out)
    assert (done.returncode, done.stdout) == (0, f"{out}: 3 of 4 comparisons kept, 1 left out.\n")
    assert len(rows(out)) == 4


def test_split_keeps_answers_to_a_question_together(tmp_path, capsys):
    path = tmp_path / "t.csv"
    pairs = [(f"i{k}", f"j{k}") for k in range(30)]
    path.write_text("q,r,s\n" + "".join(f"x,{a},{b}\nx,{b},{a}\n" for a, b in pairs))
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    arguments = ["triplets", "split", str(path), "--out", str(train), "--test-out", str(test)]
    assert main([*arguments, "--json"]) == 0
    found = document(capsys)
    assert found["train"] + found["test"] == 60
    assert 8 <= found["test"] <= 22
    asked = [{frozenset(row[1:]) for row in rows(one)[1:]} for one in (train, test)]
    assert not asked[0] & asked[1]
    same = test.read_text()
    assert main(arguments) == 0
    assert test.read_text() == same
    assert main([*arguments, "--seed", "1"]) == 0
    assert test.read_text() != same
    assert main([*arguments[:4], str(train), "--test-out", str(train)]) == 1
    assert "two outputs" in capsys.readouterr().err


def test_split_as_a_process(tmp_path):
    path, train, test = (tmp_path / f"{name}.csv" for name in ("t", "train", "test"))
    path.write_text("q,r,s\na,b,c\nd,e,f\n")
    done = run_program("triplets", "split", path, "--out", train, "--test-out", test)
    assert done.returncode == 0
    assert len(rows(train)) == len(rows(test)) == 2
    done = run_program("triplets", "split", path, "--out", path, "--test-out", test)
    assert done.returncode == 1
    assert "is an input" in done.stderr


def test_one_comparison_cannot_be_split(tmp_path, capsys):
    path, out = tmp_path / "t.csv", tmp_path / "train.csv"
    path.write_text("q,r,s\na,b,c\n")
    arguments = ["triplets", "split", path, "--out", out, "--test-out", tmp_path / "b.csv"]
    assert main([str(each) for each in arguments]) == 1
    assert "nothing to split" in capsys.readouterr().err
    assert not out.exists()


def made(source, text, tmp_path, *options):
    path, out = tmp_path / "given.csv", tmp_path / "made.csv"
    path.write_text(text)
    arguments = ["triplets", "make", source, str(path), "--out", str(out), *map(str, options)]
    return main(arguments), out


def test_make_from_labels(tmp_path, capsys):
    text = "name,label\nann,x\nbob,x\ncleo,y\ndan,y\neve,\nfay,-1\n"
    code, out = made("labels", text, tmp_path, "--count", 6)
    assert code == 0
    label = dict(line.split(",") for line in text.splitlines())
    found = rows(out)[1:]
    assert len(found) == 6
    assert all(label[q] == label[r] != label[s] for q, r, s in found)
    assert {"eve", "fay"}.isdisjoint({name for row in found for name in row})
    code, out = made("labels", "label\n0\n0\n1\n1\n", tmp_path)
    assert code == 0
    assert {item for row in rows(out)[1:] for item in row} <= {"0", "1", "2", "3"}
    code, _ = made("labels", "name,label\nann,x\nbob,x\n", tmp_path)
    assert code == 1
    assert "at least two classes" in capsys.readouterr().err
    code, _ = made("labels", text, tmp_path, "--label", "job")
    assert code == 1
    assert "there is no column 'job'; found 'name', 'label'" in capsys.readouterr().err
    code, _ = made("labels", "name,label\nann,x\nann,y\nbob,x\ncleo,y\n", tmp_path)
    assert code == 1
    assert "'ann' occurs more than once" in capsys.readouterr().err


def test_make_from_metadata(tmp_path, capsys):
    text = "film,genres,year,country\na,Sci-Fi|Action,1980,US\nb,Sci-Fi,1985,US\nc,Romance,2000,F\n"
    code, out = made("metadata", text, tmp_path)
    assert code == 0
    assert "genres (tags), year (ordered)" not in capsys.readouterr().out
    assert ["a", "b", "c"] in rows(out)
    code, out = made("metadata", text, tmp_path, "--tags", "genres", "--importance", "genres=2")
    assert code == 0
    assert rows(out)[0] == ["q", "r", "s"]
    code, _ = made("metadata", text, tmp_path, "--ordered", "country")
    assert code == 1
    assert "row 1: country must be a number or empty, found 'US'" in capsys.readouterr().err
    code, _ = made("metadata", text, tmp_path, "--tags", "genres", "--importance", "genres")
    assert code == 2


def test_make_from_links(tmp_path, capsys):
    code, out = made("links", "a,b,link\nann,bob,must\nbob,cleo,cannot\n", tmp_path)
    assert code == 0
    assert rows(out)[1:] == [["bob", "ann", "cleo"]]
    code, _ = made("links", "a,b,link\nann,bob,perhaps\n", tmp_path)
    assert code == 1
    assert "row 1: expected must or cannot, found 'perhaps'" in capsys.readouterr().err
    code, _ = made("links", "a,b\nann,bob\n", tmp_path)
    assert code == 1
    code, _ = made("links", "a,b,link\nann,bob,must\nann,bob,cannot\n", tmp_path)
    assert code == 1


def test_make_from_answers(tmp_path, capsys):
    text = "q,r,s,answer\na,b,c,r\na,b,c,c\nd,e,f,F\nd,e,f,f\nd,e,g,\n"
    code, _ = made("answers", text, tmp_path)
    assert code == 1
    assert "row 3: the answer must be r, s, 'e', 'f' or empty, found 'F'" in capsys.readouterr().err
    code, out = made("answers", text.replace("F", "S"), tmp_path, "--json")
    assert code == 0
    assert document(capsys)["unanswered"] == 1
    assert rows(out)[1:] == [["a", "b", "c", "1.0"], ["a", "c", "b", "1.0"], ["d", "f", "e", "2.0"]]
    worker = "q,r,s,answer,worker\na,b,c,r,1\na,b,c,r,1\na,b,c,r,2\n"
    code, out = made("answers", worker, tmp_path)
    assert rows(out)[1:] == [["a", "b", "c", "2.0"]]
    old = tmp_path / "old.csv"
    old.write_text("q,r,s\nz,y,x\na,b,c\n")
    code, out = made("answers", worker, tmp_path, "--add", old)
    assert rows(out)[1:] == [["z", "y", "x", "1.0"], ["a", "b", "c", "3.0"]]
    code, _ = made("answers", "q,r,s,answer\na,b,c,\n", tmp_path)
    assert code == 1
    assert "no answer yet" in capsys.readouterr().err


def test_make_as_a_process(tmp_path):
    path, out = tmp_path / "labels.csv", tmp_path / "t.csv"
    path.write_text("name,label\n" + "".join(f"p{k},{k % 3}\n" for k in range(12)))
    done = run_program("triplets", "make", "labels", path, "--count", 20, "--out", out)
    assert (done.returncode, done.stdout) == (0, f"{out}: 20 comparisons of 12 items.\n")
    assert Triplets.read(out).n_triplets == 20
    done = run_program("triplets", "make", "labels", path, "--count", "many", "--out", out)
    assert done.returncode == 2


@pytest.mark.parametrize("text", ["", "name,label\na\n", "name,name\na,b\n", '"a', "a\0b"])
def test_tables_that_cannot_be_read(text, tmp_path, capsys):
    code, out = made("labels", text, tmp_path)
    assert code == 1
    assert str(tmp_path / "given.csv") in capsys.readouterr().err
    assert not out.exists()


def test_convert_to_labels_and_to_a_graph(tmp_path, capsys):
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_text("q,r,s\nb,a,c\nc,b,d\n")
    arguments = ["triplets", "convert", str(path), "--out", str(out), "--to"]
    assert main([*arguments, "labels"]) == 0
    assert capsys.readouterr().out == f"{out}: 3 items in 1 class.\n"
    assert rows(out) == [["name", "label"], ["b", "0"], ["a", "0"], ["c", "0"]]
    assert main([*arguments, "graph"]) == 0
    weights = {frozenset(row[:2]): float(row[2]) for row in rows(out)[1:]}
    assert weights[frozenset("ab")] > weights[frozenset("bc")] > weights[frozenset("cd")]
    path.write_text("q,r,s\na,b,c\na,c,b\n")
    assert main([*arguments, "graph"]) == 1
    assert "contradict each other in a circle" in capsys.readouterr().err
    assert main([*arguments, "graph", "--condense"]) == 0
