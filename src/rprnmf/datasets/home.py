"""Where data sets lie, and how they get there.

A data set is looked for in the folder that is named, else in the one that the variable
RPRNMF_DATA names, else in ``~/rprnmf_data``. What is downloaded is turned into prepared files,
which are kept in the last of these.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rprnmf.datasets.download import download

VARIABLE = "RPRNMF_DATA"
Convert = Callable[[Path, Path], None]  # from the official file to prepared ones in a folder


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
    terms: str = ""  # its owner's
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
    """The folders to look in, in this order; downloads go to the last one."""
    if data_home is not None:
        return [Path(data_home).expanduser()]
    named = os.environ.get(VARIABLE)
    return [*([Path(named).expanduser()] if named else []), Path.home() / "rprnmf_data"]


def locate(
    source: Source,
    convert: Convert,
    data_home: Any = None,
    download_if_missing: bool = True,
) -> Path:
    """The folder that has a prepared data set, which is downloaded and prepared if need be.

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
    except (OSError, ImportError) as error:
        text = f"{missing(source, places, data_home)} (download failed: {error})."
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
    """Refuse a prepared file that is not what it should be; the caller adds what to do."""
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


def prepare(source: Source, official: Path, home: Path, convert: Convert, advice: str) -> None:
    """Turn an official file into prepared ones, of which the npz file comes last.

    ``advice`` is what the error says about a file that is something else.
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
    source: Source, official: Path, folder: Path, convert: Convert, advice: str
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
