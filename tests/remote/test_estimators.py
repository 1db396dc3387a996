"""What users see of a fit whose X is a Dask array."""

from __future__ import annotations

import builtins
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import rprnmf
from rprnmf import GNMF, LCNMF, NMF, RPRNMF
from rprnmf.array_file import FileFormatError
from rprnmf.remote import ChunkWarning
from tests.remote.matrices import CUTS, SIDES, N, check_same, in_blocks, matrix

da = pytest.importorskip("dask.array")


def settings(missing=None, **more):
    return {
        "n_components": 3,
        "missing": missing,
        "max_iter": 6,
        "tol": 0.0,
        "random_state": 0,
        "row_prior": None,
        "column_prior": None,
    } | more


@pytest.fixture(autouse=True)
def one_after_the_other():
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


def test_embedding_and_transform_are_aligned_with_x():
    X, missing = matrix("zero")
    D = in_blocks(X, CUTS["5"])
    model = NMF(**settings(missing))
    W = model.fit_transform(D)
    assert W.chunks[0] == D.chunks[0]
    new = model.transform(D)
    assert isinstance(new, da.Array)
    assert new.chunks == W.chunks
    one = NMF(**settings(missing)).fit(X)
    assert np.allclose(new.compute(), one.transform(X), rtol=1e-9, atol=1e-12)
    assert np.allclose(model.reconstruction_err_, one.reconstruction_err_)


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_schedulers(scheduler):
    import dask

    X, _ = matrix("dense")
    with dask.config.set(scheduler=scheduler):
        check_same(NMF(**settings()).fit(X), NMF(**settings()).fit(in_blocks(X, CUTS["5"])))


def test_triplets_are_reported():
    X, _ = matrix("dense")
    one, two = (
        RPRNMF(**settings()).fit(data, **SIDES["both"]) for data in (X, in_blocks(X, CUTS["5"]))
    )
    assert two.row_satisfied_rate_ == one.row_satisfied_rate_
    assert np.array_equal(two.row_unmet_, one.row_unmet_)
    assert str(two.triplet_report()) == str(one.triplet_report())
    asked = SIDES["rows"]["row_triplets"]
    assert np.allclose(two.predict_triplets(asked), one.predict_triplets(asked))
    assert two.score_triplets(asked) == one.score_triplets(asked)


def test_pieces_by_columns_are_rechunked_with_a_warning():
    X, _ = matrix("dense")
    D = da.from_array(X, chunks=(40, 10))
    with pytest.warns(ChunkWarning, match=r"4 pieces by columns; .*GB between workers"):
        two = NMF(**settings()).fit(D)
    check_same(NMF(**settings()).fit(X), two)
    assert two.embedding_.chunks[0] == D.chunks[0]


@pytest.mark.parametrize("kind", ["dense", "nan"])
def test_saved_in_shards(tmp_path, kind):
    X, missing = matrix(kind)
    model = NMF(**settings(missing, row_prior="auto")).fit(in_blocks(X, CUTS["5"]))
    path = tmp_path / "model.rprnmf"
    rprnmf.save(model, path)
    shards = tmp_path / "model.rprnmf.rows"
    n_arrays = 1 if model.prior_[0] is None else 3
    assert len(list(shards.iterdir())) == 5 * n_arrays
    rprnmf.save(model, path)  # again: the old blocks go
    assert len(list(shards.iterdir())) == 5 * n_arrays
    again = rprnmf.load(path)
    assert again.embedding_.chunks == model.embedding_.chunks
    assert np.array_equal(again.embedding_.compute(), model.embedding_.compute())
    assert np.array_equal(again.transform(X), model.transform(X))
    shard = next(iter(sorted(shards.iterdir())))
    content = bytearray(shard.read_bytes())
    content[-1] ^= 1
    shard.write_bytes(content)
    arrays = [again.embedding_, *vars(again.prior_[0] or again).values()]
    with pytest.raises(FileFormatError):
        da.compute(*(array for array in arrays if isinstance(array, da.Array)))


class StopError(Exception):
    """Ends a fit."""


