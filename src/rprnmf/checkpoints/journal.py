"""The journal of a computation: what it has finished, and how far it is with what it does.

A fit is a sequence of solves that is the same every time. Its journal has an entry for each part,
in the order in which they come: its outcome if it is finished, else all that its next iteration
depends on. After a stop the same program runs again, and reads from the journal what it finds
there. So nothing but the solvers and what follows from them must know how to go on.
"""

from __future__ import annotations

import os
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rprnmf.array_file import FileFormatError, read_arrays, write_arrays
from rprnmf.checkpoints.entry import Entry, Place
from rprnmf.checkpoints.fingerprint import differences
from rprnmf.checkpoints.tree import copied, packed, unpacked
from rprnmf.progress import clock

KIND = "checkpoint"
EVERY = 30.0  # seconds that a crash may cost, if nobody says
SHARE = 50.0  # then a file is written so rarely that it takes at most 1 / SHARE of the time
REMEDY = (
    "To begin anew, name another file, or delete this one if nobody needs it; to go on from it, "
    "call fit as it was called when the file was written."
)


class CheckpointWarning(RuntimeWarning):
    """A checkpoint could not be written: the fit goes on, but could not be resumed from here."""


class Journal:
    """Keeps in a file what a computation has done; without a file it does nothing.

    Parameters
    ----------
    path : Path or None
        A file that is there is read: the computation goes on from it.
    fingerprint : dict of str
        What the computation was given. A file with another one is refused.
    every : float or None
        Seconds between two writings; None: 30, or more where writing takes long.
    notes : dict
        What else is to be kept, such as a seed; replaced by what the file has.
    """

    def __init__(
        self,
        path: Path | None = None,
        fingerprint: dict[str, str] | None = None,
        every: float | None = None,
        notes: dict[str, Any] | None = None,
    ):
        self.path, self.every = path, every
        self.keeps = path is not None  # whether there is anything to keep entries for
        self.fingerprint, self.notes = fingerprint or {}, notes or {}
        self.top = Entry("fit")
        self.within = [Place(self.top)]  # the entries that are being worked on, the last innermost
        self.pause = EVERY if every is None else every
        self.new = path is not None and not path.exists()
        self.changed = self.failed = False
        if path is not None:
            remove_parts(path)
            if self.new:
                self._write(path)  # a path that cannot be written is an error now, not hours later
            else:
                self._read(path)
        self.written = time.monotonic()

    def begin(self, name: str) -> Entry | None:
        """The entry of the next part of the computation; None without a file."""
        if not self.keeps:
            return None
        place = self.within[-1]
        parts = place.entry.parts
        if place.asked == len(parts):
            parts.append(Entry(name))
        entry = parts[place.asked]
        if entry.name != name:
            raise FileFormatError(
                f"{self.path} has an entry {entry.name!r} where this fit has {name!r}. {REMEDY}"
            )
        place.asked += 1
        return entry

    @contextmanager
    def inside(self, entry: Entry | None) -> Iterator[None]:
        """Within it parts of an entry are begun."""
        if entry is None:
            yield
            return
        self.within.append(Place(entry))
        try:
            yield
        finally:
            self.within.pop()

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """What ``compute`` gives, from the file if it is there; its own parts are then dropped."""
        entry = self.begin(name)
        if entry is None:
            return compute()
        if not entry.finished:
            with self.inside(entry):
                values = compute()
            entry.finish(values)
            self.write_if_due()
        return copied(entry.values)

    def write_if_due(self) -> None:
        """After a change: write the file if the last time is long enough ago."""
        self.changed = True
        if self.path is not None and time.monotonic() - self.written >= self.pause:
            self.write()

    def write(self) -> None:
        """Write the file; if that fails, warn once: the computation is worth more."""
        if self.path is None:
            return
        started = time.monotonic()
        try:
            self._write(self.path)
        except ConnectionError:  # rows that lie elsewhere are out of reach: the fit is over
            raise
        except OSError as error:
            if not self.failed:
                warnings.warn(
                    f"the checkpoint {self.path} could not be written ({error}). The fit goes on; "
                    f"the file is as it was {clock(started - self.written)} before.",
                    CheckpointWarning,
                    stacklevel=2,
                )
            self.failed = True
        else:
            self.failed = False
        self.written = time.monotonic()
        if self.every is None:
            self.pause = max(EVERY, SHARE * (self.written - started))

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        """At the end, and after an error: keep what there is; remove a new file without content."""
        if self.changed:
            self.write()
        elif self.path is not None and self.new:
            self.path.unlink(missing_ok=True)

    def _write(self, path: Path) -> None:
        tree = {"notes": self.notes, "fit": self.top.tree()}
        content, arrays = packed(tree)
        header = {"fingerprint": self.fingerprint, "content": content}
        write_arrays(path, header, arrays, kind=KIND)

    def _unpacked(self, path: Path, content: Any, arrays: Any) -> Any:
        """The content of a file."""
        return unpacked(content, arrays)

    def _read(self, path: Path) -> None:
        try:
            header, arrays = read_arrays(path, kind=KIND)
            before = header.get("fingerprint")
            tree = self._unpacked(path, header.get("content"), arrays)
            match before, tree:
                case dict(), {"notes": dict(notes), "fit": entries}:
                    top = Entry.of_tree(entries)
                case _:
                    raise FileFormatError(f"{path} has no fingerprint, or no content.")
            apart = differences(before, self.fingerprint)
            if apart:
                raise ValueError(
                    f"the checkpoint {path} is of another fit: {'; '.join(apart)}. {REMEDY}"
                )
        except FileFormatError as error:
            raise FileFormatError(f"checkpoint: {error} {REMEDY}") from error.__cause__
        self.notes, self.top = notes, top
        self.within = [Place(top)]


def remove_parts(path: Path) -> None:
    """Remove what a program left that was killed while it wrote (`atomic_file.py`)."""
    path = Path(os.path.realpath(path))
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}\.part")
    for other in path.parent.iterdir():
        if pattern.fullmatch(other.name):
            other.unlink(missing_ok=True)
