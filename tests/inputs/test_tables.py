"""Tables in text files: what is understood by itself, and what a flag changes."""

from __future__ import annotations

import gzip
import io
import sys

import numpy as np
import pytest

from rprnmf.inputs import InputError, Options, read_matrix
from rprnmf.inputs import table as table_module

X = [[1.0, 2.5, 0.0], [4.0, 0.125, 6.0]]
NAMED = {"rows": ["ann", "bob"], "columns": ["a", "b", "c"]}
SAME = {
    "plain": ("1,2.5,0\n4,0.125,6\n", None, None),
    "header": ("a,b,c\n1,2.5,0\n4,0.125,6\n", None, "columns"),
    "index": ("ann,1,2.5,0\nbob,4,0.125,6\n", "rows", None),
    "both": (",a,b,c\nann,1,2.5,0\nbob,4,0.125,6\n", "rows", "columns"),
    "R": ("a,b,c\nann,1,2.5,0\nbob,4,0.125,6\n", "rows", "columns"),
    "R quoted": ('"a","b","c"\n"ann",1,2.5,0\n"bob",4,0.125,6\n', "rows", "columns"),
    "semicolon": ("n;a;b;c\nann;1;2.5;0\nbob;4;0.125;6\n", "rows", "columns"),
    "decimal comma": ("n;a;b;c\nann;1;2,5;0\nbob;4;0,125;6\n", "rows", "columns"),
    "tab": ("n\ta\tb\tc\nann\t1\t2.5\t0\nbob\t4\t0.125\t6\n", "rows", "columns"),
    "bar": ("n|a|b|c\nann|1|2.5|0\nbob|4|0.125|6\n", "rows", "columns"),
    "blanks": ("1  2.5 0\n4 0.125   6\n", None, None),
    "savetxt": ("# a comment, 1\n1.0e0 2.5e+00 0\n4 1.25E-1 6\n", None, None),
    "windows": ("a,b,c\r\n1,2.5,0\r\n4,0.125,6\r\n", None, "columns"),
    "old mac": ("a,b,c\r1,2.5,0\r4,0.125,6\r", None, "columns"),
    "no last end": ("1,2.5,0\n4,0.125,6", None, None),
    "blank lines": ("\n1,2.5,0\n\n\n4,0.125,6\n\n", None, None),
    "spaces": ("a, b, c\n1, 2.5, 0\n4, 0.125, 6\n", None, "columns"),
    "signs": ("a,b,c\n+1,2.5,-0\n4,.125,6.\n", None, "columns"),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", SAME)
def test_all_of_these_are_the_same_table(name, mark, packed, tmp_path):
    text, rows, columns = SAME[name]
    data = (mark + text).encode()
    path = tmp_path / ("X.csv.gz" if packed else "X.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    found = read_matrix(path)
    assert found.X.tolist() == X
    assert (found.missing, found.format) == (None, "csv")
    for names, expected in ((found.row_names, rows), (found.column_names, columns)):
        assert (None if names is None else names.tolist()) == NAMED.get(expected)
    assert found.note.startswith(f"{path.name}: a table of 2 rows x 3 columns")


def test_options_overrule_the_guess(tmp_path):
    path = tmp_path / "X.csv"
    path.write_text("1,2,3\n4,5,6\n7,8,9\n")
    assert read_matrix(path).X.shape == (3, 3)
    assert read_matrix(path, options=Options(header=True)).column_names.tolist() == [1, 2, 3]
    assert read_matrix(path, options=Options(index=0)).row_names.tolist() == [1, 4, 7]
    turned = read_matrix(path, options=Options(index=0, transpose=True))
    assert turned.X.tolist() == [[2, 5, 8], [3, 6, 9]]
    assert turned.column_names.tolist() == [1, 4, 7]
    assert turned.row_names is None
    assert read_matrix(path, options=Options(drop=(0, 2))).X.tolist() == [[2], [5], [8]]
    ratings = read_matrix(path, format="ratings")
    assert ratings.format == "ratings"
    assert ratings.X.toarray().tolist() == [[3, 0, 0], [0, 6, 0], [0, 0, 9]]
    path.write_text("a,b,species\n1,2,x\n3,4,y\n")
    assert read_matrix(path, options=Options(drop=("species",))).X.tolist() == [[1, 2], [3, 4]]
    path.write_text("a;b\n1,5;2\n")
    assert read_matrix(path).X.tolist() == [[1.5, 2]]


def test_missing_cells_are_nan(tmp_path):
    path = tmp_path / "X.csv"
    path.write_text("a,b\n1,\n2,NA\nnan,4\n5,null\n")
    found = read_matrix(path)
    nan = np.nan
    np.testing.assert_array_equal(found.X, [[1, nan], [2, nan], [nan, 4], [5, nan]])
    assert found.missing == "nan"
    assert "4 entries are missing" in found.note


def test_encodings(tmp_path):
    path = tmp_path / "X.csv"
    text = "n,é\nü,1\nß,2\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "latin-1"):
        path.write_bytes(text.encode(encoding))
        found = read_matrix(path, options=Options(index=0))
        assert found.row_names.tolist() == ["ü", "ß"]
        assert found.column_names.tolist() == ["é"]
        assert ("Latin-1" in found.note) == (encoding == "latin-1")
    path.write_bytes("n,a,b\nя,1,2\nю,3,4\n".encode("cp1251"))
    assert read_matrix(path, options=Options(encoding="cp1251")).row_names.tolist() == ["я", "ю"]


def test_latin_1_after_a_million_bytes_of_ascii(tmp_path):
    path = tmp_path / "X.csv"
    lines = [f"n{k},1,2" for k in range(60_000)] + ["é,1,2"]
    path.write_bytes("\n".join(lines).encode("latin-1"))
    found = read_matrix(path)
    assert found.row_names[-1] == "é"
    assert "Latin-1" in found.note
    path.write_bytes(("\n".join(lines) + '\n"a\nb",1,2\n').encode("latin-1"))  # the general reader
    assert read_matrix(path).row_names[-2:].tolist() == ["é", "a\nb"]


def test_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(b"a,b\n1,2\n")

    monkeypatch.setattr(sys, "stdin", Stdin)
    found = read_matrix("-")
    assert found.X.tolist() == [[1, 2]]
    assert found.note.startswith("stdin: ")


def test_names_that_are_numbers(tmp_path):
    path = tmp_path / "X.csv"
    path.write_text("id,2001,2002\n7,1,2\n3,3,4\n")
    found = read_matrix(path)
    assert found.row_names.dtype == found.column_names.dtype == np.int64
    path.write_text("id,2001,2002\n007,1,2\n3,3,4\n")
    assert read_matrix(path).row_names.tolist() == ["007", "3"]


def test_wide_rows_are_seen_whole(tmp_path):
    path = tmp_path / "X.csv"
    wide = np.arange(200_000.0).reshape(2, -1)
    header = ",".join(f"c{k}" for k in range(100_000))
    np.savetxt(path, wide, fmt="%g", delimiter=",", header=header, comments="")
    found = read_matrix(path)
    np.testing.assert_allclose(found.X, wide, rtol=1e-5)
    assert found.column_names[-1] == "c99999"


def test_compiled_and_general_readers_agree(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    path = tmp_path / "X.csv"
    values = rng.random((3000, 7)) * 10.0 ** rng.integers(-20, 20, (3000, 7))
    lines = ["name," + ",".join("abcdefg")]
    lines += [f"row {k}," + ",".join(map(repr, row)) for k, row in enumerate(values.tolist())]
    path.write_text("\n".join(lines))
    one = read_matrix(path)
    monkeypatch.setattr(table_module, "_fast", lambda *_: None)
    other = read_matrix(path)
    np.testing.assert_array_equal(one.X, values)
    np.testing.assert_array_equal(other.X, values)
    assert one.row_names.tolist() == other.row_names.tolist()


BAD = {
    "negative": (
        "a,b\n1,2\n3,-4\n",
        "line 3, column 'b': expected a number .* found '-4'",
    ),
    "text": ("1,2\n3,x\n4,5\n", "line 2, column 2: expected a number .* found 'x'"),
    "infinite": ("1,2\n3,1e999\n", "line 2, column 2: .* found '1e999'"),
    "inf": ("1,2\n3,inf\n", "line 2, column 2: .* found 'inf'"),
    "ragged": ("a,b\n1,2\n\n3\n", "line 4: has 1 cells, expected 2"),
    "too many": ("1,2\n1,2,3\n1,2\n", "line 2: has 3 cells, expected 2"),
    "repeated column": ("a,a\n1,2\n", "column name 'a' occurs twice, at columns 1 and 2"),
    "repeated row": ("n,a,b\nx,1,2\ny,3,4\nx,5,6\n", "row name 'x' occurs twice, at rows 1 and 3"),
    "no row name": ("n,a,b\nx,1,2\n,3,4\n", "line 3, column 'n': expected the name of the row"),
    "header alone": ("a,b\n", "has a header and no rows"),
    "blank": ("\n \n", "empty"),
    "open quote": ('a,b\n1,2\n"3,4\n', "line 3: unexpected end of data"),
    "underscore": ("1,2\n3,1_0\n", "found '1_0'"),
    "zero byte": ("1,2\n3,\0\n", "none of the formats"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_is_named_with_place_and_reason(name, tmp_path):
    text, message = BAD[name]
    path = tmp_path / "X.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_matrix(path)
    assert str(caught.value).startswith(str(path))
    assert caught.value.path == str(path)


def test_other_bad_files(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_matrix(tmp_path / "nothing.csv")
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(InputError, match="is empty"):
        read_matrix(tmp_path / "empty")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"1,2\n" * 1000)[:-20])
    with pytest.raises(InputError, match="damaged or cut short"):
        read_matrix(tmp_path / "cut.csv.gz")
    (tmp_path / "x.pkl").write_bytes(b"\x80\x04\x95\x00")
    with pytest.raises(InputError, match="is a pickle"):
        read_matrix(tmp_path / "x.pkl")
    with pytest.raises(ValueError, match="format must be one of csv"):
        read_matrix(tmp_path / "empty", format="xls")
    (tmp_path / "X.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"no column 'c'; expected .* found 'a', 'b'"):
        read_matrix(tmp_path / "X.csv", options=Options(index="c"))
    with pytest.raises(InputError, match="no column 7; expected 0 to 1"):
        read_matrix(tmp_path / "X.csv", options=Options(drop=(7,)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"delimiter": "x"},
        {"decimal": "-"},
        {"index": True},
        {"image_size": (0, 3)},
        {"decimal": ",", "delimiter": ","},
    ],
)
def test_options_are_checked(wrong):
    with pytest.raises(ValueError, match="must be"):
        Options(**wrong)
