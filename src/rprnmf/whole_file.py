"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
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
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    os.close(handle)
    part = Path(name)
    try:
        part.chmod(path.stat().st_mode if path.exists() else 0o666 & ~_umask())
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _umask() -> int:
    """What a new file is not allowed; to read it is to set it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
