"""Files of arrays: .npy, .npz, .mtx, .mat, .h5ad, .parquet; what they claim is checked first."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from rprnmf.inputs import InputError, Options, read_matrix

X = np.array([[1.0, 0.0, 2.5], [0.0, 3.0, 0.0]])
S = sp.csr_array(X)


def same(found, rows=None, columns=None):
    dense = found.X.toarray() if sp.issparse(found.X) else found.X
    np.testing.assert_array_equal(dense, X)
    assert dense.dtype == np.float64
    assert (None if found.row_names is None else found.row_names.tolist()) == rows
    assert (None if found.column_names is None else found.column_names.tolist()) == columns


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["f4", "f8", ">f8", "f2"])
def test_npy(kind, order, tmp_path):
    np.save(tmp_path / "X.npy", np.asarray(X, dtype=kind, order=order))
    same(read_matrix(tmp_path / "X.npy"))
    (tmp_path / "Y").write_bytes(gzip.compress((tmp_path / "X.npy").read_bytes()))
    same(read_matrix(tmp_path / "Y"))  # the content tells, not the suffix


def test_whole_numbers_and_missing_entries(tmp_path):
    np.save(tmp_path / "X.npy", np.array([[1, 2], [3, 4]], dtype=np.uint8))
    assert read_matrix(tmp_path / "X.npy").X.tolist() == [[1, 2], [3, 4]]
    np.save(tmp_path / "X.npy", np.array([[1, np.nan]]))
    assert read_matrix(tmp_path / "X.npy").missing == "nan"


def test_npz(tmp_path):
    path = tmp_path / "X.npz"
    np.savez(path, X)
    same(read_matrix(path))
    np.savez_compressed(path, images=X, labels=np.array([0, 1]))
    same(read_matrix(path))
    np.savez(path, A=X, B=X + 1, row_names=np.array(["a", "b"]))
    with pytest.raises(InputError, match="has several: A, B; expected one, or its name"):
        read_matrix(path)
    same(read_matrix(path, options=Options(variable="A")), rows=["a", "b"])
    with pytest.raises(InputError, match="has no array 'C'; found A, B"):
        read_matrix(path, options=Options(variable="C"))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_sparse_npz_stays_sparse(kind, make, tmp_path):
    sp.save_npz(tmp_path / "X.npz", make(X).asformat(kind))
    found = read_matrix(tmp_path / "X.npz")
    same(found)
    assert isinstance(found.X, sp.csr_array)


@pytest.mark.parametrize("packed", [False, True])
def test_matrix_market(packed, tmp_path):
    path = tmp_path / ("X.mtx.gz" if packed else "X.mtx")
    opener = gzip.open if packed else open
    for data, sparse in ((X, False), (S, True), (sp.csc_array(X), True)):
        with opener(path, "wb") as file:
            scipy.io.mmwrite(file, data)
        found = read_matrix(path)
        same(found)
        assert sp.issparse(found.X) == sparse
    with opener(path, "wb") as file:
        scipy.io.mmwrite(
            file, sp.coo_array(np.array([[2.0, 1.0], [1.0, 0.0]])), symmetry="symmetric"
        )
    assert read_matrix(path).X.toarray().tolist() == [[2, 1], [1, 0]]


def test_matrix_market_in_any_order(tmp_path):
    path = tmp_path / "X.mtx"
    path.write_text(
        "%%MatrixMarket matrix coordinate integer general\n% c\n2 3 3\n2 2 3\n1 3 2\n1 1 1\n"
    )
    found = read_matrix(path).X
    assert found.toarray().tolist() == [[1, 0, 2], [0, 3, 0]]
    assert found.has_sorted_indices


@pytest.mark.parametrize("compressed", [False, True])
def test_mat(compressed, tmp_path):
    path = tmp_path / "X.mat"
    scipy.io.savemat(path, {"fea": X, "k": 3, "name": "x"}, do_compression=compressed)
    same(read_matrix(path))
    scipy.io.savemat(path, {"S": sp.csc_array(X), "Y": X + 1}, do_compression=compressed)
    with pytest.raises(InputError, match="has several: S, Y"):
        read_matrix(path)
    found = read_matrix(path, options=Options(variable="S"))
    same(found)
    assert sp.issparse(found.X)
    scipy.io.savemat(path, {"X": X}, format="4")
    same(read_matrix(path))
    scipy.io.savemat(path, {"c": {"a": X}}, do_compression=compressed)
    with pytest.raises(InputError, match="no variable that is a matrix of numbers"):
        read_matrix(path)


def test_mat_of_version_7_3(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "X.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["X"] = X.T
        group = file.create_group("#refs#")
        group["a"] = [[1.0]]
    with path.open("rb+") as raw:
        raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")
    same(read_matrix(path))
    with h5py.File(path, "a") as file:
        del file["X"]
        sparse, parts = file.create_group("S"), sp.csc_array(X)
        sparse.attrs["MATLAB_sparse"] = np.uint64(2)
        sparse["data"], sparse["ir"] = parts.data, parts.indices.astype(np.uint64)
        sparse["jc"] = parts.indptr.astype(np.uint64)
    same(read_matrix(path))


def anndata_file(path, h5py, kind="csr"):
    """As AnnData writes it (encoding version 0.1.0)."""
    with h5py.File(path, "w") as file:
        if kind == "dense":
            file["X"] = X.astype(np.float32)
        else:
            group, parts = file.create_group("X"), sp.csr_array(X).asformat(kind)
            group.attrs["encoding-type"], group.attrs["shape"] = f"{kind}_matrix", X.shape
            group["data"], group["indices"] = parts.data, parts.indices
            group["indptr"] = parts.indptr
        file.create_group("layers")["counts"] = 2 * X
        for axis, names in (("obs", ["c1", "c2"]), ("var", ["g1", "g2", "g3"])):
            group = file.create_group(axis)
            group.attrs["_index"] = "_index"
            group.create_dataset("_index", data=names, dtype=h5py.string_dtype())


@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
def test_h5ad(kind, tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "X.h5ad"
    anndata_file(path, h5py, kind)
    found = read_matrix(path)
    same(found, rows=["c1", "c2"], columns=["g1", "g2", "g3"])
    assert sp.issparse(found.X) == (kind != "dense")
    assert read_matrix(path, options=Options(variable="counts")).X.tolist() == (2 * X).tolist()
    with pytest.raises(InputError, match="has no layer 'log'; found counts"):
        read_matrix(path, options=Options(variable="log"))


def test_h5ad_of_an_old_version(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "X.h5ad", "w") as file:
        file["X"] = X
        for axis, names in (("obs", [b"c1", b"c2"]), ("var", [b"g1", b"g2", b"g3"])):
            file[axis] = np.array([(n, 1.0) for n in names], dtype=[("index", "S2"), ("n", "f8")])
    same(read_matrix(tmp_path / "X.h5ad"), rows=["c1", "c2"], columns=["g1", "g2", "g3"])


def test_h5ad_that_points_elsewhere_or_claims_too_much(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "X.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = h5py.ExternalLink("other.h5", "/X")
    with pytest.raises(InputError, match="'X' is a link"):
        read_matrix(path)
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (10**6, 10**6), dtype="f8", chunks=(1000, 1000))
    with pytest.raises(InputError, match=r"would take 7.45e\+03 GB"):
        read_matrix(path)
    secret = tmp_path / "secret"
    secret.write_bytes(b"\0" * 64)
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (2, 4), dtype="f8", external=[(str(secret), 0, 64)])
    with pytest.raises(InputError, match="data in other files"):
        read_matrix(path)


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "X.parquet"
    columns = dict(zip("abc", X.T.tolist(), strict=True))
    parquet.write_table(pa.table(columns), path)
    same(read_matrix(path), columns=["a", "b", "c"])
    parquet.write_table(pa.table({"name": ["p", "q"], **columns}), path)
    same(read_matrix(path), rows=["p", "q"], columns=["a", "b", "c"])
    parquet.write_table(pa.table({"a": [1.0, None]}), path)
    assert read_matrix(path).missing == "nan"
    long = {"user": ["p", "q", "p", "p"], "item": [3, 2, 1, 1], "rating": [2.5, 3, 1, 1]}
    parquet.write_table(pa.table(long), path)
    found = read_matrix(path)
    same(found, rows=["p", "q"], columns=[1, 2, 3])
    assert (found.format, found.missing) == ("ratings", "zero")
    assert "1 repeated rating averaged" in found.note
    texts = {"id": [7, 8], "text": ["the cat sat on the mat", "a dog and a cat"]}
    parquet.write_table(pa.table(texts), path)
    found = read_matrix(path)
    assert found.format == "texts"
    assert found.row_names.tolist() == [7, 8]
    parquet.write_table(pa.table({"a": [1.0, 2.0], "b": ["x", "y"]}), path)
    with pytest.raises(InputError, match="column 'b': holds string; expected numbers"):
        read_matrix(path)
    parquet.write_table(pa.table({"a": [1.0, -2.0]}), path)
    with pytest.raises(InputError, match=r"\[1, 0\] .*found -2"):
        read_matrix(path)


def test_parquet_with_an_index_of_pandas(tmp_path):
    pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abc"), index=["p", "q"])
    frame.to_parquet(tmp_path / "X.parquet")
    same(read_matrix(tmp_path / "X.parquet"), rows=["p", "q"], columns=["a", "b", "c"])


def test_a_package_that_is_not_there_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "h5py", None)
    (tmp_path / "X.h5ad").write_bytes(b"\x89HDF\r\n\x1a\n" + b"\0" * 100)
    with pytest.raises(ImportError, match=r'h5py is needed: pip install "rprnmf\[anndata\]"'):
        read_matrix(tmp_path / "X.h5ad")


def npy_header(shape, kind="<f8"):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": kind, "fortran_order": False, "shape": shape}
    )
    return file.getvalue()


def hostile_npz(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def npy_bytes(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_claims_are_checked_before_there_is_space_for_them(tmp_path):
    path = tmp_path / "X.npy"
    path.write_bytes(npy_header((10**6, 10**6)) + b"\0" * 100)
    with pytest.raises(InputError, match=r"claims shape \(1000000, 1000000\)"):
        read_matrix(path)
    path.write_bytes(hostile_npz({"X.npy": npy_header((10**6, 10**6)) + b"\0" * 80}))
    with pytest.raises(InputError, match="claims shape"):
        read_matrix(path)
    path.write_bytes(hostile_npz({"X.npy": b"\0" * (1 << 29)}))  # half a GB of zeros
    with pytest.raises(InputError, match="more than 200 times"):
        read_matrix(path)
    path = tmp_path / "X.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n5 5 1000000000000\n1 1 1\n")
    with pytest.raises(InputError, match="line 2: claims 1000000000000 entries"):
        read_matrix(path)
    path.write_text("%%MatrixMarket matrix coordinate real general\n900000000000 5 1\n1 1 1\n")
    with pytest.raises(InputError, match="claims 900000000000 rows"):
        read_matrix(path)
    path.write_text("%%MatrixMarket matrix array real general\n1000000 1000000\n1\n")
    with pytest.raises(InputError, match="cannot hold"):
        read_matrix(path)


def test_a_mat_file_that_unpacks_without_end(tmp_path):
    path = tmp_path / "X.mat"
    scipy.io.savemat(path, {"X": X})
    head = path.read_bytes()[:128]
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(b"\0" * (1 << 20)) for _ in range(300)) + packer.flush()
    path.write_bytes(head + np.array([15, len(packed)], "<u4").tobytes() + packed)
    with pytest.raises(InputError, match="more than 200 times"):
        read_matrix(path)


def test_objects_are_never_loaded(tmp_path):
    class Spy:
        def __reduce__(self):
            return (pytest.fail, ("code was run",))

    spies = np.array([[Spy()]], dtype=object)
    np.save(tmp_path / "X.npy", spies, allow_pickle=True)
    np.savez(tmp_path / "X.npz", X=spies)
    for name in ("X.npy", "X.npz"):
        with pytest.raises(InputError, match="Objects are not read"):
            read_matrix(tmp_path / name)


def test_sparse_files_that_lie(tmp_path):
    path = tmp_path / "X.npz"
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": np.array(S.shape)}
    parts["format"] = np.array(b"csr")
    for name, wrong in {
        "indices": np.array([0, 9, 1]),
        "indptr": np.array([0, 2, 99]),
        "shape": np.array([2, 10**14]),
        "format": np.array(b"xyz"),
        "data": np.array([1.0, -1.0, 1.0]),
    }.items():
        np.savez(path, **{**parts, name: wrong})
        with pytest.raises(InputError):
            read_matrix(path)
    np.savez(path, **parts)
    same(read_matrix(path))


@pytest.mark.parametrize("value", [-1.0, np.inf])
def test_numbers_below_zero_and_infinite_ones_are_named(value, tmp_path):
    bad = X.copy()
    bad[1, 1] = value
    np.save(tmp_path / "X.npy", bad)
    with pytest.raises(InputError, match=r"\[1, 1\] .* found (-1|inf) \(1 such entries\)"):
        read_matrix(tmp_path / "X.npy")
    sp.save_npz(tmp_path / "X.npz", sp.csr_array(bad))
    with pytest.raises(InputError, match=r"\[1, 1\]"):
        read_matrix(tmp_path / "X.npz")


def test_other_shapes_are_refused(tmp_path):
    for wrong in (np.ones(3), np.ones((2, 2, 2)), np.ones((0, 3)), np.array([["a"]])):
        np.save(tmp_path / "X.npy", wrong)
        with pytest.raises(InputError, match="expected a matrix of numbers"):
            read_matrix(tmp_path / "X.npy")
    (tmp_path / "book.xlsx").write_bytes(hostile_npz({"xl/workbook.xml": b"<a/>"}))
    with pytest.raises(InputError, match="is a spreadsheet; save the sheet as CSV"):
        read_matrix(tmp_path / "book.xlsx")
