"""Triplets in files: what is written comes back, and a bad file is named with line and reason."""

from __future__ import annotations

import numpy as np
import pytest

from rprnmf import Triplets
from rprnmf.triplets import TripletFileError

KINDS = ["csv", "parquet"]


def need(kind):
    if kind == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "known",
    [
        Triplets([[0, 1, 2], [5, 3, 1]]),
        Triplets([[0, 1, 2], [5, 3, 1]], weights=[2, 0.25]),
        Triplets(
            [["Star Wars", 'the "best", really', "été\n2"], ["a", "b", " c "]], weights=[1, 3]
        ),
        Triplets(np.zeros((0, 3), dtype=int)),
    ],
    ids=["index", "weights", "names", "none"],
)
def test_what_is_written_comes_back(known, kind, tmp_path):
    need(kind)
    path = tmp_path / f"known.{kind}"
    known.write(path)
    assert Triplets.read(path) == known
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("kind", KINDS)
def test_whole_numbers_may_be_names(kind, tmp_path):
    need(kind)
    path = tmp_path / f"known.{kind}"
    Triplets([[0, 1, 2]]).write(path)
    assert Triplets.read(path, named=True).named


def test_known_names_come_back_as_they_are_known(tmp_path):
    path = tmp_path / "known.csv"
    numbers = Triplets([[10, 20, 30]], named=True)
    numbers.write(path)
    assert Triplets.read(path, names=[10, 20, 30]) == numbers
    path.write_text("q,r,s\n007,1,2\n")
    assert Triplets.read(path, names=["007", "1", "2"]).items.tolist() == [["007", "1", "2"]]
    path.write_text("\ufeffq,r,s\r\na,b,c\r\n", encoding="utf-8")
    assert Triplets.read(path).items.tolist() == [["a", "b", "c"]]


def test_parquet_knows_names_from_positions(tmp_path):
    need("parquet")
    path = tmp_path / "known.parquet"
    for known in (Triplets([[10, 20, 30]], named=True), Triplets([[10, 20, 30]])):
        known.write(path)
        assert Triplets.read(path) == known
    none = Triplets([["a", "b", "c"]]).take([])
    none.write(path)
    assert Triplets.read(path) == none
    assert none.positions(5).n_triplets == 0


