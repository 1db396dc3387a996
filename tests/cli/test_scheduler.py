"""``--scheduler``: the same results where Dask does the work, and schedulers that are gone."""

from __future__ import annotations

import logging
import operator
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf import load
from rprnmf.cli.command import Run
from rprnmf.cli.scheduler import scheduled
from rprnmf.inputs import read_matrix, write_matrix
from tests.checkpoints.test_kill import iterations
from tests.cli.running import run_program

ROOT = Path(__file__).parents[2]

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

    def __init__(self, folder, protocol="tcp", settings=()):
        self.folder, self.running, self.settings = folder, [], settings
        self.address = f"{protocol}://127.0.0.1:{free_port()}"

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
        protocol = ["--protocol", self.address.partition(":")[0]]
        return self.start("scheduler", *protocol, *where, *self.settings)

    def start_worker(self):
        where = ["--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard", "--no-nanny"]
        return self.start("worker", self.address, *where, *self.settings, "--death-timeout", "60")

    def begin(self):
        """Both, which are there when this returns."""
        from distributed import Client

        self.start_scheduler()
        self.start_worker()
        with Client(self.address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)

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
        found.begin()
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


N, M = 60, 12
ROWS, COLUMNS = [f"r{k}" for k in range(N)], [f"c{j}" for j in range(M)]
FIT = ("-k", "3", "--max-iter", "12", "--tol", "0", "--quiet")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same matrix as table, .npy, shards, Parquet and Zarr; with holes; and comparisons."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, 1.0, (N, 3)) @ rng.gamma(1.0, 1.0, (3, M)) * rng.uniform(0.8, 1.2, (N, M))
    S = sp.csr_array(X * (rng.random((N, M)) < 0.5))
    write_matrix(folder / "X.csv", X, ROWS, COLUMNS)
    write_matrix(folder / "X.npy", X)
    write_matrix(folder / "S.npz", S, ROWS, COLUMNS)
    for kind, suffix, array in (("dense", ".parquet", X), ("sparse", ".npz", S)):
        (folder / kind).mkdir()
        for number, part in enumerate((slice(0, 25), slice(25, 31), slice(31, N))):
            write_matrix(folder / kind / f"{number}{suffix}", array[part], ROWS[part], COLUMNS)
    (folder / "triplets.csv").write_text("q,r,s\nr0,r1,r2\nr3,r40,r5\nr50,r7,r59\n")
    zarr = pytest.importorskip("zarr")
    zarr.create_array(folder / "X.zarr", shape=X.shape, chunks=(7, 5), dtype=X.dtype)[:] = X
    return folder


def check_same(one, two, most=1e-9):
    """Two models in files agree to rounding, with their names."""
    one, two = load(one), load(two)
    W = np.asarray(two.embedding_)
    assert np.abs(W - one.embedding_).max() <= most * one.embedding_.max()
    assert np.abs(two.components_ - one.components_).max() <= most * one.components_.max()
    assert two.n_iter_ == one.n_iter_
    for side in ("row", "column"):
        known, found = (getattr(model, f"{side}_names_") for model in (one, two))
        assert (found is None) == (known is None)
        assert found is None or list(found) == list(known)


CASES = {
    "parquet": ("X.csv", ["dense"], ["--row-triplets", "triplets.csv"]),
    "npz": ("S.npz", ["sparse"], ["--missing", "zero", "--column-strength", "1"]),
    "sparse": ("S.npz", ["sparse/0.npz", "sparse/1.npz", "sparse/2.npz"], []),
    "zarr": ("X.npy", ["X.zarr"], ["--loss", "kullback-leibler", "--solver", "mu"]),
    "csv": ("X.csv", ["X.csv"], ["--blocks", "13", "--row-triplets", "triplets.csv"]),
    "npy": ("X.npy", ["X.npy"], ["--blocks", "20"]),
}


def fit_both(call, files, out, name, *where):
    """Fit a case in memory and in blocks; the reports."""
    memory, blocks, more = CASES[name]
    more = [files / each if each == "triplets.csv" else each for each in more]
    found = []
    for way, data, at in (("one", [memory], ()), ("two", blocks, where)):
        options = [each for each in more if way == "two" or each != "--blocks"]
        if way == "one" and "--blocks" in more:
            options.remove(more[more.index("--blocks") + 1])
        paths = [files / each for each in data]
        to = ["--out", out / f"{way}.rprnmf", "--json"]
        code, report, err = call("fit", *paths, *FIT, *options, *at, *to)
        assert code == 0, err
        found.append(report)
    check_same(out / "one.rprnmf", out / "two.rprnmf")
    return found