def test_checkpoint(tmp_path):
    X, missing = matrix("zero")
    D, path = in_blocks(X, CUTS["2"]), tmp_path / "run.ckpt"
    usual = settings(missing, max_iter=14)

    def stop(state):
        if state.iteration == 8:
            raise StopError

    kept = {"checkpoint": path, "checkpoint_every": 0}
    with pytest.raises(StopError):
        NMF(callback=stop, **usual).fit(D, **kept)
    assert Path(f"{path}.rows").is_dir()
    seen = []
    model = NMF(callback=lambda state: seen.append(state.iteration), **usual).fit(D, **kept)
    assert seen[0] == 8
    check_same(NMF(**usual).fit(X), model)
    with pytest.raises(ValueError, match="of another fit"):
        NMF(**usual).fit(in_blocks(2 * X, CUTS["2"]), **kept)


@pytest.mark.parametrize(
    ("estimator", "more", "given", "said"),
    [
        (NMF, {"solver": "paper"}, {}, "'paper' needs X in one place"),
        (NMF, {"beta_loss": 0.5}, {}, "solver 'cd' does not handle beta_loss = 0.5"),
        (NMF, {"init": "nndsvdar"}, {}, "'nndsvdar' is not made for"),
        (GNMF, {"row_graph": "knn"}, {}, "row_graph='knn' compares all rows"),
        (LCNMF, {"missing": "zero", "missing_weight": 0.1}, {"y": [-1] * N}, "labels of rows"),
        (NMF, {}, {"update_H": False, "H": np.ones((3, 31))}, "update_H=False cannot be given"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(estimator, more, given, said):
    X, _ = matrix("dense")
    model = estimator(**settings(**more))
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match=said):
        model.fit(in_blocks(X, CUTS["2"]), **given)
    assert model.__dict__ == before


def test_settings_are_refused_before_x_is_read():
    def block(block_info=None):
        raise AssertionError("X is read")

    D = da.map_blocks(block, chunks=(CUTS["5"], (31,)), dtype=float, meta=np.empty((0, 0)))
    for more in ({"solver": "paper"}, {"init": "nndsvdar"}):
        with pytest.raises(ValueError, match=r"in one place|lies in blocks"):
            NMF(**settings(**more)).fit(D)
    with pytest.raises(ValueError, match="compares all columns"):
        GNMF(**settings(column_graph="cosine")).fit(D)
    with pytest.raises(ValueError, match="update_H=False cannot be given"):
        NMF(**settings()).fit(D, update_H=False, H=np.ones((3, 31)))


def test_faults_of_the_data_name_the_block():
    X, _ = matrix("dense")
    X[50, 3] = -1.0
    with pytest.raises(ValueError, match=r"rows from 41 on: Negative values"):
        NMF(**settings()).fit(in_blocks(X, CUTS["2"]))
    X[50, 3] = np.nan
    with pytest.raises(ValueError, match=r"rows from 41 on: Input X contains NaN"):
        NMF(**settings()).fit(in_blocks(X, CUTS["2"]))


def test_unknown_chunks_are_refused():
    X, _ = matrix("dense")
    D = da.from_array(X, chunks=(40, 31))
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        NMF(**settings()).fit(D[D[:, 0] > 0])


class LooksLikeDask:
    """An array of blocks from elsewhere."""

    chunks, shape, ndim = ((2, 2), (3,)), (4, 3), 2

    def __dask_graph__(self):
        return {}


def test_without_dask_the_extra_is_named(monkeypatch):
    plain = builtins.__import__

    def without(name, *arguments, **options):
        if name.partition(".")[0] in ("dask", "distributed"):
            raise ImportError(name)
        return plain(name, *arguments, **options)

    X = sp.csr_array(np.eye(4))
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'rprnmf\[dask\]'"):
        NMF(2).fit(LooksLikeDask())
    assert NMF(2, max_iter=2, tol=0).fit(X).embedding_.shape == (4, 2)


def test_larger_than_memory_is_read_anew(monkeypatch):
    from rprnmf.remote import local

    monkeypatch.setattr(local, "memory_here", lambda: 1.0)
    X, _ = matrix("dense")
    reads = []

    def block(block_info=None):
        where = block_info[None]["array-location"][0]
        reads.append(where)
        return X[where[0] : where[1]]

    D = da.map_blocks(block, chunks=(CUTS["5"], (31,)), dtype=float, meta=np.empty((0, 0)))
    check_same(NMF(**settings()).fit(X), NMF(**settings()).fit(D))
    assert len(reads) > 5 * 6  # in every iteration
