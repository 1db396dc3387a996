"""Rows that outlive their pool: kept twice on a cluster, so that a worker may die.

A `Vault` holds what a fit has saved. After a loss a new pool is made, and takes the rows from
where they are left.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from rprnmf.remote.array import RemoteArray
from rprnmf.remote.cluster import ClusterPool, stores_of, workers_of
from rprnmf.remote.local import nothing
from rprnmf.remote.pool import Remote
from rprnmf.remote.program import BlocksLostError
from rprnmf.remote.rooms import ROOMS, open_room


class SavedRows(NamedTuple):
    """Rows of a factor that were saved."""

    number: int
    width: tuple[int, ...]
    dtype: np.dtype
    holders: list[list[tuple[str, str]]]  # of each block: workers that have it, in which room


class Vault:
    """What one fit has saved on the workers of a cluster.

    Attributes
    ----------
    tree : nested values or None
        The last state of the fit, with `SavedRows` in place of rows.
    n_saves : int
        How many states were saved.
    """

    def __init__(self) -> None:
        self.numbers, self.n_saves = itertools.count(), 0
        self.tree: Any = None
        self.leases: dict[int, list[Any]] = {}  # workers keep rows for as long as these are held

    def save(self, array: RemoteArray) -> SavedRows:
        """Keep rows where they are, and on a second worker."""
        pool: Any = array.pool
        number, workers = next(self.numbers), pool.workers
        pool.total(nothing)  # whatever is on the tape is done first
        holders: list[list[tuple[str, str]]] = [[] for _ in pool.homes]
        tasks = []
        for place, home in enumerate(workers):
            at = pool.at(home)
            mine = pool.rooms[home], at, array.number
            tasks.append((home, at, pool.submit(home, save_own, *mine)))
            if len(workers) > 1:
                buddy = workers[(place + 1) % len(workers)]
                rows = pool.submit(home, value_of_all, *mine)
                tasks.append((buddy, at, pool.submit(buddy, save_others, at, rows)))
        self.leases[number] = [task for _, _, task in tasks]
        for worker, at, task in tasks:
            room = pool.answer(task)
            for block in at:
                holders[block].append((worker, room))
        return SavedRows(number, array.width, array.dtype, holders)

    def restore(self, saved: SavedRows, pool: ClusterPool) -> RemoteArray:
        """The rows in a new pool."""
        alive = workers_of(pool.client)
        remote = Remote(pool, pool.handle())
        left = [
            sorted((one for one in holders if one[0] in alive), key=lambda one: one[0] != home)
            for holders, home in zip(saved.holders, pool.homes, strict=True)
        ]
        found = [self.asked(pool, block, left[block]) for block in range(pool.n_blocks)]
        tasks = []
        for block, home in enumerate(pool.homes):
            rows = self.first_answer(pool, block, left[block], found[block])
            to = pool.rooms[home], block, remote.number
            tasks.append(pool.submit(home, take_over, *to, rows))
        pool.answers(tasks)
        return RemoteArray.of(remote, saved.width, saved.dtype)

    def asked(self, pool: ClusterPool, block: int, left: list[tuple[str, str]]) -> Any:
        """A task that gives a block, on the first of those that may have it."""
        if not left:
            raise BlocksLostError(f"no worker is left that has block {block} of the rows.")
        return pool.submit(left[0][0], saved_rows, left[0][1], block)

    def first_answer(self, pool: Any, block: int, left: list[tuple[str, str]], task: Any) -> Any:
        """The task, if it went well, or the same on another worker."""
        try:
            pool.settle(task, left[0][0])
        except BlocksLostError:
            rest = left[1:]
            return self.first_answer(pool, block, rest, self.asked(pool, block, rest))
        return task

    def keep(self, tree: Any) -> None:
        """A new state, after which the rows of the last one may go."""
        self.tree, self.n_saves = tree, self.n_saves + 1
        kept = {saved.number for saved in found_in(tree)}
        self.leases = {number: held for number, held in self.leases.items() if number in kept}

    def close(self) -> None:
        """The fit is done."""
        self.tree, self.leases = None, {}


def found_in(tree: Any) -> list[SavedRows]:
    """All saved rows in nested values."""
    if isinstance(tree, SavedRows):
        return [tree]
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [each for part in tree for each in found_in(part)] if type(tree) in (list, tuple) else []


def mapped(tree: Any, kind: type, function: Any) -> Any:
    """Nested values with others in place of those of a kind."""
    if isinstance(tree, kind):
        return function(tree)
    if isinstance(tree, dict):
        return {key: mapped(value, kind, function) for key, value in tree.items()}
    if type(tree) in (list, tuple):
        return type(tree)(mapped(value, kind, function) for value in tree)
    return tree


def save_own(pool: str, blocks: list[int], value: int) -> str:
    """A worker saves rows of its own blocks: values never change, so that this copies nothing."""
    return save_others(blocks, value_of_all(pool, blocks, value))


def save_others(blocks: list[int], rows: list[np.ndarray]) -> str:
    """A worker saves rows; the room that they are in."""
    return open_room(dict(zip(blocks, rows, strict=True)))


def value_of_all(pool: str, blocks: list[int], value: int) -> list[np.ndarray]:
    """A value of several blocks."""
    return [store.values[value] for store in stores_of(pool, blocks)]


def saved_rows(room: str, block: int) -> np.ndarray:
    """Rows that a worker has saved."""
    try:
        return ROOMS[room][block]
    except KeyError:
        raise BlocksLostError("a worker has begun anew, and has not the rows it saved.") from None


def take_over(pool: str, block: int, value: int, rows: np.ndarray) -> None:
    """A block gets a value from elsewhere."""
    stores_of(pool, [block])[0].values[value] = rows