@pytest.mark.parametrize("name", list(CASES))
def test_threads_fit_as_in_memory(name, call, files, tmp_path):
    one, two = fit_both(call, files, tmp_path, name, "--scheduler", "threads")
    for key in ("rows", "columns", "components", "iterations"):
        assert one[key] == two[key]
    for key in ("rmse", "reconstruction_err"):
        assert two[key] == pytest.approx(one[key], rel=1e-9)
    assert one["unmet"] == two["unmet"] or len(one["unmet"]) == len(two["unmet"])
    assert (tmp_path / "two.rprnmf.rows").is_dir()


@pytest.mark.parametrize("name", ["parquet", "npz", "zarr", "csv"])
def test_a_cluster_fits_as_in_memory(name, call, files, cluster, tmp_path):
    fit_both(call, files, tmp_path, name, "--scheduler", cluster.address)


def test_processes_of_this_machine(files, tmp_path):
    """As a program, because they begin as it did."""
    one, two = tmp_path / "one.rprnmf", tmp_path / "two.rprnmf"
    for data, out, more in (("X.npy", one, ()), ("X.zarr", two, ("--scheduler", "local"))):
        done = run_program("fit", files / data, *FIT, "--jobs", "1", *more, "--out", out)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    check_same(one, two)


@pytest.mark.parametrize("name", ["sparse", "zarr"])
def test_shards_need_no_scheduler(name, call, files, tmp_path):
    fit_both(call, files, tmp_path, name)


def test_a_pattern(call, files, tmp_path):
    out = tmp_path / "model.rprnmf"
    code, report, _ = call("fit", f"{files}/dense/*.parquet", "-k", "2", "--out", out, "--json")
    assert code == 0
    assert any("3 files (0.parquet, ...): 60 rows x 12 columns" in n for n in report["notes"])
    code, _, err = call("fit", f"{files}/dense/*.npz", "-k", "2", "--out", out)
    assert code == 1
    assert "there is no file with such a name" in err


@pytest.fixture(scope="module")
def models(files):
    """One model, fitted in memory and in blocks."""
    from rprnmf.cli import main

    for name, data in (("memory", "X.csv"), ("blocks", "dense")):
        arguments = ["fit", files / data, *FIT, "--row-triplets", files / "triplets.csv"]
        assert main([str(each) for each in (*arguments, "--out", files / f"{name}.rprnmf")]) == 0
    return files


@pytest.mark.parametrize("kind", ["memory", "blocks"])
@pytest.mark.parametrize("where", ["threads", "cluster"])
def test_transform(kind, where, call, models, cluster, tmp_path):
    at = cluster.address if where == "cluster" else where
    call("transform", models / "memory.rprnmf", models / "X.csv", "--out", tmp_path / "W.csv")
    expected = read_matrix(tmp_path / "W.csv")
    for suffix in ("csv", "npy", "npz", "parquet"):
        out = tmp_path / f"W2.{suffix}"
        model = models / f"{kind}.rprnmf"
        code, report, err = call(
            "transform", model, models / "dense", "--scheduler", at, "--out", out, "--json"
        )
        assert code == 0, err
        assert report["rows"] == N
        found = read_matrix(out)
        assert np.allclose(found.X, expected.X, rtol=1e-6, atol=1e-8)
        if suffix != "npy":
            assert found.row_names.tolist() == ROWS
            assert found.column_names.tolist() == expected.column_names.tolist()


def test_the_factor_of_a_fit_in_blocks(call, models, tmp_path):
    found = []
    for kind in ("memory", "blocks"):
        out = tmp_path / f"{kind}.npy"
        assert call("transform", models / f"{kind}.rprnmf", "--out", out)[0] == 0
        found.append(np.load(out))
    assert np.allclose(*found, rtol=1e-9)


MEASURES = ("entries", "rmse", "loss", "relative_error", "row_triplets", "row_satisfied_rate")


@pytest.mark.parametrize("kind", ["memory", "blocks"])
@pytest.mark.parametrize("where", ["threads", "cluster"])
def test_evaluate(kind, where, call, models, cluster):
    at = cluster.address if where == "cluster" else where
    model = models / f"{kind}.rprnmf"
    _, expected, _ = call("evaluate", models / "memory.rprnmf", models / "X.csv", "--json")
    code, found, err = call("evaluate", model, models / "dense", "--scheduler", at, "--json")
    assert code == 0, err
    for key in MEASURES:
        assert found[key] == pytest.approx(expected[key], rel=1e-9)


