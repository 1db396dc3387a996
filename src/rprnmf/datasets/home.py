"""Where data sets lie, and how they get there.

A data set is looked for in the folder that is named, else in the one that the variable
RPRNMF_DATA names, else in ``~/rprnmf_data``. What is downloaded is brought into the form of a
prepared file and kept in the latter.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rprnmf.atomic_file import atomic_file

VARIABLE = "RPRNMF_DATA"
TIMEOUT = 30.0  # seconds without an answer
CHUNK = 1 << 16
BAR = 28  # characters


class DataError(OSError):
    """A data set cannot be used: what is there in its place is something else."""


class MissingDataError(DataError):
    """A data set is not there; the message says where it comes from and where to put it."""


@dataclass(frozen=True)
class Source:
    """A data set: the prepared file, and where it comes from.

    ``sha256`` is that of the official file, where it is known; ``digest`` is that of the arrays
    that matter, which is checked whatever file they came in.
    """

    title: str
    prepared: str
    url: str
    digest: str
    arrays: tuple[str, ...]
    terms: str = ""  # of its owner
    sha256: str | None = None
    beside: tuple[str, ...] = ()  # further prepared files

    @property
    def official(self) -> str:
        """The name of the official file."""
        return self.url.rsplit("/", 1)[1]


def get_data_home(data_home: Any = None) -> Path:
    """The folder where data sets are looked for first.

    It is the one given, that of RPRNMF_DATA, or ``~/rprnmf_data``. What is not in the second is
    looked for in the third, and downloaded to it: prepared files are only read.

    Parameters
    ----------
    data_home : path-like, default=None

    Examples
    --------
    >>> from rprnmf.datasets import get_data_home
    >>> get_data_home("some/folder").name
    'folder'
    """
    return folders(data_home)[0]


def folders(data_home: Any = None) -> list[Path]:
    """Where to look, first place first; the last one may be written to."""
    if data_home is not None:
        return [Path(data_home).expanduser()]
    named = os.environ.get(VARIABLE)
    return [*([Path(named).expanduser()] if named else []), Path.home() / "rprnmf_data"]


def locate(
    source: Source,
    convert: Callable[[Path, Path], None],
    data_home: Any = None,
    download_if_missing: bool = True,
) -> Path:
    """The folder that has a prepared data set; it is brought there if need be.

    Parameters
    ----------
    source : Source
    convert : callable
        ``convert(official, folder)`` writes the prepared files into a folder.
    data_home : path-like, default=None
    download_if_missing : bool, default=True
    """
    places = folders(data_home)
    for place in places:
        if place.exists() and not place.is_dir():
            raise MissingDataError(f"{source.title}: {place} is not a folder that could have it.")
    wanted = (source.prepared, *source.beside)
    for place in places:
        if all((place / name).exists() for name in wanted):
            try:
                check(source, place)
            except DataError as error:
                other = "" if data_home is not None else f", or set {VARIABLE} to another folder"
                raise DataError(f"{error}; remove it{other}.") from error
            return place
    home = places[-1]
    for place in places:
        if (place / source.official).exists():
            again = "remove it to download it again"
            prepare(source, place / source.official, home, convert, again)
            return home
    if not download_if_missing:
        raise MissingDataError(f"{missing(source, places, data_home)}.")
    try:
        official = download(source.url, home / source.official, source.sha256)
    except (OSError, http.client.HTTPException) as error:
        text = f"{missing(source, places, data_home)} ({reason(error)})."
        raise MissingDataError(text) from error
    try:
        prepare(source, official, home, convert, f"{source.url} sent it; it was not kept")
    except DataError:
        official.unlink()  # else the next call would find it
        raise
    return home


def missing(source: Source, places: list[Path], data_home: Any) -> str:
    """One sentence: what is missing, where to get it, where to put it."""
    looked = " or ".join(str(place) for place in places)
    names = (source.prepared, *source.beside)
    absent = [name for name in names if not any((place / name).exists() for place in places)]
    where = f"{', '.join(absent)} not in" if absent else f"{', '.join(names)} not together in"
    named = "" if data_home is not None else f"set {VARIABLE} to a folder that has it, or "
    return (
        f"{source.title} is missing ({where} {looked}): {named}put "
        f"{source.official} from {source.url} into {places[-1]}, to where it is downloaded if "
        "there is a network"
    )


def check(source: Source, folder: Path) -> None:
    """Refuse a prepared file that is not what it should be; what to do is for the caller to say."""
    path = folder / source.prepared
    try:
        with np.load(path) as data:
            found = digest(data[array] for array in source.arrays)
    except Exception as error:
        raise DataError(f"{path} cannot be read as {source.title} ({error})") from error
    if found != source.digest:
        raise DataError(
            f"{path} is not {source.title}: the checksum of its content is {found}, expected "
            f"{source.digest}"
        )


def reason(error: BaseException) -> str:
    """Why a download failed."""
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    return f"download failed: {cause}"


def prepare(
    source: Source, official: Path, home: Path, convert: Callable[[Path, Path], None], advice: str
) -> None:
    """Turn an official file into prepared ones, of which the npz file comes last.

    ``advice`` is what the error says of a file that is something else.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home) as name:
            folder = Path(name)
            convert_and_check(source, official, folder, convert, advice)
            for part in (*source.beside, source.prepared):
                os.replace(folder / part, home / part)
    except DataError:
        raise
    except OSError as error:
        raise DataError(f"{source.title} cannot be prepared in {home} ({error}).") from error