def test_files_have_the_usual_rights(tmp_path):
    path = tmp_path / "known.csv"
    (tmp_path / "other").touch()
    Triplets([[0, 1, 2]]).write(path)
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode
    path.chmod(0o640)
    Triplets([[0, 1, 2]]).write(path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_other_columns_and_their_order_do_not_matter(tmp_path):
    path = tmp_path / "known.csv"
    path.write_text("worker,s,q,weight,r\nann,c,a,2,b\n\nbob,f,d,1,e\n")
    known = Triplets([["a", "b", "c"], ["d", "e", "f"]], weights=[2, 1])
    assert Triplets.read(path) == known


GOOD = "q,r,s\na,b,c\na,b,d\na,b,e\na,c,d\na,c,e\n"
BAD = {
    "a missing column": ("q,r,weight\na,b,1\n", None, 1, "the column 's' is missing"),
    "an unknown name": (GOOD + "a,x,c\n", list("abcde"), 7, "r is 'x'"),
    "an empty file": ("", None, None, "is empty"),
    "a cell too few": (GOOD + "a,b\n", None, 7, "has 2 cells, the header has 3"),
    "an empty cell": (GOOD + "a,,c\n", None, 7, "the cell r is empty"),
    "a repeated item": (GOOD + "a,b,a\n", None, 7, "three different items"),
    "no weight": ("q,r,s,weight\n0,1,2,1\n0,1,3,many\n", None, 3, "positive number, found 'many'"),
    "a negative weight": ("q,r,s,weight\n0,1,2,-1\n", None, 2, "positive number"),
    "a name among numbers": ("q,r,s\n0,1,2\n0,x,2\n", None, 3, "r must be a whole number"),
    "a number too large": (f"q,r,s\n0,1,{10**20}\n", None, 2, "s must be a whole number"),
    "an open quote": ('q,r,s\na,"b,c\nd,e,f\n', None, 2, "unexpected end of data"),
    "an error after a long cell": ('q,r,s\na,"b\n\nb",c\na,a,c\n', None, 5, "three different"),
    "a negative position": ("q,r,s\n0,1,2\n0,-1,2\n", None, 3, "at least 0.*found '-1'"),
    "a column twice": ("q,r,s,q\n0,1,2,3\n", None, 1, "'q' occurs twice"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_named_with_line_and_reason(case, tmp_path):
    text, names, line, reason = BAD[case]
    path = tmp_path / "answers.csv"
    path.write_text(text)
    with pytest.raises(TripletFileError, match=reason) as caught:
        Triplets.read(path, names=names)
    assert str(path) in str(caught.value)
    assert caught.value.line == line
    assert line is None or f"line {line}" in str(caught.value)


def test_names_where_positions_are_wanted(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("q,r,s\n0,1,2\n0,1.5,3\n")
    with pytest.raises(TripletFileError, match=r"line 3: r must be a whole number.*found '1.5'"):
        Triplets.read(path, named=False)
    path.write_bytes(b"q,r,s\n\xff\xfe,1,2\n")
    with pytest.raises(TripletFileError, match="is not UTF-8"):
        Triplets.read(path)


def test_other_kinds_of_files(tmp_path):
    with pytest.raises(TripletFileError, match=r"must be \.csv or \.parquet"):
        Triplets.read(tmp_path / "known.json")
    with pytest.raises(ValueError, match=r"must be \.csv or \.parquet"):
        Triplets([[0, 1, 2]]).write(tmp_path / "known.json")
    with pytest.raises(FileNotFoundError):
        Triplets.read(tmp_path / "none.csv")
    assert not list(tmp_path.iterdir())


def test_wrong_types_in_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    from pyarrow import parquet

    path = tmp_path / "known.parquet"
    parquet.write_table(pa.table({"q": [0.5], "r": [1.0], "s": [2.0]}), path)
    with pytest.raises(TripletFileError, match="whole numbers or names, found float64"):
        Triplets.read(path)
    parquet.write_table(pa.table({"q": ["a", None], "r": ["b", "b"], "s": ["c", "c"]}), path)
    with pytest.raises(TripletFileError, match="line 2: the cell q is empty"):
        Triplets.read(path)
    parquet.write_table(pa.table({"q": [0, 1], "r": [1, None], "s": [2, 3]}), path)
    with pytest.raises(TripletFileError, match="line 2: the cell r is empty"):
        Triplets.read(path)
    parquet.write_table(pa.table({"q": pa.array([2**63], pa.uint64()), "r": [1], "s": [2]}), path)
    with pytest.raises(TripletFileError, match="line 1: q is too large"):
        Triplets.read(path)
    parquet.write_table(pa.table({"q": [0, 1], "r": [1, -2], "s": [2, 3]}), path)
    with pytest.raises(TripletFileError, match="line 2: r must be at least 0"):
        Triplets.read(path)
    path.write_text("no parquet")
    with pytest.raises(TripletFileError, match="is not a Parquet file"):
        Triplets.read(path)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "known.csv"
    Triplets([[0, 1, 2]]).write(path)
    before = path.read_text()

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr("rprnmf.triplets.files._write_csv", fail)
    with pytest.raises(OSError, match="disk full"):
        Triplets([[3, 4, 5]]).write(path)
    assert path.read_text() == before
    assert [file.name for file in tmp_path.iterdir()] == ["known.csv"]


def test_an_empty_name_is_not_written_to_csv(tmp_path):
    """It could not be read back."""
    known = Triplets([["a", "b", "c"], ["a", "", "c"]])
    with pytest.raises(ValueError, match=r"triplets\[1\] has the empty name '' as r"):
        known.write(tmp_path / "known.csv")
    assert not list(tmp_path.iterdir())
    need("parquet")
    known.write(tmp_path / "known.parquet")
    assert Triplets.read(tmp_path / "known.parquet") == known


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_stays_one(there, tmp_path):
    target, link = tmp_path / "data" / "answers.txt", tmp_path / "known.csv"
    target.parent.mkdir()
    if there:
        target.write_text("old")
    link.symlink_to(target)
    known = Triplets([[0, 1, 2]])
    known.write(link)
    assert link.is_symlink()
    assert target.read_text().split() == ["q,r,s", "0,1,2"]
    assert Triplets.read(link) == known
    assert [file.name for file in target.parent.iterdir()] == [target.name]
