"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file beside the wanted one to write to; it takes its place at the end, unless that fails.

    A reader never sees a part of it. It has the rights of the file that it replaces, else those
    of any new file.

    Parameters
    ----------
    path : Path
        In a folder that exists.
    """
    part = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        if path.exists():
            part.chmod(path.stat().st_mode)
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())  # not a name for nothing, should the power fail
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
