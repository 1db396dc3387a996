"""Workers that go and come, a scheduler that is gone, Ctrl-C, and too little memory."""

from __future__ import annotations

import gc
import os
import signal
import warnings
from contextlib import contextmanager

import dask
import numpy as np
import pytest

from rprnmf import NMF
from rprnmf.estimators.remote_fit import IN_A_ROW, WorkerLostWarning, fit_where_it_lies
from rprnmf.remote import BlocksLostError, local
from tests.remote.matrices import CUTS, check_same, in_blocks, matrix

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


def settings(missing=None, **more):
    plain = {"row_prior": None, "column_prior": None, "max_iter": 20}
    return {"n_components": 3, "missing": missing, "tol": 0.0, "random_state": 0} | plain | more


@contextmanager
def cluster_of(n_workers):
    """A client of workers in this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            silence_logs=50,
        )
        with cluster, distributed.Client(cluster) as client:
            yield client


def at(iteration, do):
    """A callback that does something once."""
    left = [iteration]

    def callback(state):
        if left and state.iteration >= left[0]:
            left.clear()
            do()

    return callback


def addresses(client):
    return sorted(client.nthreads())


def test_a_worker_retires():
    X, missing = matrix("zero")
    with cluster_of(3) as client:
        retire = at(8, lambda: client.retire_workers(addresses(client)[:1]))
        model = NMF(callback=retire, **settings(missing))
        with pytest.warns(WorkerLostWarning, match="saved last"):
            model.fit(in_blocks(X, CUTS["17"]))
        check_same(NMF(**settings(missing)).fit(X), model)


def test_all_workers_are_replaced():
    X, _ = matrix("dense")
    with cluster_of(2) as client:

        def replace():
            before = addresses(client)
            client.cluster.scale(4)
            client.wait_for_workers(4, timeout=60)
            client.retire_workers(before)

        with pytest.warns(WorkerLostWarning):
            model = NMF(callback=at(8, replace), **settings()).fit(in_blocks(X, CUTS["5"]))
        check_same(NMF(**settings()).fit(X), model)


def test_the_scheduler_is_gone(tmp_path):
    X, _ = matrix("dense")
    D, kept = in_blocks(X, CUTS["5"]), {"checkpoint": tmp_path / "run", "checkpoint_every": 0}
    with cluster_of(2) as client:
        gone = at(8, client.cluster.close)
        with pytest.raises(ConnectionError, match="the same call goes on"):
            NMF(callback=gone, **settings()).fit(D, **kept)
    seen = []
    with dask.config.set(scheduler="synchronous"):
        model = NMF(callback=lambda state: seen.append(state.iteration), **settings())
        model.fit(D, **kept)
        check_same(NMF(**settings()).fit(X), model)
    assert seen[0] == 8


def test_a_fit_that_loses_its_workers_again_and_again_is_given_up():
    D, calls = in_blocks(matrix("dense")[0], CUTS["5"]), []

    def fit(here, checkpoint):
        calls.append(here)
        raise BlocksLostError("workers are gone: tcp://one.")

    with cluster_of(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", WorkerLostWarning)
        with pytest.raises(
            BlocksLostError, match=r"tcp://one\. Workers were lost 4 times in a row"
        ):
            fit_where_it_lies(fit, D, None, None, 0, None)
    assert len(calls) == IN_A_ROW


READS: list[int] = []


def load(X, every=0, block_info=None):
    """A block; at each so many reads Ctrl-C is pressed."""
    start, stop = block_info[None]["array-location"][0]
    READS.append(start)
    if every and len(READS) == every:
        os.kill(os.getpid(), signal.SIGINT)
    return X[start:stop]


def loading(X, every=0):
    meta = np.empty((0, 0))
    return da.map_blocks(load, chunks=(CUTS["5"], (31,)), dtype=float, meta=meta, X=X, every=every)


@pytest.mark.parametrize("where", ["synchronous", "threads", "cluster"])
@pytest.mark.parametrize("every", [40, 51, 62, 73])
def test_an_interrupt_within_a_round_leaves_whole_factors(monkeypatch, where, every):
    from rprnmf.remote import cluster

    monkeypatch.setattr(local, "memory_here", lambda: 1.0)
    monkeypatch.setattr(cluster, "SHARE", 0.0)
    X, _ = matrix("dense")
    READS.clear()
    model = NMF(**settings(init="random"))
    with cluster_of(2), dask.config.set(scheduler="distributed" if where == "cluster" else where):
        with pytest.raises(KeyboardInterrupt, match="the fit was stopped after"):
            model.fit(loading(X, every))
        assert len(READS) % 5 == 0  # the round was ended
        check_same(NMF(**settings(init="random", max_iter=model.n_iter_)).fit(X), model)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("n_kept", [0, 2, 5])
def test_blocks_are_kept_as_far_as_memory_goes(monkeypatch, n_kept):
    X, _ = matrix("dense")
    weight = 17 * 31 * 8
    gc.collect()
    monkeypatch.setattr(local, "memory_here", lambda: (n_kept * weight + 1) / 0.4)
    assert local.HERE.held == 0
    READS.clear()
    with dask.config.set(scheduler="synchronous"):
        check_same(NMF(**settings()).fit(X), NMF(**settings()).fit(loading(X)))
    often = sum(READS.count(start) > 5 for start in set(READS))
    assert often == 5 - n_kept
    gc.collect()
    assert local.HERE.held == 0


def test_memory_of_other_fits_counts(monkeypatch):
    X, _ = matrix("dense")
    monkeypatch.setattr(local, "memory_here", lambda: 1.5 * X.nbytes / 0.4)
    READS.clear()
    inner = []

    def fit_another():
        READS.clear()
        inner.append(NMF(**settings()).fit(loading(X)))

    with dask.config.set(scheduler="synchronous"):
        NMF(callback=at(3, fit_another), **settings()).fit(loading(X))
    assert len(READS) > 3 * 20  # most blocks of the inner fit had no room
    assert len(inner) == 1


def test_what_is_said_of_a_block_is_not_what_counts():
    from rprnmf.remote.memory import weight_of

    X, _ = matrix("sparse")
    own = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    assert weight_of(X, "zero") > 1.5 * own  # a transpose beside it
    assert weight_of(X.tocsc(), "zero") > 2.0 * own  # and a copy
    dense, _ = matrix("nan")
    assert weight_of(dense, "nan") > 1.5 * dense.nbytes  # entries one by one, twice
    full = np.ones((5, 4))
    assert weight_of(full, "nan") == weight_of(full, None) == full.nbytes
    assert weight_of(full.astype(int), None) == 2 * full.nbytes
    assert weight_of(np.asfortranarray(full), None) == 2 * full.nbytes
