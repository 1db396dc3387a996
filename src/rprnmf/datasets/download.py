"""Downloads: complete and right, or not there."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from rprnmf.atomic_file import atomic_file

TIMEOUT = 30.0  # seconds without an answer
CHUNK = 1 << 16  # bytes


def download(url: str, path: Path, sha256: str | None = None) -> Path:
    """Download a file; it is there completely and with the right checksum, or not at all.

    On a terminal a bar shows how far it is, if tqdm is installed.

    Parameters
    ----------
    url : str
    path : Path
        Where to put it. Its folder is made if there is an answer.
    sha256 : str, default=None
        The checksum it must have.
    """
    try:
        import pooch
    except ImportError as error:
        raise ImportError("downloads need pooch: pip install 'rprnmf[data]'") from error

    shown = sys.stderr.isatty() and find_spec("tqdm") is not None
    fetch = pooch.HTTPDownloader(
        progressbar=shown, chunk_size=CHUNK, timeout=TIMEOUT, headers={"User-Agent": "rprnmf"}
    )
    with tempfile.TemporaryFile() as file:
        if shown:
            print(f"{url} -> {path}", file=sys.stderr)
        try:
            fetch(url, file, None)
        except ValueError as error:  # a header that is no number, an address that is none
            raise OSError(f"{url} cannot be downloaded ({error})") from error
        file.seek(0)
        found = hashlib.file_digest(file, "sha256").hexdigest()
        if sha256 not in (None, found):
            raise OSError(f"{url} has the checksum {found}, expected {sha256}; it was not kept")
        path.parent.mkdir(parents=True, exist_ok=True)
        file.seek(0)
        with atomic_file(path) as part, part.open("wb") as copy:
            shutil.copyfileobj(file, copy)
    return path
