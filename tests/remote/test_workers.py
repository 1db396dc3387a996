"""What workers keep, whose it is, and what becomes of errors."""

from __future__ import annotations

import threading
import time
import warnings

import numpy as np
import pytest

from rprnmf import NMF, RPRNMF
from tests.remote.matrices import CUTS, SIDES, check_same, in_blocks, matrix

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """Two workers in this process, with two threads each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=2,
            processes=False,
            dashboard_address=None,
            silence_logs=50,
        )
        with cluster, distributed.Client(cluster) as client:
            yield client


def settings(missing=None, **more):
    plain = {"row_prior": None, "column_prior": None, "max_iter": 7}
    return {"n_components": 3, "missing": missing, "tol": 0.0, "random_state": 0} | plain | more


def rooms_left(seconds=5.0):
    """What is left in rooms, after a while if need be."""
    from rprnmf.remote.rooms import ROOMS

    ends = time.monotonic() + seconds
    while ROOMS and time.monotonic() < ends:
        time.sleep(0.02)
    return len(ROOMS)


@pytest.mark.parametrize("kind", ["dense", "zero"])
def test_two_workers_in_one_process(client, kind):
    X, missing = matrix(kind)
    usual = settings(missing)
    one, two = (RPRNMF(**usual).fit(data, **SIDES["rows"]) for data in (X, in_blocks(X, CUTS["5"])))
    check_same(one, two)
    assert rooms_left() == 0


def test_two_fits_at_the_same_time(client):
    X, _ = matrix("dense")
    D = in_blocks(X, CUTS["5"])
    expected = [NMF(**settings(random_state=seed)).fit(X) for seed in range(2)]
    found = [NMF(**settings(random_state=seed)) for seed in range(2)]
    threads = [threading.Thread(target=model.fit, args=(D,)) for model in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, two in zip(expected, found, strict=True):
        check_same(one, two)
    assert rooms_left() == 0


def test_another_client_that_is_gone_leaves_nothing(client):
    from rprnmf.remote.cluster import ClusterPool
    from rprnmf.remote.rooms import ROOMS

    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        pool = ClusterPool(other, [4, 5])
        assert len(ROOMS) == 2
    assert rooms_left() == 0
    assert pool.n_blocks == 2  # the pool itself was there all the time


READS: list[int] = []


def load(X, bad=None, block_info=None):
    """A block of a matrix; ``bad`` is one that cannot be read, and why."""
    place = block_info[None]
    number, (start, stop) = place["chunk-location"][0], place["array-location"][0]
    READS.append(number)
    if bad is not None and number == bad[0]:
        raise bad[1]
    return X[start:stop]


def loading(X, bad=None):
    """A Dask array that is read where it is needed."""
    meta = np.empty((0, 0))
    chunks = (CUTS["5"], (31,))
    return da.map_blocks(load, chunks=chunks, dtype=float, meta=meta, X=X, bad=bad)


ERRORS = [
    OSError(5, "the disk is gone"),
    TimeoutError("the store does not answer"),
    ValueError("not a number"),
    ConnectionError("no network"),
    MemoryError(),
    KeyError("zarr"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("where", ["cluster", "here"])
def test_errors_of_a_loader_arrive_as_they_are(client, error, where):
    import dask

    D = loading(matrix("dense")[0], (3, error))
    READS.clear()
    scheduler = "distributed" if where == "cluster" else "threads"
    with dask.config.set(scheduler=scheduler), pytest.raises(type(error)) as raised:
        NMF(**settings()).fit(D)
    assert type(raised.value) is type(error)
    assert raised.value.args == error.args
    assert "block 3 of X (rows 49 to 65)" in " ".join(raised.value.__notes__)
    assert READS.count(3) == 1
    assert rooms_left() == 0
