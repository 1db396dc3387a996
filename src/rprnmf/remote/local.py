"""Blocks on this machine: threads, processes, or one after the other, as Dask is configured."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.remote.memory import SHARE, Share, memory_here
from rprnmf.remote.pool import Pool, Remote, spans_of
from rprnmf.remote.program import Program, Store, run

#: what the blocks of all fits take of this process
HERE = Share(np.inf)


class LocalPool(Pool):
    """Blocks that this process keeps, and that Dask's own schedulers work on.

    With the scheduler "processes" blocks travel to and fro in every round: that is for trying
    out, not for work.
    """

    def __init__(self, sizes: list[int]):
        HERE.limit = SHARE * memory_here()
        self.stores = [Store(span, HERE) for span in spans_of(sizes)]
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


def nothing() -> None:
    """An answer that nobody needs."""


def same(value: Any) -> Any:
    """The value itself."""
    return value


class Task:
    """A program and its block."""

    def __init__(self, store: Store, program: Program):
        self.store, self.program = store, program

    def __call__(self) -> tuple[Store, Any]:
        """The block as it is then, which may be in another process, and its answer."""
        answer = run(self.store, self.program, 0)
        return self.store, answer
