"""Results on disk: one line per finished job, appended at once, never changed."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rprnmf.experiments.harness.experiment import Row, Settings, Values


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


class Store:
    """The results of one experiment in a file of JSON lines.

    A line is written with one call and flushed to the disk before the next job is stored. A
    line that a killed process left half-written is dropped when the file is opened again.

    Parameters
    ----------
    path : path-like
    """

    def __init__(self, path: Any):
        self.path = Path(path)
        self._values: dict[str, Values] = {}
        self._line: dict[str, int] = {}
        if not self.path.exists():
            return
        for number, line in enumerate(self.path.read_bytes().split(b"\n")[:-1], 1):
            try:  # what follows the last line break was cut off when a process was killed
                record = json.loads(line)
                name, values = key({**record["settings"]}), {**record["values"]}
            except (ValueError, KeyError, TypeError) as error:
                found = f"expected a result as this program writes them, found {line[:60]!r}"
                raise self.error(number, found) from error
            self._values[name], self._line[name] = values, number

    def error(self, line: int, reason: str) -> ValueError:
        """The error about a line that is not a result."""
        advice = "delete that line to have its job done again"
        return ValueError(f"{self.path}, line {line}: {reason}; {advice}.")

    @property
    def done(self) -> set[str]:
        """The keys of all jobs that are done."""
        return set(self._values)

    def get(self, settings: Settings) -> Row | None:
        """Settings and values of a job that is done, else None; null in the file is NaN here."""
        values = self._values.get(key(settings))
        if values is None:
            return None
        return {**{k: math.nan if v is None else v for k, v in values.items()}, **settings}

    def check(self, settings: Settings, example: Values) -> None:
        """Raise if the values of a stored job are not like those of an example.

        What the example does not have is left out.
        """
        name = key(settings)
        if name not in self._line:
            return
        found = self._values[name]
        if reason := unlike(found, example):
            raise self.error(self._line[name], reason)
        self._values[name] = {each: found[each] for each in example}

    def add(self, settings: Settings, values: Values) -> None:
        """Store the values of a job; half a line that a killed process left is cut off first."""
        values = plain(values)
        record = {"settings": settings, "values": values}
        line = (json.dumps(record, allow_nan=False) + "\n").encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b", buffering=0) as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
            written = file.write(line)
            if written < len(line):
                raise OSError(f"{self.path}: only {written} of {len(line)} bytes were written.")
            os.fsync(file.fileno())
        self._values[key(settings)] = values


def unlike(found: Any, example: Any, name: str = "") -> str | None:
    """What is wrong with a stored value; None if it is of the kind of the example.

    A number must be finite, or None where that of the example is NaN; a list as long as that of
    the example; values by name may be more than those of the example.
    """
    wanted = None
    if isinstance(example, dict):
        if isinstance(found, dict):
            parts = [(each, found.get(each, ...), example[each]) for each in example]
            return _first_unlike(name, parts)
        wanted = f"{', '.join(example)} by name"
    elif isinstance(example, list):
        if isinstance(found, list) and len(found) == len(example):
            places = [f"place {place}" for place in range(1, len(example) + 1)]
            return _first_unlike(name, zip(places, found, example, strict=True))
        wanted = f"a list of {len(example)}"
    elif isinstance(example, str):
        wanted = None if isinstance(found, str) else "text"
    elif not (found is None and math.isnan(example)):
        real = isinstance(found, int | float) and not isinstance(found, bool)
        wanted = None if real and abs(found) <= sys.float_info.max else "a number"
    return wanted and f"{name} must be {wanted}, found {json.dumps(found)[:60]}"


def _first_unlike(name: str, parts: Iterable[tuple[str, Any, Any]]) -> str | None:
    for part, found, example in parts:
        whole = f"{name}, {part}" if name else part
        if reason := f"{whole} is missing" if found is ... else unlike(found, example, whole):
            return reason
    return None


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Only one program at a time writes to a folder, where its file system has locks."""
    try:
        from filelock import FileLock, Timeout
    except ImportError as error:
        raise ImportError("runs need filelock: pip install 'rprnmf[cli]'.") from error
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock", timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise RuntimeError(f"another program is writing its results to {folder}.") from error
    except PermissionError:
        raise
    except (OSError, NotImplementedError):  # a file system without locks
        pass
    try:
        yield
    finally:
        lock.release()
