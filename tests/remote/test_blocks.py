"""Blocks that are not what their Dask array says, and odd ones that are."""

from __future__ import annotations

from itertools import pairwise

import dask
import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf import NMF
from rprnmf.remote import local
from tests.remote.matrices import CUTS, check_same, in_blocks, matrix

da = pytest.importorskip("dask.array")


def settings(missing=None, **more):
    plain = {"row_prior": None, "column_prior": None, "max_iter": 4}
    return {"n_components": 3, "missing": missing, "tol": 0.0, "random_state": 0} | plain | more


@pytest.fixture(autouse=True)
def one_after_the_other():
    with dask.config.set(scheduler="synchronous"):
        yield


def changed(X, change, block=3, dtype=float, meta=None):
    """A Dask array one of whose blocks is not what it says."""
    sizes = CUTS["5"]
    edges = np.cumsum([0, *sizes])
    parts = [X[a:b] for a, b in pairwise(edges)]
    parts[block] = change(parts[block])
    shapes = [(size, X.shape[1]) for size in sizes]
    return da.concatenate(
        [
            da.from_delayed(dask.delayed(part, traverse=False), shape, dtype, meta=meta)
            for part, shape in zip(parts, shapes, strict=True)
        ]
    )


def as_frame(X):
    import pandas as pd

    return pd.DataFrame(X)


SHAPES = {
    "rows fewer": (lambda X: X[:-2], ValueError, r"block 3 of X \(rows 49 to 65\) has the shape"),
    "columns fewer": (lambda X: X[:, :-1], ValueError, r"\(17, 30\), but the Dask array says"),
    "one axis": (lambda X: X[0], ValueError, r"has the shape \(31,\)"),
    "masked": (np.ma.masked_array, TypeError, r"block 3 of X .* is a numpy.ma"),
    "frame": (as_frame, TypeError, r"is a DataFrame, not an array"),
    "sparse among dense": (sp.csr_array, TypeError, r"block 0 is dense, block 3 of X .* is not"),
    "text": (lambda X: X.astype(str).astype(object), ValueError, r"could not convert"),
}


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("name", SHAPES)
def test_blocks_that_are_not_what_was_said_are_named(name, kept, monkeypatch):
    if name == "frame":
        pytest.importorskip("pandas")
    change, error, said = SHAPES[name]
    if not kept:
        monkeypatch.setattr(local, "memory_here", lambda: 1.0)
    X = changed(matrix("dense")[0], change) if name != "text" else None
    if X is None:
        X = changed(np.where(np.eye(83, 31) > 0, "no number", "1"), lambda part: part, dtype=object)
    with pytest.raises(error, match=said):
        NMF(**settings()).fit(X)


@pytest.mark.parametrize("kind", ["negative", "infinite", "nan"])
@pytest.mark.parametrize("sparse", [False, True])
def test_faults_are_named_by_the_row_of_x(kind, sparse):
    X = np.array(matrix("dense")[0])
    X[70, 4] = {"negative": -1.0, "infinite": np.inf, "nan": np.nan}[kind]
    D = in_blocks(sp.csr_array(X) if sparse else X, CUTS["17"])
    with pytest.raises(ValueError, match=r"X\[70, 4\]") as raised:
        NMF(**settings()).fit(D)
    assert "block 14 of X (rows 68 to 72)" in str(raised.value.__notes__)


def unsorted(X):
    X = sp.csr_matrix(X)
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[a:b] = X.indices[a:b][::-1].copy()
        X.data[a:b] = X.data[a:b][::-1].copy()
    X.has_sorted_indices = False
    return X


def doubled(X):
    X = sp.coo_matrix(X)
    rows, columns, data = (np.concatenate((a, a)) for a in (X.row, X.col, X.data / 2))
    return sp.coo_matrix((data, (rows, columns)), shape=X.shape)


SPARSE = {
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "bsr": sp.bsr_matrix,
    "unsorted": unsorted,
    "twice": doubled,
    "lil": sp.lil_array,
}


