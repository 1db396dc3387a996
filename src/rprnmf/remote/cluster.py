"""Blocks on the workers of a cluster (`distributed`).

A block stays with one worker, which keeps its values between rounds: nothing that grows with the
rows of X is part of a task graph. A round is one task for every worker, sent to where its blocks
are, and a tree of sums back. A worker that is gone is noticed by its absence (`BlocksLostError`);
`fit_where_it_lies` says what then happens.
"""

from __future__ import annotations

import pickle
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from rprnmf.remote.local import nothing
from rprnmf.remote.memory import SHARE, Share
from rprnmf.remote.pool import Pool, Remote, spans_of
from rprnmf.remote.program import BlocksLostError, Program, Span, Store, added, run
from rprnmf.remote.rooms import ROOMS, open_room
from rprnmf.remote.source import Said, checked, kept

LARGE = 100_000  # bytes of a message from which on workers hand it to each other
FAN_IN = 8  # answers that are summed at once
PATIENCE = 1.0  # seconds after which it is looked whether all workers are there

#: what blocks take of each worker of this process, by its address
SHARES: dict[str, Share] = {}


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
        self.client = client
        threads = workers_of(client)
        self.homes = shared_out(sizes, threads)
        self.futures: list[Any] = []  # of blocks that someone else computed
        spans = spans_of(sizes)
        # workers keep their rooms for as long as these are held
        self.leases = [
            self.submit(home, open_blocks, [spans[number] for number in self.at(home)])
            for home in self.workers
        ]
        self.rooms = dict(zip(self.workers, self.answers(self.leases), strict=True))
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
        there = {"workers": [worker], "allow_other_workers": False, "priority": 10}
        return self.sent(function, *arguments, pure=False, **there)

    def sent(self, function: Any, *arguments: Any, **how: Any) -> Any:
        """A task, as `Client.submit` takes it; where the scheduler is gone the error says so."""
        try:
            return self.client.submit(function, *arguments, **how)
        except Exception:
            self.look()
            raise

    def _send(self, program: Program) -> list[Any]:
        import cloudpickle

        given, program.given = program.given, {}
        message: Any = cloudpickle.dumps(program, protocol=pickle.HIGHEST_PROTOCOL)
        if len(message) > LARGE and len(self.workers) > 1:
            message = self.handed_out(message)
        tasks = []
        for worker in self.workers:
            numbers = self.at(worker)
            parts = {name: [values[b] for b in numbers] for name, values in given.items()}
            own = cloudpickle.dumps(parts) if parts else None
            tasks.append(self.submit(worker, work, self.rooms[worker], numbers, message, own))
        while len(tasks) > FAN_IN:
            groups = [tasks[first : first + FAN_IN] for first in range(0, len(tasks), FAN_IN)]
            tasks = [self.sent(added_up, *group, pure=False) for group in groups]
        return self.answers(tasks)

    def handed_out(self, message: bytes) -> Any:
        """A message that workers hand to each other."""
        try:
            return self.client.scatter(message, hash=False)
        except (OSError, TimeoutError) as error:
            self.look()
            raise BlocksLostError(f"a round could not begin ({error!r}).") from error

    def answers(self, tasks: list[Any]) -> list[Any]:
        """What tasks give; it is looked after those whose worker may be gone."""
        return [self.answer(task) for task in tasks]

    def answer(self, task: Any) -> Any:
        """What one task gives; what it raises is raised here."""
        while True:
            self.settle(task)
            try:
                return task.result(timeout=PATIENCE)
            except TimeoutError:  # its worker may be gone, even if it was done
                self.look()
            except OSError as error:
                self.look()
                raise BlocksLostError(f"an answer did not arrive ({error!r}).") from error

    def settle(self, task: Any, at: str | None = None) -> None:
        """Wait until a task is done, and raise what it raised; ``at`` is a worker it needs."""
        from distributed import CancelledError, wait
        from distributed.scheduler import KilledWorker, NoValidWorkerError, NoWorkerError

        while not task.done():
            try:
                wait(task, PATIENCE)
            except TimeoutError:
                self.look(at)
            except (CancelledError, OSError):
                break
        if task.status == "error":  # whatever it is, a task raised it: an OSError is of a loader
            error = task.exception()
            if isinstance(error, (KilledWorker, NoWorkerError, NoValidWorkerError)):
                raise BlocksLostError(str(error)) from error
            raise error
        if task.status != "finished":
            self.look()
            raise BlocksLostError(f"a round was not finished: a task is {task.status}.")

    def look(self, at: str | None = None) -> None:
        """Raise an error if a worker that has blocks is gone, or another one, or the scheduler."""
        needed = set(self.homes) if at is None else {*self.homes, at}
        missing = needed - set(workers_of(self.client))
        if missing:
            raise BlocksLostError(f"workers are gone: {', '.join(sorted(missing))}.")

    def place(self, X: Any, missing: str | None = None, what: str = "X") -> Remote:
        """As in any pool; blocks that are on the cluster already are taken over."""
        from distributed.client import futures_of

        if futures_of(X):
            blocks = [X.blocks[place].to_delayed().ravel()[0] for place in range(self.n_blocks)]
            return self.adopted(blocks, Said(X.shape[1:], what), missing)
        return super().place(X, missing, what)

    def place_parts(self, parts: list[Any]) -> Remote:
        from distributed.client import futures_of

        return self.adopted(parts, None) if futures_of(parts) else super().place_parts(parts)

    def adopted(self, blocks: list[Any], said: Said | None, missing: str | None = None) -> Remote:
        """Blocks that are on the cluster already."""
        futures = self.client.compute(blocks)
        self.futures += futures
        remote = Remote(self, self.handle())
        rest = remote.number, said, missing
        self.answers(
            [
                self.submit(home, adopt, self.rooms[home], number, future, *rest)
                for number, (home, future) in enumerate(zip(self.homes, futures, strict=True))
            ]
        )
        return remote

    def values(self, remote: Remote) -> list[Any]:
        """The values of the blocks, as futures."""
        self.total(nothing)  # whatever is on the tape is done first
        name = f"rows-{uuid.uuid4().hex}"
        found = [
            self.sent(
                value_of,
                self.rooms[home],
                number,
                remote.number,
                key=(name, number),
                workers=[home],
                allow_other_workers=True,
            )
            for number, home in enumerate(self.homes)
        ]
        for task in found:
            self.settle(task)
        return found

    def part(self, remote: Remote, block: int) -> Any:
        self.total(nothing)  # whatever is on the tape is done first
        home = self.homes[block]
        return self.answer(self.submit(home, value_of, self.rooms[home], block, remote.number))

    def set_part(self, remote: Remote, block: int, value: Any) -> None:
        home = self.homes[block]
        self.answer(self.submit(home, keep, self.rooms[home], block, remote.number, value))

    def close(self) -> None:
        self.futures, self.leases = [], []


