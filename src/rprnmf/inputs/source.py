"""Where bytes come from: a file, a gzip file, a folder, or the standard input."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, cast

from rprnmf.inputs.errors import InputError

HEAD = 1 << 17  # bytes to look at
GZIP = b"\x1f\x8b"
HARMLESS = 1 << 28  # bytes that any file may unpack to
MOST_FOLD = 200  # beyond that a file may unpack to so many times its size
STDIN = "-"
DAMAGES = (OSError, EOFError, zlib.error)  # of gzip, and of disks


class Source:
    """A file or a folder to read.

    Parameters
    ----------
    path : Path
    name : str
        For messages.
    verbose : int
        1: show a bar while it is read.
    n_jobs : int or None
        Threads that read.
    """

    def __init__(
        self, path: Path, name: str | None = None, verbose: int = 0, n_jobs: int | None = None
    ):
        self.path, self.name = path, str(path) if name is None else name
        self.verbose, self.n_jobs = verbose, n_jobs

    @property
    def title(self) -> str:
        """The last part of its name, for notes."""
        return os.path.basename(self.name.rstrip("/\\")) or self.name

    @property
    def suffix(self) -> str:
        """The suffix in small letters, that before .gz if it is packed."""
        suffixes = [suffix.lower() for suffix in Path(self.name).suffixes]
        if suffixes and suffixes[-1] == ".gz":
            suffixes.pop()
        return suffixes[-1] if suffixes else ""

    @cached_property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.path.is_dir()

    @cached_property
    def packed(self) -> bool:
        """Whether it is a gzip file, by its content."""
        with self.path.open("rb") as file:
            return file.read(2) == GZIP

    @cached_property
    def size(self) -> int:
        """Bytes on disk."""
        return self.path.stat().st_size

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked."""
        if self.is_folder:
            return b""
        with self.open() as file, self.guard():
            return file.read(HEAD)

    def open(self) -> BinaryIO:
        """Open it, unpacked, to read bytes."""
        if self.packed:
            return cast(BinaryIO, gzip.open(self.path, "rb"))
        return self.path.open("rb")

    def fail(self, reason: str, line: int | None = None, column: Any = None) -> InputError:
        """The error for this file."""
        return InputError(self.name, reason, line, column)

    def damaged(self, error: Exception) -> InputError:
        """The error for bytes that cannot be unpacked or read."""
        return self.fail(f"is damaged or cut short ({error}).")

    @contextmanager
    def guard(self, what: str = "") -> Iterator[None]:
        """Within it every error of a library that reads the file becomes an `InputError`.

        Parameters
        ----------
        what : str
            What the file was taken for.
        """
        try:
            yield
        except (InputError, ImportError, MemoryError):
            raise
        except Exception as error:  # libraries raise anything on a damaged file
            if isinstance(error, DAMAGES) and not what:
                raise self.damaged(error) from None
            found = " ".join(str(error).split())[:200] or type(error).__name__
            raise self.fail(f"cannot be read{what and ' as ' + what} ({found}).") from None

    def check_size(self, n_bytes: float, what: str) -> None:
        """Refuse what would unpack to far more than the file could honestly hold."""
        if n_bytes > HARMLESS and n_bytes > MOST_FOLD * self.size:
            raise self.fail(
                f"{what} would take {n_bytes / 2**30:.3g} GB, more than {MOST_FOLD} times the "
                f"{self.size} bytes of the file; expected a file without such a claim."
            )

    @contextmanager
    def unpacked(self) -> Iterator[Path]:
        """A path to the bytes as they are inside a gzip file."""
        if not self.packed:
            yield self.path
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "unpacked"
            with self.open() as file, path.open("wb") as out, self.guard():
                while block := file.read(1 << 20):
                    out.write(block)
                    self.check_size(out.tell(), "unpacked it")
            yield path


@contextmanager
def open_source(path: Any, verbose: int, n_jobs: int | None) -> Iterator[Source]:
    """The source of a path; "-" is the standard input, which is kept in a file meanwhile."""
    if str(path) == STDIN:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "stdin"
            with place.open("wb") as file:
                shutil.copyfileobj(getattr(sys.stdin, "buffer", io.BytesIO()), file)
            yield Source(place, "stdin", verbose, n_jobs)
        return
    place = Path(path)
    if not place.exists():
        raise InputError(path, "there is no such file or folder.")
    if not (place.is_dir() or place.is_file()):
        raise InputError(path, "expected a file or a folder; for a pipe give - (standard input).")
    source = Source(place, str(path), verbose, n_jobs)
    if not source.is_folder:
        try:
            empty = source.size == 0
            source.packed  # noqa: B018 - the first read shows whether it may be read
        except OSError as error:
            raise InputError(path, f"cannot be read ({error.strerror}).") from None
        if empty:
            raise InputError(path, "is empty; expected a matrix.")
    yield source
