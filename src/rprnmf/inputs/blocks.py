"""Text by blocks of whole lines, on threads, with a bar: one pass, a few blocks in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from rprnmf.inputs.source import Source
from rprnmf.progress import Progress
from rprnmf.threads import available_threads, map_blocks

BLOCK = 1 << 20  # bytes: the names of a block stay in the cache
AT_ONCE = 8  # blocks for each thread
LONGEST_LINE = 1 << 28
MB = 1e6
Result = TypeVar("Result")


class Reading(Progress):
    """How much of a file is read, in MB."""

    def __init__(self, source: Source):
        super().__init__(
            f"reading {source.title}"[:24],
            max(source.size, 1),
            cost=source.size / MB,
            silent=not source.verbose,
        )

    def __enter__(self) -> Reading:
        return self

    def _counts(self) -> str:
        return f"{self.done:.0f} of {self.cost:.0f} MB"

    def move(self, n_bytes: int) -> None:
        """So many bytes of the file are read in all."""
        if n_bytes == self.n_fits and self.count < self.n_fits:
            self.count = self.n_fits - 1  # the last step
        self.step(max(n_bytes / MB - self.done, 0.0))


def raw_position(file: Any) -> int:
    """How far a file on disk is read, below gzip."""
    raw = getattr(file, "fileobj", None) or getattr(getattr(file, "buffer", None), "fileobj", None)
    return (raw or file).tell()


def chunks(source: Source, offset: int, size: int) -> Iterator[tuple[bytearray, int]]:
    """Whole lines, all chunks in one buffer: it, and how much of it counts."""
    buffer = bytearray(size)
    kept = 0
    with source.open() as file, Reading(source) as bar:
        with source.guard():
            file.seek(offset)
        while True:
            with memoryview(buffer) as view, source.guard():
                n = _fill(file, view[kept:-1])
            end = kept + n
            if n == 0:
                if kept:
                    buffer[kept] = 10  # a last line without an end
                    yield buffer, kept + 1
                bar.move(source.size)
                return
            bar.move(raw_position(file))
            lines = buffer.rfind(b"\n", 0, end) + 1
            if lines:
                yield buffer, lines
                buffer[: end - lines] = buffer[lines:end]
                kept = end - lines
            elif end < len(buffer) - 1:
                kept = end
            elif len(buffer) >= LONGEST_LINE:
                raise source.fail(f"has a line of more than {LONGEST_LINE} bytes.")
            else:
                buffer, kept = buffer[:end] + bytearray(len(buffer)), end


def _fill(file: Any, view: memoryview) -> int:
    """Read until the view is full or the file ends: gzip hands out little at a time."""
    n = 0
    while n < len(view):
        more = file.readinto(view[n:])
        if not more:
            break
        n += more
    view.release()
    return n


def map_lines(
    source: Source,
    offset: int,
    work: Callable[[np.ndarray], Result],
    after: Callable[[np.ndarray, Result], bool],
) -> bool:
    """Call ``work`` with blocks of whole lines, on threads, and ``after`` in their order.

    Parameters
    ----------
    source : Source
    offset : int
        Where the first line begins, in bytes.
    work : callable
        Of an array of bytes, which ends with the end of a line.
    after : callable
        Of the same array and what ``work`` returned; False ends it all.

    Returns
    -------
    finished : bool
    """
    n_threads = available_threads(source.n_jobs)
    for chunk, end in chunks(source, offset, BLOCK * AT_ONCE * n_threads):
        data = np.frombuffer(chunk, dtype=np.uint8)
        blocks = _cut(chunk, end)
        done = map_blocks(_on_part(work, data), blocks, n_threads)
        for (a, b), result in zip(blocks, done, strict=True):
            if not after(data[a:b], result):
                return False
    return True


def _on_part(work: Callable[[np.ndarray], Result], data: np.ndarray) -> Any:
    return lambda start, stop: work(data[start:stop])


def _cut(buffer: bytearray, end: int) -> list[tuple[int, int]]:
    """Blocks of whole lines."""
    marks = [0]
    while end - marks[-1] > BLOCK:
        mark = buffer.rfind(b"\n", marks[-1], marks[-1] + BLOCK) + 1
        if mark == 0:
            break
        marks.append(mark)
    return list(pairwise([*marks, end]))