def workers_of(client: Any) -> dict[str, int]:
    """The threads of each worker that is there now."""
    try:
        if client.status != "running":
            raise OSError(f"the client is {client.status}")
        found = client.nthreads()
    except (OSError, TimeoutError) as error:
        raise SchedulerLostError(
            f"the Dask scheduler of {client!r} does not answer ({error}); the fit cannot go on. "
            "With checkpoint= the same call goes on from the file that was written last."
        ) from error
    return dict(found)


def shared_out(sizes: list[int], threads: dict[str, int]) -> list[str]:
    """The worker of each block: neighbours together, about as many rows as a worker has threads."""
    if not threads:
        raise BlocksLostError("the cluster has no workers.")
    names = sorted(threads)
    shares = np.cumsum([threads[name] for name in names]) / sum(threads.values())
    middles = (np.cumsum(sizes) - 0.5 * np.asarray(sizes)) / max(sum(sizes), 1)
    return [names[min(int(np.searchsorted(shares, m)), len(names) - 1)] for m in middles]


def open_blocks(spans: list[Span]) -> str:
    """A worker begins to keep blocks; the name of the room that they are in."""
    from distributed import get_worker

    worker = get_worker()
    share = SHARES.setdefault(worker.address, Share(np.inf))
    share.limit = SHARE * float(worker.memory_manager.memory_limit or np.inf)
    return open_room({span.block: Store(span, share) for span in spans})


def stores_of(room: str, numbers: list[int]) -> list[Store]:
    """The blocks that a worker should have."""
    stores = ROOMS.get(room, {})
    if not all(number in stores for number in numbers):
        raise BlocksLostError("a worker has begun anew, and has not the blocks that it had.")
    return [stores[number] for number in numbers]


def keep(room: str, number: int, value: int, part: Any) -> None:
    """A worker keeps a value of one of its blocks."""
    stores_of(room, [number])[0].values[value] = part


def adopt(room: str, number: int, block: Any, value: int, said: Any, missing: Any) -> None:
    """A worker takes over a block that was computed before; ``said``: what is known of it."""
    (store,) = stores_of(room, [number])
    if said is not None:
        block = kept(store, checked(block, store.span, said), missing)
    store.values[value] = block


def value_of(room: str, number: int, value: int) -> Any:
    """A value of a block."""
    return stores_of(room, [number])[0].values[value]


def work(room: str, numbers: list[int], message: bytes, own: bytes | None) -> Any:
    """A worker runs a program on its blocks, on its threads; the sum of the answers."""
    from distributed import get_worker

    stores = stores_of(room, numbers)
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
