"""Blocks on the workers of a cluster (`distributed`).

A block stays with one worker, which keeps its values between rounds: nothing that grows with the
rows of X is part of a task graph. A round is one task for every worker, sent to where its blocks
are, and a tree of sums back. A worker that is gone is noticed by its absence (`BlocksLostError`);
`Rescue` says what then happens.
"""

from __future__ import annotations

import pickle
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from rprnmf.remote.local import SHARE, Part, Source, call, is_sparse, nothing
from rprnmf.remote.pool import Pool, Remote
from rprnmf.remote.program import BlocksLostError, Lazy, Program, Store, added, run

LARGE = 100_000  # bytes of a message from which on workers hand it to each other
FAN_IN = 8  # answers that are summed at once
PATIENCE = 1.0  # seconds after which it is looked whether all workers are there
COMEBACK = 120.0  # seconds that a worker may take to come back, where none is left

#: what this process keeps as a worker: blocks by the name of their pool, and their number
KEPT: dict[str, dict[int, Store]] = {}


class SchedulerLostError(ConnectionError):
    """The scheduler is gone."""


class ClusterPool(Pool):
    """Blocks that the workers of a cluster keep.

    Parameters
    ----------
    client : distributed.Client
    sizes : list of int
    """

    def __init__(self, client: Any, sizes: list[int]):
        self.client, self.name = client, uuid.uuid4().hex
        threads = workers_of(client)
        self.homes = shared_out(sizes, threads)
        self.futures: list[Any] = []  # of blocks that someone else computed
        opened = [self.submit(home, open_blocks, self.name, self.at(home)) for home in self.workers]
        self.answers(opened)
        super().__init__(sizes)

    def jobs_of_block(self, n_jobs: int | None) -> int | None:
        return 1  # a worker has its blocks on its threads

    @property
    def workers(self) -> list[str]:
        """The addresses of the workers that have blocks."""
        return list(dict.fromkeys(self.homes))

    def at(self, worker: str) -> list[int]:
        """The blocks of a worker."""
        return [number for number, home in enumerate(self.homes) if home == worker]

    def submit(self, worker: str, function: Any, *arguments: Any) -> Any:
        """A task on one worker."""
        return self.client.submit(
            function,
            *arguments,
            workers=[worker],
            allow_other_workers=False,
            pure=False,
            priority=10,
        )

    def _send(self, program: Program) -> list[Any]:
        import cloudpickle

        given, program.given = program.given, {}
        message: Any = cloudpickle.dumps(program, protocol=pickle.HIGHEST_PROTOCOL)
        if len(message) > LARGE and len(self.workers) > 1:
            message = self.client.scatter(message, hash=False)
        tasks = []
        for worker in self.workers:
            numbers = self.at(worker)
            parts = {name: [values[b] for b in numbers] for name, values in given.items()}
            own = cloudpickle.dumps(parts) if parts else None
            tasks.append(self.submit(worker, work, self.name, numbers, message, own))
        while len(tasks) > FAN_IN:
            groups = [tasks[first : first + FAN_IN] for first in range(0, len(tasks), FAN_IN)]
            tasks = [self.client.submit(added_up, *group, pure=False) for group in groups]
        return self.answers(tasks)

    def answers(self, tasks: list[Any]) -> list[Any]:
        """What tasks give; it is looked after those whose worker may be gone."""
        return [self.answer(task) for task in tasks]

    def answer(self, task: Any) -> Any:
        """What one task gives."""
        from distributed import CancelledError
        from distributed.scheduler import KilledWorker, NoWorkerError

        while True:
            try:
                return task.result(timeout=PATIENCE)
            except TimeoutError:  # its worker may be gone, even if it was done
                self.look()
            except (KilledWorker, NoWorkerError) as error:
                raise BlocksLostError(str(error)) from error
            except (CancelledError, OSError) as error:
                self.look()
                raise BlocksLostError(f"a round was not finished ({error!r}).") from error

    def look(self) -> None:
        """Raise an error if a worker that has blocks is gone, or the scheduler is."""
        missing = set(self.homes) - set(workers_of(self.client))
        if missing:
            raise BlocksLostError(f"workers are gone: {', '.join(sorted(missing))}.")

    def place(self, X: Any) -> Remote:
        """The blocks of a Dask array; read anew whenever they are used, where all are too large."""
        from distributed.client import futures_of

        if futures_of(X):
            return self.adopted(
                [X.blocks[place].to_delayed().ravel()[0] for place in range(self.n_blocks)]
            )
        blocks = [Source(X, place) for place in range(self.n_blocks)]
        if not is_sparse(X) and X.nbytes > SHARE * memory_of(self.client, self.workers):
            return self.scatter([Lazy(block) for block in blocks])
        return self.map(call, self.scatter(blocks))

    def place_parts(self, parts: list[Any]) -> Remote:
        from distributed.client import futures_of

        if futures_of(parts):
            return self.adopted(parts)
        return self.map(call, self.scatter([Part(part) for part in parts]))

    def adopted(self, blocks: list[Any]) -> Remote:
        """Blocks that are on the cluster already."""
        futures = self.client.compute(blocks)
        self.futures += futures
        remote = Remote(self, self.handle())
        kept = [
            self.submit(home, keep, self.name, number, remote.number, future)
            for number, (home, future) in enumerate(zip(self.homes, futures, strict=True))
        ]
        self.answers(kept)
        return remote

    def values(self, remote: Remote) -> list[Any]:
        """The values of the blocks, as futures."""
        self.total(nothing)  # whatever is on the tape is done first
        name = f"rows-{uuid.uuid4().hex}"
        found = [
            self.client.submit(
                value_of,
                self.name,
                number,
                remote.number,
                key=(name, number),
                workers=[home],
                allow_other_workers=True,
            )
            for number, home in enumerate(self.homes)
        ]
        from distributed import wait

        wait(found)
        return found

    def part(self, remote: Remote, block: int) -> Any:
        self.total(nothing)  # whatever is on the tape is done first
        task = self.submit(self.homes[block], value_of, self.name, block, remote.number)
        return self.answers([task])[0]

    def set_part(self, remote: Remote, block: int, value: Any) -> None:
        home = self.homes[block]
        self.answers([self.submit(home, keep, self.name, block, remote.number, value)])

    def close(self) -> None:
        self.futures = []
        alive = [] if self.client.status != "running" else workers_of(self.client, quiet=True)
        for worker in set(self.workers) & set(alive):
            self.client.submit(
                close_blocks, self.name, workers=[worker], allow_other_workers=True, pure=False
            ).add_done_callback(forget)


