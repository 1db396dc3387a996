"""What is written comes back with its names, or nothing is written."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf.inputs import Options, read_matrix, write_matrix

rng = np.random.default_rng(0)
W = rng.random((5, 3)) * 10.0 ** rng.integers(-8, 8, (5, 3))
ROWS = ["a", 'b, "c"', "é\nd", " e", "5"]
COLUMNS = ["taste 1", "x;y", "z"]
KINDS = [".csv", ".tsv", ".csv.gz", ".tsv.gz", ".npz", ".parquet"]


@pytest.fixture(params=KINDS)
def path(request, tmp_path):
    if request.param == ".parquet":
        pytest.importorskip("pyarrow")
    return tmp_path / f"W{request.param}"


def test_what_is_written_comes_back(path):
    write_matrix(path, W, ROWS, COLUMNS)
    found = read_matrix(path)
    np.testing.assert_array_equal(found.X, W)
    assert [name.strip() for name in found.row_names] == [name.strip() for name in ROWS]
    assert found.column_names.tolist() == COLUMNS
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("rows", [None, [3, 1, 2, 9, 7]])
@pytest.mark.parametrize("columns", [None, [10, 20, 30]])
def test_numbers_as_names_or_no_names(path, rows, columns):
    write_matrix(path, W, rows, columns)
    numbers_alone = columns is not None and rows is None
    found = read_matrix(path, options=Options(header=True if numbers_alone else None))
    np.testing.assert_array_equal(found.X, W)
    assert (found.row_names is None) == (rows is None)
    if rows is not None:
        assert found.row_names.tolist() == rows
    if columns is not None:
        assert found.column_names.tolist() == columns


def test_sparse_arrays_and_bare_ones(tmp_path):
    S = sp.csr_array(np.where(W > 1, W, 0))
    for name in ("S.npz", "S.csv"):
        write_matrix(tmp_path / name, S, ROWS)
        found = read_matrix(tmp_path / name)
        assert sp.issparse(found.X) == (name == "S.npz")
        np.testing.assert_array_equal(sp.csr_array(found.X).toarray(), S.toarray())
    write_matrix(tmp_path / "W.npy", W)
    np.testing.assert_array_equal(np.load(tmp_path / "W.npy"), W)


def test_labels(tmp_path):
    write_matrix(tmp_path / "labels.csv", np.array(["cat", "dog"]), ["a", "b"], ["label"])
    assert (tmp_path / "labels.csv").read_text() == "name,label\na,cat\nb,dog\n"
    write_matrix(tmp_path / "labels.csv", [2, 0])
    assert (tmp_path / "labels.csv").read_text() == "2\n0\n"


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("W.xls", {}, "the suffix must be one of"),
        ("W.npz.gz", {}, "the suffix must be one of"),
        ("W.npy", {"row_names": ROWS}, "no place for names"),
        ("W.csv", {"row_names": ROWS[1:]}, "row_names has 4 names, expected 5"),
        ("W.csv", {"column_names": ROWS}, "column_names has 5 names, expected 3"),
    ],
)
def test_after_an_error_the_file_is_as_before(name, given, message, tmp_path):
    (tmp_path / name).write_text("before")
    with pytest.raises(ValueError, match=message):
        write_matrix(tmp_path / name, W, **given)
    assert (tmp_path / name).read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1
