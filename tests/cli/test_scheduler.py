"""``--scheduler``: the same results where Dask does the work, and schedulers that are gone."""

from __future__ import annotations

import logging
import operator
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

from rprnmf.cli.command import Run
from rprnmf.cli.scheduler import scheduled

pytest.importorskip("distributed")


def free_port():
    """A port of this machine that nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def options(scheduler, **more):
    return SimpleNamespace(scheduler=scheduler, run=Run(), **more)


class Processes:
    """``dask scheduler`` and ``dask worker`` as processes."""

    def __init__(self, folder):
        self.folder, self.running = folder, []
        self.address = f"tcp://127.0.0.1:{free_port()}"

    def start(self, *arguments):
        command = [sys.executable, "-m", "dask", *arguments]
        log = (self.folder / f"{arguments[0]}.log").open("ab")
        with log:
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        self.running.append(process)
        return process

    def start_scheduler(self):
        port = self.address.rpartition(":")[2]
        where = ["--host", "127.0.0.1", "--port", port, "--dashboard-address", "127.0.0.1:0"]
        return self.start("scheduler", *where)

    def start_worker(self):
        where = ["--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard", "--no-nanny"]
        return self.start("worker", self.address, *where, "--death-timeout", "20")

    def stop(self):
        for process in self.running:
            process.kill()
        for process in self.running:
            process.wait(10)
        self.running.clear()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A scheduler and a worker, as in two shells."""
    found = Processes(tmp_path_factory.mktemp("cluster"))
    try:
        found.start_scheduler()
        found.start_worker()
        yield found
    finally:
        found.stop()


def test_no_scheduler_no_dask():
    with scheduled(options(None)) as client:
        assert client is None


@pytest.mark.parametrize("given", ["threads", None])
def test_threads(given):
    import dask

    from rprnmf.remote.placing import active_client

    with scheduled(options(given), needed=True) as client:
        assert client is None
        assert dask.config.get("scheduler") == "threads"
        assert active_client() is None
    assert dask.config.get("scheduler", None) is None


def test_an_address(cluster):
    from rprnmf.remote.placing import active_client

    with scheduled(options(cluster.address)) as client:
        assert active_client() is client
        assert client.submit(operator.add, 1, 2).result() == 3
    assert active_client() is None
    assert logging.getLogger("distributed.client").level != logging.CRITICAL + 1


def test_workers_of_this_machine():
    with scheduled(options("local", jobs=1)) as client:
        assert client.scheduler.address.startswith("tcp://127.0.0.1:")
        about = client.scheduler_info(n_workers=-1)
        assert all(worker.startswith("tcp://127.0.0.1:") for worker in about["workers"])
        assert sum(client.nthreads().values()) == 1


def test_nobody_answers():
    address = f"tcp://127.0.0.1:{free_port()}"
    with (
        pytest.raises(ConnectionError, match=f"no Dask scheduler answers at {address} within 5"),
        scheduled(options(address)),
    ):
        raise AssertionError("not reached")


def test_an_address_that_is_none():
    from click import BadParameter

    from rprnmf.cli.scheduler import SchedulerName

    for wrong in ("somewhere", "tcp://", "process", "tcp://host"):
        with pytest.raises(BadParameter, match="expected local, threads or an address"):
            SchedulerName().convert(wrong, None, None)
    for right in ("local", "threads", "tcp://10.0.0.1:8786", "tls://head:8786", "head:8786"):
        assert SchedulerName().convert(right, None, None) == right


@pytest.mark.parametrize(
    ("absent", "scheduler"), [("dask.array", "threads"), ("distributed", "local")]
)
def test_without_dask(monkeypatch, absent, scheduler):
    monkeypatch.setitem(sys.modules, absent, None)
    with (
        pytest.raises(ImportError, match=r"pip install 'rprnmf\[dask\]'"),
        scheduled(options(scheduler)),
    ):
        raise AssertionError("not reached")