def convert_and_check(
    source: Source, official: Path, folder: Path, convert: Callable[[Path, Path], None], advice: str
) -> None:
    """Refuse an official file that is something else."""
    try:
        convert(official, folder)
    except Exception as error:
        raise DataError(
            f"{official} cannot be read as {source.title} ({error}); {advice}."
        ) from error
    try:
        check(source, folder)
    except DataError as error:
        raise DataError(
            f"{official} is not {source.title} as it should be ({error}); {advice}."
        ) from error


def digest(arrays: Iterable[np.ndarray]) -> str:
    """SHA-256 of the shapes and values of arrays of whole numbers, as 32-bit ones in C order."""
    found = hashlib.sha256()
    for array in arrays:
        if array.dtype.kind not in "iu":
            raise ValueError(f"whole numbers are expected, found {array.dtype}")
        found.update(repr(array.shape).encode())
        found.update(np.ascontiguousarray(array, dtype="<i4").tobytes())
    return found.hexdigest()


def download(url: str, path: Path, sha256: str | None = None) -> Path:
    """Download a file; it is there completely and with the right checksum, or not at all.

    Parameters
    ----------
    url : str
    path : path-like
        Where to put it.
    sha256 : str, default=None
        The checksum it must have.
    """
    request = urllib.request.Request(url, headers={"User-Agent": "rprnmf"})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        path.parent.mkdir(parents=True, exist_ok=True)  # not where there is no answer
        length = answer.headers.get("Content-Length") or ""
        expected = int(length) if length.isdecimal() else 0
        with atomic_file(path) as part:
            summed, size = hashlib.sha256(), 0
            with part.open("wb") as file:
                for chunk in shown(answer, expected, path.name):
                    file.write(chunk)
                    summed.update(chunk)
                    size += len(chunk)
            refuse(url, size, expected, summed.hexdigest(), sha256)
    return path


def refuse(url: str, size: int, expected: int, found: str, sha256: str | None) -> None:
    """What did not come whole, or is something else."""
    if expected and size != expected:
        raise OSError(f"{url} ended after {size} of {expected} bytes")
    if sha256 is not None and found != sha256:
        raise OSError(f"{url} has the checksum {found}, expected {sha256}; it was not kept")


def shown(answer: Any, expected: int, name: str) -> Iterator[bytes]:
    """The chunks of an answer, with a bar of progress on a terminal."""
    done, said = 0, -np.inf
    tell = sys.stderr.isatty()
    while chunk := answer.read(CHUNK):
        done += len(chunk)
        if tell and (done == expected or time.monotonic() - said > 0.2):
            said = time.monotonic()
            full = int(BAR * done / expected) if expected else 0
            bar = f"|{'#' * full}{'.' * (BAR - full)}| " if expected else ""
            share = f" of {expected / 1e6:.1f}" if expected else ""
            text = f"\r{name} {bar}{done / 1e6:.1f}{share} MB"
            print(text, end="", file=sys.stderr, flush=True)
        yield chunk
    if tell:
        print(file=sys.stderr)