def forget(_: Any) -> None:
    """A task whose outcome nobody waits for."""


def workers_of(client: Any, quiet: bool = False) -> dict[str, int]:
    """The threads of each worker that is there now."""
    try:
        if client.status != "running":
            raise OSError(f"the client is {client.status}")
        found = client.nthreads()
    except (OSError, TimeoutError) as error:
        if quiet:
            return {}
        raise SchedulerLostError(
            f"the Dask scheduler of {client!r} does not answer ({error}); the fit cannot go on. "
            "With checkpoint= the same call goes on from the file that was written last."
        ) from error
    return dict(found)


def memory_of(client: Any, workers: list[str]) -> float:
    """Bytes of memory that workers may use."""
    about = client.scheduler_info(n_workers=-1)["workers"]
    limits = [about.get(worker, {}).get("memory_limit") or np.inf for worker in workers]
    return float(sum(limits))


def shared_out(sizes: list[int], threads: dict[str, int]) -> list[str]:
    """The worker of each block: neighbours together, about as many rows as a worker has threads."""
    if not threads:
        raise BlocksLostError("the cluster has no workers.")
    names = sorted(threads)
    shares = np.cumsum([threads[name] for name in names]) / sum(threads.values())
    middles = (np.cumsum(sizes) - 0.5 * np.asarray(sizes)) / max(sum(sizes), 1)
    return [names[min(int(np.searchsorted(shares, m)), len(names) - 1)] for m in middles]


def open_blocks(name: str, numbers: list[int]) -> None:
    """A worker begins to keep blocks."""
    KEPT[name] = {number: Store({}) for number in numbers}


def close_blocks(name: str) -> None:
    """A worker forgets its blocks."""
    KEPT.pop(name, None)


def stores_of(name: str, numbers: list[int]) -> list[Store]:
    """The blocks that a worker should have."""
    stores = KEPT.get(name, {})
    if not all(number in stores for number in numbers):
        raise BlocksLostError("a worker has begun anew, and has not the blocks that it had.")
    return [stores[number] for number in numbers]


def keep(name: str, number: int, value: int, block: Any) -> None:
    """A worker keeps a value of one of its blocks."""
    stores_of(name, [number])[0].values[value] = block


def value_of(name: str, number: int, value: int) -> Any:
    """A value of a block."""
    return stores_of(name, [number])[0].values[value]


def work(name: str, numbers: list[int], message: bytes, own: bytes | None) -> Any:
    """A worker runs a program on its blocks, on its threads; the sum of the answers."""
    from distributed import get_worker

    stores = stores_of(name, numbers)
    program = pickle.loads(message)  # from the client of this cluster, which may run anything
    program.given = pickle.loads(own) if own is not None else {}
    n_threads = get_worker().state.nthreads

    def one(place: int) -> Any:
        return run(stores[place], program, place)

    total = None
    if n_threads == 1 or len(stores) == 1:
        for place in range(len(stores)):
            total = added(total, one(place))
        return total
    with ThreadPoolExecutor(n_threads) as threads:
        for answer in threads.map(one, range(len(stores))):
            total = added(total, answer)
    return total


def added_up(*answers: Any) -> Any:
    """The sum of several answers."""
    total = None
    for answer in answers:
        total = added(total, answer)
    return total