@pytest.mark.parametrize("kind", ["memory", "blocks"])
def test_evaluate_other_rows_in_another_order(kind, call, models, tmp_path):
    """Rows that the model knows, in another order, and new ones; columns in another order."""
    X = read_matrix(models / "X.csv").X
    rng = np.random.default_rng(1)
    order, columns = rng.permutation(N), rng.permutation(M)
    names = [f"new {k}" if k % 5 == 0 else ROWS[k] for k in order]
    others = X[order][:, columns], names, [COLUMNS[j] for j in columns]
    write_matrix(tmp_path / "Y.csv", *others)
    (tmp_path / "parts").mkdir()
    for number, part in enumerate((slice(0, 17), slice(17, N))):
        write_matrix(tmp_path / "parts" / f"{number}.npz", others[0][part], names[part], others[2])
    _, expected, err = call("evaluate", models / "memory.rprnmf", tmp_path / "Y.csv", "--json")
    code, found, err = call("evaluate", models / f"{kind}.rprnmf", tmp_path / "parts", "--json")
    assert code == 0, err
    for key in MEASURES:
        assert found[key] == pytest.approx(expected[key], rel=1e-6)
    assert any("12 rows of 60: new to the model" in note for note in found["notes"])


def test_evaluate_makes_no_product_of_the_shape_of_X(call, tmp_path):
    """200,000 columns, 300 rows: dense they would take 480 MB in one piece."""
    import tracemalloc

    rng = np.random.default_rng(0)
    n, m = 300, 200_000
    S = sp.random_array((n, m), density=1e-4, rng=rng, format="csr")
    for number, part in enumerate((slice(0, 150), slice(150, n))):
        sp.save_npz(tmp_path / f"{number}.npz", S[part])
    out = tmp_path / "model.rprnmf"
    arguments = ["-k", "2", "--max-iter", "2", "--quiet", "--out", out]
    assert call("fit", f"{tmp_path}/*.npz", *arguments)[0] == 0
    tracemalloc.start()
    try:
        assert call("evaluate", out, f"{tmp_path}/*.npz")[0] == 0
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()


def test_info_of_a_model_in_blocks(call, models):
    code, found, err = call("info", models / "blocks.rprnmf", "--json")
    assert code == 0, err
    assert (found["rows"], found["columns"], found["blocks"]) == (N, M, 3)


def test_info_of_a_scheduler(call, models, cluster):
    code, found, err = call("info", "--scheduler", cluster.address, "--json")
    assert code == 0, err
    assert (found["workers"], found["threads"]) == (1, 1)
    code, out, err = call("info", models / "memory.rprnmf", "--scheduler", "threads")
    assert code == 0, err
    assert "threads of this process" in out
    assert "60 x 12" in out
    assert call("info")[0] == 2


def test_errors_of_files_are_told(call, files, cluster, tmp_path):
    """What is wrong inside a file shows on a worker, and is told with its place."""
    X = np.ones((4, 3))
    np.save(tmp_path / "a.npy", X)
    X[1, 2] = -1
    np.save(tmp_path / "b.npy", X)
    for at in ("threads", cluster.address):
        code, _, err = call("fit", tmp_path, "-k", "2", "--scheduler", at, "--quiet")
        assert code == 1
        assert "b.npy: the array[1, 2] (counted from 0): expected a number of at least 0" in err
        assert "Traceback" not in err


def test_nobody_is_there(files, tmp_path):
    address = f"tcp://127.0.0.1:{free_port()}"
    done = run_program("fit", files / "X.zarr", "--scheduler", address, "--quiet")
    assert done.returncode == 1
    assert done.stderr.startswith(f"rprnmf fit: no Dask scheduler answers at {address}")
    assert done.stderr.count("\n") == 1
    done = run_program("fit", files / "X.zarr", "--scheduler", "nowhere")
    assert done.returncode == 2
    assert "expected local, threads or an address" in done.stderr


def test_checkpoint_every_needs_a_file(call, files):
    code, _, err = call("fit", files / "X.npy", "--checkpoint-every", "1")
    assert code == 2
    assert "--checkpoint-every goes with --checkpoint FILE" in err


@pytest.fixture
def doomed(tmp_path_factory):
    """A scheduler and a worker that a test may kill."""
    found = Processes(tmp_path_factory.mktemp("doomed"))
    try:
        found.begin()
        yield found
    finally:
        found.stop()


