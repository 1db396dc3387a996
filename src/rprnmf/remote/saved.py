"""Rows that outlive their pool: kept twice on a cluster, so that a worker may die.

A `Vault` holds what a fit has saved. After a loss a new pool is made, and takes the rows from
where they are left.
"""

from __future__ import annotations

import itertools
import uuid
from typing import Any, NamedTuple

import numpy as np

from rprnmf.remote.array import RemoteArray
from rprnmf.remote.cluster import ClusterPool, forget, stores_of, workers_of
from rprnmf.remote.local import nothing
from rprnmf.remote.pool import Remote
from rprnmf.remote.program import BlocksLostError

#: what this process keeps as a worker, beyond its pools: rows by vault, save and block
SAVED: dict[str, dict[int, dict[int, np.ndarray]]] = {}


class SavedRows(NamedTuple):
    """Rows of a factor that were saved."""

    number: int
    width: tuple[int, ...]
    dtype: np.dtype
    holders: list[list[str]]  # of each block: workers that have it


class Vault:
    """What one fit has saved on the workers of a cluster."""

    def __init__(self) -> None:
        self.name, self.numbers = uuid.uuid4().hex, itertools.count()
        self.tree: Any = None  # the last state of the fit, with `SavedRows` in place of rows
        self.client: Any = None

    def save(self, array: RemoteArray) -> SavedRows:
        """Keep rows where they are, and on a second worker."""
        pool: Any = array.pool
        self.client, number, workers = pool.client, next(self.numbers), pool.workers
        pool.total(nothing)  # whatever is on the tape is done first
        holders = [[home] for home in pool.homes]
        tasks = []
        for place, home in enumerate(workers):
            at = pool.at(home)
            mine = pool.submit(home, save_own, self.name, number, pool.name, at, array.number)
            tasks.append(mine)
            if len(workers) > 1:
                buddy = workers[(place + 1) % len(workers)]
                rows = pool.submit(home, value_of_all, pool.name, at, array.number)
                tasks.append(pool.submit(buddy, save_others, self.name, number, at, rows))
                for block in at:
                    holders[block].append(buddy)
        pool.answers(tasks)
        return SavedRows(number, array.width, array.dtype, holders)

    def restore(self, saved: SavedRows, pool: ClusterPool) -> RemoteArray:
        """The rows in a new pool."""
        alive = workers_of(pool.client)
        remote = Remote(pool, pool.handle())
        tasks = []
        for block, home in enumerate(pool.homes):
            left = [holder for holder in saved.holders[block] if holder in alive]
            if not left:
                raise BlocksLostError(f"no worker is left that has block {block} of the rows.")
            holder = home if home in left else left[0]
            rows = pool.submit(holder, saved_rows, self.name, saved.number, block)
            tasks.append(pool.submit(home, take_over, pool.name, block, remote.number, rows))
        pool.answers(tasks)
        return RemoteArray.of(remote, saved.width, saved.dtype)

    def keep(self, tree: Any) -> None:
        """A new state, after which the rows of the last one may go."""
        self.tree = tree
        kept = {saved.number for saved in found_in(tree)}
        self.tell(kept)

    def close(self) -> None:
        """The fit is done."""
        self.tree = None
        self.tell(None)

    def tell(self, kept: set[int] | None) -> None:
        """All workers forget rows that are not kept."""
        if self.client is None or self.client.status != "running":
            return
        for worker in workers_of(self.client, quiet=True):
            self.client.submit(
                only, self.name, kept, workers=[worker], allow_other_workers=True, pure=False
            ).add_done_callback(forget)


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


def save_own(vault: str, number: int, pool: str, blocks: list[int], value: int) -> None:
    """A worker saves rows of its own blocks: values never change, so that this copies nothing."""
    rows = value_of_all(pool, blocks, value)
    save_others(vault, number, blocks, rows)


def save_others(vault: str, number: int, blocks: list[int], rows: list[np.ndarray]) -> None:
    """A worker saves rows of another one."""
    kept = SAVED.setdefault(vault, {}).setdefault(number, {})
    kept.update(zip(blocks, rows, strict=True))


def value_of_all(pool: str, blocks: list[int], value: int) -> list[np.ndarray]:
    """A value of several blocks."""
    return [store.values[value] for store in stores_of(pool, blocks)]


def saved_rows(vault: str, number: int, block: int) -> np.ndarray:
    """Rows that a worker has saved."""
    try:
        return SAVED[vault][number][block]
    except KeyError:
        raise BlocksLostError("a worker has begun anew, and has not the rows it saved.") from None


def take_over(pool: str, block: int, value: int, rows: np.ndarray) -> None:
    """A block gets a value from elsewhere."""
    stores_of(pool, [block])[0].values[value] = rows


def only(vault: str, kept: set[int] | None) -> None:
    """A worker forgets what is not kept."""
    if kept is None:
        SAVED.pop(vault, None)
        return
    found = SAVED.get(vault, {})
    for number in set(found) - kept:
        found.pop(number, None)
