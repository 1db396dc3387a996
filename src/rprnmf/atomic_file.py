"""Files that are written whole or not at all, whatever happens meanwhile."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Write to the file beside it that this yields; it takes the place of ``path`` at the end.

    After an error ``path`` is as it was; a reader never sees a part of it. The new file has the
    permissions of the one that it replaces, or those of any new file. A symbolic link stays one:
    what it points to is replaced.

    Parameters
    ----------
    path : Path
        In a folder that exists.
    """
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; expected a file", str(path))
    part = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        if path.exists():
            part.chmod(path.stat().st_mode)
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())  # else a power failure could leave an empty file
        os.replace(part, path)
        if os.name == "posix":  # the new name too must be on disk
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        if error.errno and error.filename is None:  # a full disk does not say where
            error.filename = str(path)
        raise
    finally:
        part.unlink(missing_ok=True)