def test_the_scheduler_is_killed(call, files, doomed, tmp_path, monkeypatch):
    """A clear error, a good checkpoint, and the same command goes on from it."""
    from rprnmf.solvers.recording import Recording

    one, two, kept = (tmp_path / name for name in ("one.rprnmf", "two.rprnmf", "run.ckpt"))
    usual = ["-k", "3", "--max-iter", "30", "--tol", "0", "--quiet"]
    assert call("fit", files / "X.npy", *usual, "--out", one)[0] == 0
    same = [*usual, "--scheduler", doomed.address, "--checkpoint", kept, "--checkpoint-every", "0"]
    same = ["fit", files / "X.zarr", "--blocks", "28", *same, "--out", two]
    command = [sys.executable, "-m", "rprnmf", *map(str, same)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            while not kept.exists() or iterations(kept) < 3:
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.02)
            doomed.running[0].kill()
            _, err = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 1
    assert err == (
        f"rprnmf fit: the Dask scheduler at {doomed.address} does not answer any more. When it is "
        f"back the same command goes on from {kept}.\n"
    )
    assert not two.exists()
    assert 0 < iterations(kept) < 30
    doomed.stop()
    doomed.begin()
    resumed = []
    resume = Recording._resume
    monkeypatch.setattr(
        Recording, "_resume", lambda self, values: resumed.append(1) or resume(self, values)
    )
    code, _, err = call(*same)
    assert code == 0, err
    assert resumed
    check_same(one, two, 1e-7)


def test_the_example(cluster, tmp_path):
    command = [sys.executable, ROOT / "examples" / "two_shells.py", "--folder", tmp_path / "files"]
    done = subprocess.run(
        [*command, "--scheduler", cluster.address], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    apart = re.search(r"Largest difference of the two W: (\S+) of the largest", done.stdout)
    assert float(apart[1]) < 1e-9
    assert read_matrix(tmp_path / "files" / "W.parquet").X.shape == (3000, 3)


def test_the_example_and_the_page_start_the_same_cluster():
    page = (ROOT / "docs" / "dask.md").read_text()
    example = (ROOT / "examples" / "two_shells.py").read_text()
    commands = re.findall(r"^    (dask .*?)(?: &)?$", example, re.MULTILINE)
    assert len(commands) == 2
    assert all(f"    {command}" in page for command in commands)
    assert "python examples/two_shells.py" in page


@pytest.mark.skipif(shutil.which("openssl") is None, reason="it makes the certificate")
def test_tls_by_dask_s_configuration(call, files, tmp_path):
    """Who has the certificate gets in, others get a sentence."""
    import dask

    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    made += ["-keyout", key, "-out", certificate, "-days", "2"]
    subprocess.run(made, check=True, capture_output=True)
    given = ["--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key]
    secure = Processes(tmp_path, "tls", list(map(str, given)))
    fit = ["fit", files / "X.zarr", "-k", "2", "--scheduler", secure.address, "--quiet"]
    tls = {"ca-file": certificate, "client.cert": certificate, "client.key": key}
    tls = {f"distributed.comm.tls.{name}": str(path) for name, path in tls.items()}
    try:
        with dask.config.set(tls):
            secure.begin()
            code, _, err = call(*fit)
            assert code == 0, err
        code, _, err = call(*fit)
        assert code == 1
        assert f"no Dask scheduler answers at {secure.address}" in err
        assert "Certificates are set in Dask's configuration, distributed.comm.tls" in err
    finally:
        secure.stop()


@pytest.mark.skipif(sys.platform == "win32", reason="it has other signals")
def test_ctrl_c_does_not_reach_the_workers(files, tmp_path):
    """A terminal sends it to all processes: only the program is to stop, and keeps what it has."""
    kept, out = tmp_path / "run.ckpt", tmp_path / "model.rprnmf"
    command = ["fit", files / "X.zarr", "-k", "2", "--tol", "0", "--max-iter", "100000", "--jobs"]
    command += ["1", "--scheduler", "local", "--checkpoint", kept, "--checkpoint-every", "0"]
    command = [sys.executable, "-m", "rprnmf", *map(str, command), "--quiet", "--out", str(out)]
    with subprocess.Popen(command, stderr=-1, text=True, start_new_session=True) as process:
        try:
            while not kept.exists() or iterations(kept) < 3:
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.02)
            os.killpg(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=120)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert "rprnmf fit was stopped." in err
    assert "Traceback" not in err
    assert load(out).n_iter_ >= 3
