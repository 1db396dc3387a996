"""Results on disk: one line a finished job, appended at once, never changed."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rprnmf.experiments.base import Row, Settings, Values


def key(settings: Settings) -> str:
    """The same text for the same settings, whatever their order."""
    return json.dumps(settings, sort_keys=True)


def plain(value: Any) -> Any:
    """What JSON has no number for (NaN, infinities) becomes None, however deep."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def row_of(record: dict[str, Any]) -> Row:
    """Settings and values of a record; what JSON has no number for is NaN."""
    values = {k: float("nan") if v is None else v for k, v in record["values"].items()}
    return {**record["settings"], **values}


class Store:
    """The results of one experiment in a file of JSON lines.

    A line is written with one call and flushed to the disk before the next job is taken down. A
    line that a killed process left half-written is dropped when the file is opened again.

    Parameters
    ----------
    path : path-like
    """

    def __init__(self, path: Any):
        self.path = Path(path)
        self._found: dict[str, Row] = {}
        if not self.path.exists():
            return
        for number, line in enumerate(self.path.read_bytes().split(b"\n")[:-1], 1):
            try:  # what follows the last line break was cut off when a process was killed
                record = json.loads(line)
                row = row_of(record)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ValueError(
                    f"{self.path}, line {number}: expected a result as this program writes "
                    f"them, found {line[:60]!r}; delete that line to have its job done again."
                ) from error
            self._found[key(record["settings"])] = row

    def keys(self) -> set[str]:
        """Of all jobs that are done."""
        return set(self._found)

    def get(self, settings: Settings) -> Row | None:
        """Settings and values of a job that is done, else None."""
        return self._found.get(key(settings))

    def add(self, settings: Settings, values: Values) -> None:
        """Take down a job."""
        record = {"settings": settings, "values": plain(values)}
        line = (json.dumps(record, allow_nan=False) + "\n").encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        handle = os.open(self.path, flags, 0o666)
        try:
            os.lseek(handle, self._end(handle), os.SEEK_SET)
            written = os.write(handle, line)
            if written < len(line):
                raise OSError(f"{self.path}: only {written} of {len(line)} bytes were written.")
            os.fsync(handle)
        finally:
            os.close(handle)
        self._found[key(settings)] = row_of(record)

    @staticmethod
    def _end(handle: int) -> int:
        """Where the last whole line ends; what is behind it is cut off."""
        size = os.lseek(handle, 0, os.SEEK_END)
        end = size
        while end > 0:
            os.lseek(handle, max(end - 4096, 0), os.SEEK_SET)
            block = os.read(handle, end - max(end - 4096, 0))
            place = block.rfind(b"\n")
            end = max(end - 4096, 0) + place + 1
            if place >= 0:
                break
        if end < size:
            os.ftruncate(handle, end)
        return end


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Only one program at a time writes to a folder, where the system can tell."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:  # a system without it
        yield
        return
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RuntimeError(f"another program is writing its results to {folder}.") from error
        except OSError:  # a file system without locks
            pass
        yield
