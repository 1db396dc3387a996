"""The one place that starts threads: fixed row blocks on a small thread pool.

Kernels are serial numba functions that release the GIL. The cut into blocks
depends on the data alone, never on the number of threads, so that what kernels sum comes
out the same on any number of them (products by BLAS agree to rounding).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

Result = TypeVar("Result")

BLOCKS = 16  # at most: more than there are threads, so that these end at about the same time
SMALLEST_BLOCK = 500_000  # multiply-adds below which a thread costs more than it saves

_pools: dict[int, ThreadPoolExecutor] = {}


class _BlasLimit:
    """The limit on the threads of matrix products: one for the whole process.

    Of overlapping users the first sets it and the last to leave takes it back.
    """

    def __init__(self, inherited: Any = None) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.limit = inherited  # set in the parent process, by a user that is not here

    def enter(self, n_threads: int) -> None:
        with self.lock:
            if self.users == 0:
                self.take_back()
                self.limit = threadpool_limits(n_threads, "blas")
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.take_back()

    def drop_inherited(self) -> None:
        with self.lock:
            if self.users == 0:
                self.take_back()

    def take_back(self) -> None:
        if self.limit is not None:
            self.limit.restore_original_limits()
            self.limit = None


_blas = _BlasLimit()


def available_threads(n_jobs: int | None = None) -> int:
    """The size of the thread pool for ``n_jobs`` (None: all this process may use)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    if n_jobs is None:
        for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
            text = os.environ.get(variable, "")
            if text.isdigit() and int(text) > 0:
                cores = min(cores, int(text))
        return cores
    if n_jobs < 0:
        return max(1, cores + 1 + n_jobs)
    return n_jobs


@contextmanager
def blas_threads(n_jobs: int | None) -> Iterator[None]:
    """Within it matrix products use as many threads as ``n_jobs`` says; None sets no limit."""
    if n_jobs is None:
        _blas.drop_inherited()
        yield
        return
    mine = _blas
    mine.enter(available_threads(n_jobs))
    try:
        yield
    finally:
        if mine is _blas:  # a child that was forked in between has a limit of its own
            mine.leave()


def row_blocks(cost: np.ndarray) -> list[tuple[int, int]]:
    """Cut rows into blocks of about equal cost.

    Parameters
    ----------
    cost : ndarray of shape (n_rows + 1,)
        Cumulated cost of the rows, in multiply-adds, starting at 0.
    """
    n_rows = len(cost) - 1
    total = float(cost[-1])
    n_blocks = int(max(1, min(BLOCKS, n_rows, total // SMALLEST_BLOCK)))
    marks = np.searchsorted(cost, np.linspace(0, total, n_blocks + 1)[1:-1])
    edges = np.unique(np.concatenate(([0], marks, [n_rows])))
    return [(int(a), int(b)) for a, b in pairwise(edges)]


def map_blocks(
    work: Callable[[int, int], Result], blocks: list[tuple[int, int]], n_threads: int
) -> list[Result]:
    """Call ``work(start, stop)`` for every block; results in the order of the blocks."""
    if n_threads <= 1 or len(blocks) <= 1:
        return [work(start, stop) for start, stop in blocks]
    pool = _pools.get(n_threads)
    if pool is None:
        pool = _pools.setdefault(n_threads, ThreadPoolExecutor(n_threads, "rprnmf"))
    return list(pool.map(lambda block: work(*block), blocks))


def _after_fork() -> None:
    """A forked child has none of its parent's threads, but locks as they held them."""
    global _blas
    _pools.clear()
    _blas = _BlasLimit(_blas.limit)
    _renew_property_locks()


def _renew_property_locks() -> None:
    """Before Python 3.12 a cached property holds one lock for all objects while it computes."""
    modules = [m for name, m in sys.modules.items() if name.partition(".")[0] == "rprnmf"]
    classes = {c for m in modules for c in vars(m).values() if isinstance(c, type)}
    for member in (member for c in classes for member in vars(c).values()):
        if isinstance(member, cached_property) and hasattr(member, "lock"):
            member.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
