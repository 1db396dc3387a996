"""Blocks of rows, and what is done with them.

What is asked of blocks is written on a tape, and the tape is sent when an answer is wanted: work
on the rows alone costs no round trip. A round is one message to every block and one sum back.
"""

from __future__ import annotations

import itertools
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rprnmf.remote.program import Instruction, Loaded, Program, Ref, Span
from rprnmf.remote.source import Source, computed, kept_or_lazy


class Remote:
    """A value in each block: one part of something that lies elsewhere."""

    pool: Pool
    number: int

    def __init__(self, pool: Pool, number: int):
        self.pool, self.number = pool, number

    def __del__(self) -> None:
        self.pool.release(self.number)

    @property
    def ref(self) -> Ref:
        """What stands for it in a program."""
        return Ref(self.number)


class Pool(ABC):
    """Keeps blocks of rows.

    Parameters
    ----------
    sizes : list of int
        The number of rows of each block.

    Attributes
    ----------
    bounds : ndarray of shape (n_blocks + 1,)
        Where the blocks begin; the last is the number of rows.
    first, rows : Remote
        The number of the first row of a block, and how many it has.
    """

    def __init__(self, sizes: list[int]):
        self.bounds = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.numbers = itertools.count()
        self.tape = Program()
        self.held: dict[int, int] = {}  # by how many handles
        self.lock = threading.RLock()  # handles are released whenever Python likes
        self.first = self.scatter(self.bounds[:-1].tolist())
        self.rows = self.scatter([int(size) for size in sizes])

    @property
    def n_blocks(self) -> int:
        """How many there are."""
        return len(self.bounds) - 1

    @abstractmethod
    def _send(self, program: Program) -> list[Any]:
        """Run a program on all blocks; the answers, some of them summed already."""

    def place(self, X: Any, missing: str | None = None, what: str = "X") -> Remote:
        """The blocks of a Dask array whose chunks have the rows of these blocks.

        Those that memory is too small for are read when they are used.
        """
        sources = self.scatter([Source(X, span, what) for span in spans_of(self.sizes)])
        return self.map(Loaded(kept_or_lazy), sources, missing)

    def place_parts(self, parts: list[Any]) -> Remote:
        """What delayed objects of Dask give, one for each block."""
        import dask

        return self.map(computed, self.scatter(list(dask.optimize(*parts))))

    def handle(self) -> int:
        """The number of a new value."""
        with self.lock:
            number = next(self.numbers)
            self.held[number] = 1
            return number

    def share(self, number: int) -> None:
        """Another handle holds a value."""
        with self.lock:
            self.held[number] += 1

    def release(self, number: int) -> None:
        """A handle of a value is gone."""
        with self.lock:
            self.held[number] -= 1
            if self.held[number] == 0:
                del self.held[number]
                self.tape.forget.append(number)

    def scatter(self, parts: list[Any]) -> Remote:
        """Hand every block its part."""
        number = self.handle()
        with self.lock:
            self.tape.given[number] = parts
        return Remote(self, number)

    def map(self, function: Callable[..., Any], *arguments: Any) -> Remote:
        """The value of a function in every block; `Remote` arguments are those of the block."""
        number = self.handle()
        self.note(number, function, arguments)
        return Remote(self, number)

    def note(self, number: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Write an instruction on the tape."""
        with self.lock:
            self.tape.instructions.append(Instruction(number, function, named(arguments)))

    def parts(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """The answers of a function, some summed already; in the order of the blocks."""
        # handles that go while the tape is sent belong to the next one
        with self.lock:
            tape, self.tape = self.tape, Program()
        tape.question, tape.arguments = function, named(arguments)
        with whole_round():
            return self._send(tape)

    def total(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The sum over the blocks of what a function gives."""
        from rprnmf.remote.program import added

        total = None
        for part in self.parts(function, *arguments):
            total = added(total, part)
        return total

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """What a function gives in every block."""
        numbered = self.total(answer_with_place, self.first, function, *arguments)
        return [answer for _, answer in sorted(numbered, key=lambda pair: pair[0])]

    def jobs_of_block(self, n_jobs: int | None) -> int | None:
        """The threads for one block; ``n_jobs`` are those for what is done here."""
        return n_jobs

    @property
    def sizes(self) -> np.ndarray:
        """The number of rows of each block."""
        return np.diff(self.bounds)

    def put(self, read: Callable[[int], Any], width: Any, dtype: Any) -> Any:
        """An array whose blocks are read here, one after the other."""
        from rprnmf.remote.array import RemoteArray

        remote = Remote(self, self.handle())
        for block in range(self.n_blocks):
            self.set_part(remote, block, read(block))
        return RemoteArray.of(remote, tuple(width), dtype)

    @abstractmethod
    def values(self, remote: Remote) -> list[Any]:
        """The values of the blocks, or futures of them: as a Dask array may hold them."""

    @abstractmethod
    def part(self, remote: Remote, block: int) -> Any:
        """The value of one block, here."""

    @abstractmethod
    def set_part(self, remote: Remote, block: int, value: Any) -> None:
        """Give one block a value."""

    @abstractmethod
    def close(self) -> None:
        """Forget the blocks."""


def spans_of(sizes: Any) -> list[Span]:
    """The blocks of so many rows."""
    ends = np.cumsum(sizes).tolist()
    return [
        Span(block, end - int(size), end)
        for block, (end, size) in enumerate(zip(ends, sizes, strict=True))
    ]


@contextmanager
def whole_round() -> Iterator[None]:
    """Within it Ctrl-C waits for the end: after half a round blocks would not fit together.

    A second Ctrl-C does not wait.
    """
    handler = None
    if threading.current_thread() is threading.main_thread():
        handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        yield
        return
    pressed: list[tuple[int, Any]] = []

    def later(number: int, frame: Any) -> None:
        pressed.append((number, frame))
        if len(pressed) > 1:
            handler(number, frame)

    signal.signal(signal.SIGINT, later)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if len(pressed) == 1:
        handler(*pressed[0])


def named(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Handles as what stands for them in a program."""
    return tuple(each.ref if isinstance(each, Remote) else each for each in arguments)


def answer_with_place(first: int, function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """An answer in a list, so that those of several blocks can be told apart."""
    return [(first, function(*arguments))]
