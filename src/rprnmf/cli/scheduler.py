"""Where the work is done: in this process, on Dask's threads, or on the workers of a scheduler.

`scheduled` opens what ``--scheduler`` names. Inside it Dask arrays are computed there. TLS is set
in Dask's configuration (``distributed.comm.tls``), as for all clients of Dask.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from rprnmf.cli.signals import ctrl_c_ignored

LOCAL, THREADS = "local", "threads"
ADDRESS = re.compile(r"(\w+://)?(\[[0-9a-fA-F:.]+\]|[^\s:/]+):\d+")
HERE = "127.0.0.1"
PATIENCE = 5.0  # seconds that a scheduler may take to answer
COMING = 10.0  # seconds that the first worker may take to come
#: what says where it is: else a lost connection is told once more in other words
LOGS = ("distributed", "distributed.client", "distributed.core", "distributed.scheduler")


class SchedulerName(click.ParamType):
    """The address of a scheduler, or one of two words."""

    name = "scheduler"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """As it was given."""
        if value not in (LOCAL, THREADS) and not ADDRESS.fullmatch(value):
            self.fail(
                f"expected {LOCAL}, {THREADS} or an address as tcp://HOST:8786, got {value!r}.",
                param,
                ctx,
            )
        return value

    def get_metavar(self, param: Any, ctx: Any = None) -> str:
        """For the help."""
        return f"[{LOCAL}|{THREADS}|ADDRESS]"


scheduler_option = click.option(
    "--scheduler",
    type=SchedulerName(),
    help="Work in blocks of rows with Dask: on threads, on processes of this machine (local), or "
    "on the workers of the scheduler at an address, as tcp://HOST:8786.",
)


@contextmanager
def scheduled(given: Any, needed: bool = False) -> Iterator[Any]:
    """Open the scheduler that the options name, for the time of a ``with``.

    Parameters
    ----------
    given : namespace
        With ``scheduler`` (None: not given), ``run``, and perhaps ``jobs`` and ``checkpoint``.
    needed : bool, default=False
        Whether there are Dask arrays even if no scheduler is named: then it is Dask's threads.

    Yields
    ------
    client : distributed.Client or None
        None: Dask's threads, or no Dask at all.

    Raises
    ------
    ImportError
        If Dask is not installed.
    ConnectionError
        If no scheduler answers, it has no workers, or it is lost on the way.
    """
    name = given.scheduler or (THREADS if needed else None)
    if name is None:
        yield None
        return
    from rprnmf.remote.placing import require_dask

    require_dask(f"--scheduler {name}" if given.scheduler else "a matrix in blocks")
    import dask

    jobs = getattr(given, "jobs", None)
    if name == THREADS:
        from rprnmf.threads import available_threads

        with dask.config.set(scheduler=THREADS, num_workers=available_threads(jobs)):
            yield None
        return
    require_distributed(name)
    with silent_logs(given.run.debug), client_at(name, jobs) as client:
        try:
            yield client
        except Exception as error:
            if client.status == "running":
                raise
            raise lost(name, getattr(given, "checkpoint", None)) from error


def require_distributed(name: str) -> None:
    """Refuse to go on without it, and say what to install."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"--scheduler {name} needs distributed: pip install 'rprnmf[dask]'."
        ) from error


@contextmanager
def client_at(name: str, jobs: int | None) -> Iterator[Any]:
    """A client of a scheduler that has workers; of one on this machine, if that is asked for."""
    from distributed import Client

    if name == LOCAL:
        with local_cluster(jobs) as cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(name, timeout=PATIENCE, set_as_default=True)
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        raise ConnectionError(unreachable(name, error)) from error
    with client:
        check_workers(client, name)
        yield client


def local_cluster(jobs: int | None) -> Any:
    """Workers on this machine, which nobody else can reach; as many threads in all as asked for."""
    from distributed import LocalCluster
    from distributed.deploy.utils import nprocesses_nthreads

    from rprnmf.threads import available_threads

    processes, threads = nprocesses_nthreads(available_threads(jobs))
    nowhere_else = f"{HERE}:0"
    with ctrl_c_ignored():  # it reaches all processes of a terminal: only this one is to stop
        return LocalCluster(
            host=HERE,
            n_workers=processes,
            threads_per_worker=threads,
            dashboard_address=nowhere_else,
            worker_dashboard_address=nowhere_else,
            silence_logs=logging.CRITICAL,
        )


def check_workers(client: Any, name: str) -> None:
    """Refuse a scheduler without workers, and workers without this library."""
    from importlib.util import find_spec

    try:
        client.wait_for_workers(1, timeout=COMING)
    except TimeoutError as error:
        raise ConnectionError(
            f"the Dask scheduler at {name} has no workers; start some: dask worker {name}"
        ) from error
    found = client.run(find_spec, "rprnmf")
    lacking = sorted(worker for worker, spec in found.items() if spec is None)
    if lacking:
        raise ConnectionError(
            f"{len(lacking)} of the {len(found)} workers of {name} cannot import rprnmf, as "
            f"{lacking[0]}; install the same packages there."
        )


def described(client: Any, name: str, document: dict[str, Any]) -> list[list[str]]:
    """The workers, for a person; in ``document`` for a program."""
    if client is None:
        from rprnmf.threads import available_threads

        found = {"scheduler": name, "workers": 0, "threads": available_threads(None)}
        document.update(found)
        return [["scheduler", f"{found['threads']} threads of this process"]]
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    n_threads = sum(worker["nthreads"] for worker in workers)
    memory = sum(worker["memory_limit"] or 0 for worker in workers)
    document |= {"scheduler": name, "workers": len(workers), "threads": n_threads}
    document["worker_memory"] = memory or None
    rows = [["scheduler", name], ["workers", str(len(workers))], ["their threads", str(n_threads)]]
    return [*rows, ["their memory", f"{memory / 1e9:.1f} GB" if memory else "without a limit"]]


def unreachable(name: str, error: Exception) -> str:
    """Why there is no client."""
    text = f"no Dask scheduler answers at {name} within {PATIENCE:g} seconds ({error})."
    if name.startswith("tls://"):
        text += " Certificates are set in Dask's configuration, distributed.comm.tls."
    return text


def lost(name: str, checkpoint: Any) -> ConnectionError:
    """The error for a scheduler that is gone while it was needed."""
    text = f"the Dask scheduler at {name} does not answer any more. "
    if checkpoint is None:
        text += "With --checkpoint FILE the same command could go on from where it was."
    elif checkpoint.exists():
        text += f"When it is back the same command goes on from {checkpoint}."
    else:
        text += "Nothing was kept yet: the same command begins anew."
    return ConnectionError(text)


@contextmanager
def silent_logs(debug: bool) -> Iterator[None]:
    """Within it Dask's clients do not log: what goes wrong is told as an error."""
    logs = [] if debug else [logging.getLogger(name) for name in LOGS]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)
