"""Blocks on this machine: threads, processes, or one after the other, as Dask is configured."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from rprnmf.remote.pool import Pool, Remote
from rprnmf.remote.program import Lazy, Program, Store, run

SHARE = 0.4  # of the memory that X may take; else its blocks are read whenever they are used


class LocalPool(Pool):
    """Blocks that this process keeps, and that Dask's own schedulers work on.

    With the scheduler "processes" blocks travel to and fro in every round: that is for trying
    out, not for work.
    """

    def __init__(self, sizes: list[int]):
        self.stores = [Store({}) for _ in sizes]
        super().__init__(sizes)

    def _send(self, program: Program) -> list[Any]:
        import dask

        tasks = [
            # an object without arguments: Dask would look for arrays in these
            dask.delayed(Task(store, program.of_blocks([place])), pure=False, traverse=False)()
            for place, store in enumerate(self.stores)
        ]
        found = dask.compute(*tasks)
        self.stores = [store for store, _ in found]
        return [answer for _, answer in found]

    def place(self, X: Any) -> Remote:
        """The blocks of a Dask array; read anew whenever they are used, where all are too large."""
        blocks = [Source(X, place) for place in range(self.n_blocks)]
        if not is_sparse(X) and X.nbytes > SHARE * memory_here():
            return self.scatter([Lazy(block) for block in blocks])
        return self.map(call, self.scatter(blocks))

    def place_parts(self, parts: list[Any]) -> Remote:
        return self.map(call, self.scatter([Part(part) for part in parts]))

    def values(self, remote: Remote) -> list[Any]:
        """The values of the blocks."""
        return self.each(same, remote)

    def part(self, remote: Remote, block: int) -> Any:
        self.total(nothing)  # whatever is on the tape is done first
        return self.stores[block].values[remote.number]

    def set_part(self, remote: Remote, block: int, value: Any) -> None:
        self.stores[block].values[remote.number] = value

    def close(self) -> None:
        self.stores = []


class Source:
    """One block of a Dask array, to be computed."""

    def __init__(self, X: Any, place: int):
        import dask

        (self.block,) = dask.optimize(X.blocks[place])

    def __call__(self) -> Any:
        """The block."""
        return self.block.compute(scheduler="synchronous")


class Part(Source):
    """What a delayed object of Dask gives."""

    def __init__(self, delayed: Any):
        import dask

        (self.block,) = dask.optimize(delayed)


def call(source: Source) -> Any:
    """The block of a source."""
    return source()


def nothing() -> None:
    """An answer that nobody needs."""


def same(value: Any) -> Any:
    """The value itself."""
    return value


def is_sparse(X: Any) -> bool:
    """Whether the blocks are sparse: then nobody knows how large they are."""
    import scipy.sparse as sp

    return sp.issparse(X._meta)


def memory_here() -> float:
    """Bytes of memory of this machine."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError, AttributeError):  # not on this system
        return np.inf


class Task:
    """A program and its block."""

    def __init__(self, store: Store, program: Program):
        self.store, self.program = store, program

    def __call__(self) -> tuple[Store, Any]:
        """The block as it is then, which may be in another process, and its answer."""
        answer = run(self.store, self.program, 0)
        return self.store, answer
