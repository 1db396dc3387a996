"""`read_blocks`: files as one Dask array, the same matrix as in memory, read when it is used."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf.inputs import InputError, Options, read_blocks, read_matrix, write_matrix

pytest.importorskip("dask.array")
N, M = 23, 5
X = np.round(np.random.default_rng(0).gamma(1.0, 1.0, (N, M)), 3)
ROWS = [f"r{k}" for k in range(N)]
COLUMNS = [f"c{j}" for j in range(M)]
PARTS = {"a": slice(0, 9), "b": slice(9, 10), "c": slice(10, 23)}


def write_parts(folder, suffix, array=X, rows=ROWS, columns=COLUMNS):
    """Some rows in each of three files."""
    folder.mkdir(exist_ok=True)
    for name, part in PARTS.items():
        names = (None, None) if suffix == ".npy" else (rows and rows[part], columns)
        write_matrix(folder / f"part-{name}{suffix}", array[part], *names)
    return folder


def dense(found):
    """All entries, here."""
    here = found.X.compute(scheduler="synchronous")
    return here.toarray() if sp.issparse(here) else here


def same(found, sizes=None, rows=ROWS, columns=COLUMNS):
    np.testing.assert_array_equal(dense(found), X)
    assert found.X.dtype == np.float64
    assert (None if found.row_names is None else found.row_names.tolist()) == rows
    assert (None if found.column_names is None else found.column_names.tolist()) == columns
    if sizes is not None:
        assert found.X.chunks == (sizes, (M,))


def write_zarr(path, array=X, chunks=(4, 2), **names):
    zarr = pytest.importorskip("zarr")
    if not names:
        zarr.create_array(path, shape=array.shape, chunks=chunks, dtype=array.dtype)[:] = array
        return path
    group = zarr.open_group(path, mode="w")
    for name, values in {"X": array, **names}.items():
        cut = chunks if name == "X" else values.shape
        made = group.create_array(name, shape=values.shape, chunks=cut, dtype=values.dtype)
        made[:] = values
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".npz", ".npy", ".csv.gz"])
@pytest.mark.parametrize("how", ["folder", "pattern", "list"])
def test_several_files(suffix, how, tmp_path):
    folder = write_parts(tmp_path / "parts", suffix)
    files = [folder / f"part-{name}{suffix}" for name in PARTS]
    given = {"folder": folder, "pattern": f"{folder}/part-?{suffix}", "list": files}[how]
    names = {"rows": None, "columns": None} if suffix == ".npy" else {}
    same(read_blocks(given), (9, 1, 13), **names)


def test_sparse_files_stay_sparse(tmp_path):
    S = sp.csr_array(X * (X > 1))
    write_parts(tmp_path, ".npz", S)
    found = read_blocks(f"{tmp_path}/*.npz")
    blocks = [found.X.blocks[k].compute(scheduler="synchronous") for k in range(3)]
    assert all(sp.issparse(block) for block in blocks)
    assert (sp.vstack(blocks).toarray() == S.toarray()).all()
    assert found.row_names.tolist() == ROWS
    assert "23 sparse rows x 5 columns, in 3 blocks of 1 to 13 rows" in found.note


def test_scipy_s_own_files(tmp_path):
    for name, part in PARTS.items():
        sp.save_npz(tmp_path / f"{name}.npz", sp.csr_matrix(X[part]))
    same(read_blocks(tmp_path), (9, 1, 13), None, None)


@pytest.mark.parametrize("rows", [None, 1, 6, 8, 100])
def test_zarr(rows, tmp_path):
    found = read_blocks(write_zarr(tmp_path / "X.zarr"), rows=rows)
    sizes = {None: (23,), 1: (4, 4, 4, 4, 4, 3), 6: (4, 4, 4, 4, 4, 3), 8: (8, 8, 7), 100: (23,)}
    same(found, sizes[rows], None, None)
    assert found.format == "zarr"
    same(read_blocks(tmp_path, rows=8), (8, 8, 7), None, None)  # the folder that it is in


def test_zarr_in_memory_and_in_one_chunk(tmp_path):
    path = write_zarr(tmp_path / "X.zarr", chunks=(N, M))
    assert (read_matrix(path).X == X).all()
    same(read_blocks(path, rows=10), (10, 10, 3), None, None)


def test_zarr_with_names(tmp_path):
    numbers = np.arange(N)
    path = write_zarr(tmp_path / "X.zarr", row_names=numbers)
    same(read_blocks(path, rows=8), (8, 8, 7), numbers.tolist(), None)
    write_zarr(tmp_path / "Y.zarr", row_names=numbers[:4])
    with pytest.raises(InputError, match=r"row_names has shape \(4,\), expected \(23,\)"):
        read_blocks(tmp_path / "Y.zarr")
    zarr = pytest.importorskip("zarr")
    zarr.open_group(path, mode="a").create_array("Z", shape=(2, 2), chunks=(2, 2), dtype="f8")
    with pytest.raises(InputError, match="has several: X, Z; expected one"):
        read_blocks(path)
    same(read_blocks(path, options=Options(variable="X")), None, numbers.tolist(), None)


@pytest.mark.parametrize("kind", ["array", "group", "pickle", "text", "cube"])
def test_zarr_that_cannot_be_read(kind, tmp_path):
    path = tmp_path / "X.zarr"
    if kind == "cube":
        pytest.importorskip("zarr").create_array(
            path, shape=(2, 2, 2), chunks=(1, 1, 1), dtype="f8"
        )
        text = "expected a matrix of numbers"
    elif kind == "pickle":
        path.mkdir()
        about = {"zarr_format": 2, "shape": [4, 2], "chunks": [2, 2], "dtype": "<f8", "order": "C"}
        about |= {"compressor": None, "fill_value": 0, "filters": [{"id": "pickle", "protocol": 5}]}
        (path / ".zarray").write_text(json.dumps(about))
        (path / "0.0").write_bytes(pickle.dumps(print))
        text = "pickle"
    else:
        path.mkdir()
        broken = {"array": '{"zarr_format": 3, "node_type": "array"}', "group": "{", "text": "[1]"}
        (path / "zarr.json").write_text(broken[kind])
        text = "cannot be read as Zarr"
    with pytest.raises(InputError, match=text):
        read_blocks(path)
    with pytest.raises(InputError, match=text):
        read_matrix(path)


def test_parquet_is_cut_between_row_groups(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"name": ROWS, **{name: X[:, j] for j, name in enumerate(COLUMNS)}}
    parquet.write_table(arrow.table(columns), tmp_path / "X.parquet", row_group_size=5)
    same(read_blocks(tmp_path / "X.parquet", rows=11), (10, 10, 3))
    found = read_blocks(tmp_path / "X.parquet", rows=5, options=Options(drop=("c1",)))
    assert (dense(found) == np.delete(X, 1, axis=1)).all()
    assert found.column_names.tolist() == ["c0", "c2", "c3", "c4"]


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".npy"])
def test_one_file_is_cut(suffix, tmp_path):
    names = (None, None) if suffix == ".npy" else (ROWS, COLUMNS)
    write_matrix(tmp_path / f"X{suffix}", X, *names)
    same(read_blocks(tmp_path / f"X{suffix}", rows=10), (10, 10, 3), *names)


def test_ratings_are_cut(tmp_path):
    lines = [f"u{i},{name},{X[i, j]:g}\n" for i in range(N) for j, name in enumerate(COLUMNS)]
    (tmp_path / "ratings.csv").write_text("user,item,rating\n" + "".join(lines))
    one, other = (read(tmp_path / "ratings.csv") for read in (read_matrix, read_blocks))
    assert other.missing == "zero"
    assert (dense(other) == one.X.toarray()).all()
    assert other.row_names.tolist() == one.row_names.tolist()
    assert read_blocks(tmp_path / "ratings.csv", rows=20).X.chunks[0] == (20, 3)
    for part in "ab":
        (tmp_path / f"part-{part}.csv").write_text("user,item,rating\n" + "".join(lines))
    with pytest.raises(InputError, match=r"part-a.csv: has user, item and rating .* expected rows"):
        read_blocks(f"{tmp_path}/part-*.csv")


def test_transposed_and_without_names(tmp_path):
    write_matrix(tmp_path / "X.csv", X, ROWS, COLUMNS)
    found = read_blocks(tmp_path / "X.csv", options=Options(transpose=True))
    assert (dense(found).T == X).all()
    assert found.row_names.tolist() == COLUMNS
    folder = write_parts(tmp_path / "parts", ".csv")
    same(read_blocks(folder, options=Options(names=False)), None, None, None)
    with pytest.raises(InputError, match="cannot be transposed"):
        read_blocks(folder, options=Options(transpose=True))


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet", ".zarr"])
def test_single_precision_is_kept(suffix, tmp_path):
    small = X.astype(np.float32)
    if suffix == ".zarr":
        write_zarr(tmp_path / "X.zarr", small)
    else:
        write_parts(tmp_path, suffix, small, None, None if suffix == ".npy" else COLUMNS)
    found = read_blocks(tmp_path)
    assert found.X.dtype == np.float32
    assert dense(found).dtype == np.float32
    assert (dense(found) == small).all()


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet", ".zarr"])
def test_only_shapes_are_read(suffix, tmp_path):
    """Files whose numbers are wrong open; what is wrong shows when it is used, with its place."""
    bad = X.copy()
    bad[10, 3] = -1.0
    if suffix == ".zarr":
        write_zarr(tmp_path / "X.zarr", bad)
    else:
        write_parts(tmp_path, suffix, bad, None, None if suffix == ".npy" else COLUMNS)
    found = read_blocks(tmp_path)
    row = {".npy": 0, ".npz": 0, ".parquet": 0, ".zarr": 10}[suffix]
    with pytest.raises(InputError, match=rf"\[{row}, 3\] .* at least 0, found -1") as caught:
        dense(found)
    assert "part-c" in str(caught.value) or suffix == ".zarr"


def test_nan_is_suggested_where_it_may_be(tmp_path):
    np.save(tmp_path / "a.npy", np.where(X > 1, X, np.nan))
    np.save(tmp_path / "b.npy", np.ones((2, M), dtype=int))
    assert read_blocks([tmp_path / "a.npy", tmp_path / "b.npy"]).missing == "nan"
    assert read_blocks(tmp_path / "b.npy").missing is None


def alike(kind, folder):
    """Two files that do not go together; what the error says."""
    one, other = folder / "a.npz", folder / "b.npz"
    write_matrix(one, X, ROWS, COLUMNS)
    rows, columns, array = [f"next {k}" for k in range(N)], list(COLUMNS), X
    text = {
        "width": "b.npz: expected 5 columns as in .*a.npz, found 4",
        "names": r"b.npz: expected the columns of .*a.npz .*: column 2 is 'c1' there, found 'd'",
        "lost": "b.npz: expected names of columns as in .*a.npz, found no names of columns",
        "rows": "b.npz: expected names of rows as in .*a.npz, found no names of rows",
        "kind": "b.npz: expected dense rows as in .*a.npz, found sparse ones",
        "twice": "a.npz and .*b.npz: the row name 'r3' occurs twice, at rows 4 and 25",
    }[kind]
    if kind == "width":
        array, columns = X[:, :4], COLUMNS[:4]
    elif kind == "names":
        columns[1] = "d"
    elif kind == "lost":
        columns = None
    elif kind == "rows":
        rows = None
    elif kind == "kind":
        array = sp.csr_array(X)
    else:
        rows[1] = "r3"
    write_matrix(other, array, rows, columns)
    return text


@pytest.mark.parametrize("kind", ["width", "names", "lost", "rows", "kind", "twice"])
def test_files_that_are_not_alike(kind, tmp_path):
    with pytest.raises(InputError, match=alike(kind, tmp_path)):
        read_blocks(tmp_path)


def test_no_files_and_several_kinds(tmp_path):
    with pytest.raises(InputError, match="there is no file with such a name"):
        read_blocks(f"{tmp_path}/*.npz")
    with pytest.raises(InputError, match="there is no such file"):
        read_blocks(tmp_path / "X.npz")
    with pytest.raises(ValueError, match="at least one file, got none"):
        read_blocks([])
    write_parts(tmp_path, ".npz")
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(InputError, match=r"several kinds \(1 .npy, 3 .npz\)"):
        read_blocks(tmp_path)


def test_objects_are_not_read(tmp_path):
    np.savez(tmp_path / "a.npz", np.array([[print]], dtype=object))
    np.savez(tmp_path / "b.npz", np.array([[print]], dtype=object))
    with pytest.raises(InputError, match="could run code"):
        read_blocks(tmp_path)
    np.save(tmp_path / "a.npy", np.array([[print]], dtype=object))
    with pytest.raises(InputError, match="could run code"):
        read_blocks(tmp_path / "a.npy")


def test_a_file_that_changes(tmp_path):
    write_parts(tmp_path, ".npz")
    found = read_blocks(tmp_path)
    write_matrix(tmp_path / "part-a.npz", X, ROWS, COLUMNS)
    with pytest.raises(InputError, match=r"part-a.npz: has changed: expected 9 rows, found 23"):
        dense(found)


def test_numbers_and_texts_as_names(tmp_path):
    write_matrix(tmp_path / "a.npz", X, list(range(N)), COLUMNS)
    write_matrix(tmp_path / "b.npz", X[:1], ["x"], COLUMNS)
    assert read_blocks(tmp_path).row_names.tolist() == [*map(str, range(N)), "x"]


def test_blocks_travel(tmp_path):
    write_parts(tmp_path, ".parquet")
    found = pickle.loads(pickle.dumps(read_blocks(tmp_path).X))
    assert (found.compute(scheduler="synchronous") == X).all()
