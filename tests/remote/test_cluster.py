"""Fits on a cluster of `distributed`, and workers that die."""

from __future__ import annotations

import os
import signal
import warnings

import numpy as np
import pytest

from rprnmf import NMF, RPRNMF
from rprnmf.estimators.remote_fit import WorkerLostWarning
from tests.remote.matrices import CUTS, SIDES, check_same, in_blocks, matrix

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """Two worker processes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        )
        with cluster, distributed.Client(cluster) as client:
            yield client


def settings(missing, **more):
    plain = {"row_prior": None, "column_prior": None}
    return {"n_components": 3, "missing": missing, "tol": 0.0, "random_state": 0} | plain | more


@pytest.mark.parametrize("kind", ["dense", "zero"])
def test_the_same_result(client, kind):
    X, missing = matrix(kind)
    usual = settings(missing, max_iter=8)
    one, two = (RPRNMF(**usual).fit(data, **SIDES["rows"]) for data in (X, in_blocks(X, CUTS["5"])))
    check_same(one, two)
    new = two.transform(in_blocks(X, CUTS["5"])).compute()
    assert np.allclose(new, one.transform(X), rtol=1e-8, atol=1e-10)


def test_blocks_that_are_on_the_cluster_already(client):
    X, missing = matrix("dense")
    usual = settings(missing, max_iter=4)
    D = in_blocks(X, CUTS["5"]).persist()
    check_same(NMF(**usual).fit(X), NMF(**usual).fit(D))


@pytest.mark.parametrize("kept", [False, True])
def test_weights_of_entries(client, kept):
    X, missing = matrix("zero")
    C = X.copy()
    C.data = np.random.default_rng(1).choice([0.3, 1.0, 2.5], X.nnz)
    usual = settings(missing, max_iter=4, missing_weight=0.1)
    blocks = [in_blocks(each, CUTS["5"]) for each in (X, C)]
    if kept:
        blocks = [each.persist() for each in blocks]
    two = NMF(**usual).fit(blocks[0], entry_weights=blocks[1])
    check_same(NMF(**usual).fit(X, entry_weights=C), two)


def test_nothing_is_left_on_the_workers(client):
    from rprnmf.remote.rooms import ROOMS

    X, _ = matrix("dense")
    model = NMF(**settings(None, max_iter=12)).fit(in_blocks(X, CUTS["5"]))
    del model

    def kept():
        return len(ROOMS)

    for _ in range(50):
        left = sum(client.run(kept).values())
        if not left:
            break
        client.run(lambda: __import__("time").sleep(0.05))
    assert left == 0


@pytest.mark.parametrize("number", [1, 2])
def test_workers_die(client, number):
    X, missing = matrix("zero")
    client.wait_for_workers(1, timeout=60)
    usual = settings(missing, max_iter=25)
    expected = NMF(**usual).fit(X)
    killed = []

    def kill(state):
        if state.iteration == 13 and not killed:
            killed.extend(sorted(client.run(os.getpid).values())[:number])
            for process in killed:
                os.kill(process, signal.SIGKILL)

    with pytest.warns(WorkerLostWarning, match="goes on from what was saved last"):
        model = NMF(callback=kill, **usual).fit(in_blocks(X, CUTS["5"]))
    assert killed
    check_same(expected, model)