@pytest.mark.parametrize("missing", [None, "zero"])
@pytest.mark.parametrize("name", SPARSE)
def test_sparse_blocks_of_any_kind(name, missing):
    X, _ = matrix("sparse")
    edges = np.cumsum([0, *CUTS["5"]])
    meta = sp.csr_array((0, 0))
    parts = [
        da.from_delayed(
            dask.delayed(SPARSE[name](X[a:b]), traverse=False), (b - a, 31), float, meta=meta
        )
        for a, b in pairwise(edges)
    ]
    usual = settings(missing)
    check_same(NMF(**usual).fit(X), NMF(**usual).fit(da.concatenate(parts)))


@pytest.mark.parametrize("missing", [None, "zero"])
def test_stored_zeros_are_what_they_are_in_one_place(missing):
    X = sp.csr_array(matrix("sparse")[0])
    X.data[::3] = 0.0
    usual = settings(missing)
    check_same(NMF(**usual).fit(X), NMF(**usual).fit(in_blocks(X, CUTS["5"])))


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, np.float16])
@pytest.mark.parametrize("sparse", [False, True])
def test_numbers_of_any_kind(dtype, sparse):
    X = np.floor(3 * matrix("dense")[0]).astype(dtype)
    if sparse:
        if dtype == np.float16:
            pytest.skip("scipy has no such arrays")
        X = sp.csr_array(X)
    usual = settings(init="random", max_iter=3)
    one, two = (NMF(**usual).fit(data) for data in (X, in_blocks(X, CUTS["5"])))
    assert two.embedding_.dtype == one.embedding_.dtype
    apart = np.abs(np.asarray(two.embedding_) - one.embedding_).max()
    assert apart <= (1e-4 if dtype == np.float32 else 1e-9) * one.embedding_.max()


def test_empty_blocks_and_single_rows():
    X, _ = matrix("dense")
    check_same(NMF(**settings()).fit(X), NMF(**settings()).fit(in_blocks(X, (0, 1, 0, 81, 1, 0))))
    one = X[:1]
    usual = settings(n_components=1)
    both = [NMF(**usual).fit(data) for data in (one, in_blocks(one, (1,)))]
    assert np.allclose(*(np.asarray(model.embedding_) @ model.components_ for model in both))


@pytest.mark.parametrize("kind", ["nan", "zero"])
def test_a_block_without_any_entry(kind):
    X, missing = matrix(kind)
    X = X.toarray() if sp.issparse(X) else X
    X[33:49] = np.nan if missing == "nan" else 0.0
    usual = settings(missing)
    for sparse in (False, True) if missing == "zero" else (False,):
        data = sp.csr_array(X) if sparse else X
        check_same(NMF(**usual).fit(data), NMF(**usual).fit(in_blocks(data, CUTS["5"])))


def test_nothing_but_zeros():
    X = np.zeros((83, 31))
    errors = []
    for data in (X, in_blocks(X, CUTS["5"]), in_blocks(sp.csr_array(X), CUTS["5"])):
        try:
            model = NMF(**settings()).fit(data)
            errors.append(("", float(np.asarray(model.embedding_).max())))
        except ValueError as error:
            errors.append((str(error), 0.0))
    assert errors[0] == errors[1] == errors[2]


def test_no_rows_at_all():
    with pytest.raises(ValueError, match="0 sample"):
        NMF(**settings()).fit(da.zeros((0, 31), chunks=((0,), 31)))


def test_unknown_sizes_are_refused_by_transform_too():
    X, _ = matrix("dense")
    D = in_blocks(X, CUTS["5"])
    model = NMF(**settings()).fit(D)
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        model.transform(D[D[:, 0] > 0.5])
    with pytest.raises(ValueError, match="30 features"):
        model.transform(D[:, :30])


def test_frames_are_refused_by_name():
    pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    import pandas as pd

    D = frames.from_pandas(pd.DataFrame(matrix("dense")[0]), npartitions=3)
    for use in (NMF(**settings()).fit, NMF(**settings()).fit_transform):
        with pytest.raises(TypeError, match=r"to_dask_array\(lengths=True\)"):
            use(D)
