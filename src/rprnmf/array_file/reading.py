"""From a file that nobody vouches for."""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import sys
from typing import Any, BinaryIO

import numpy as np

from rprnmf.array_file.layout import (
    CHECKSUM,
    DEEPEST,
    DTYPES,
    MAGIC,
    MOST_HEADER,
    NAME,
    PREFIX,
    VERSION,
    FileFormatError,
    n_entries,
    padded,
)


def read_arrays(
    path: Any, *, kind: str | tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `write_arrays` wrote.

    Parameters
    ----------
    path : path-like
    kind : str or tuple of str
        What the file must hold; of several, one.

    Returns
    -------
    header : dict
    arrays : dict of ndarray

    Raises
    ------
    FileFormatError
        For every file that is not as it was written.
    OSError
        If there is no such file, or the system cannot read it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from rprnmf.array_file import read_arrays, write_arrays
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "means")
    ...     write_arrays(path, {"of": "rows"}, {"means": np.arange(3)}, kind="example")
    ...     read_arrays(path, kind="example")
    ({'of': 'rows'}, {'means': array([0, 1, 2])})
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would wait for ever
        raise FileFormatError(f"{path} is not a file, but a folder or a device.")
    with open(path, "rb") as file:
        try:
            return _read(file, (kind,) if isinstance(kind, str) else kind)
        except FileFormatError as error:
            raise FileFormatError(f"{path} cannot be read: {error}") from error.__cause__


def _read(file: BinaryIO, kinds: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    length = os.fstat(file.fileno()).st_size
    text_length = _check_prefix(file.read(PREFIX.size), length)
    _check_checksum(file, length)
    file.seek(PREFIX.size)
    content = _parsed(_exactly(file, text_length))
    if not isinstance(content, dict) or set(content) != {"kind", "header", "arrays"}:
        raise FileFormatError("its header must have the parts kind, header and arrays.")
    if content["kind"] not in kinds:
        found = str(content["kind"])[:40]
        raise FileFormatError(f"it holds {found!r}, expected {' or '.join(map(repr, kinds))}.")
    if not isinstance(content["header"], dict) or not isinstance(content["arrays"], list):
        raise FileFormatError("its header must be an object, and its arrays a list.")
    listed = _check_list(content["arrays"])
    size = sum(padded(nbytes) for _, _, _, nbytes in listed.values())
    expected = PREFIX.size + text_length + size + CHECKSUM
    if expected != length:
        raise FileFormatError(f"its arrays make a file of {expected} bytes, found {length}.")
    arrays = {}
    for name, (dtype, shape, order, nbytes) in listed.items():
        arrays[name] = _array(file, dtype, shape, order)
        if file.read(padded(nbytes) - nbytes).strip(b"\0"):
            raise FileFormatError(f"there are bytes after the array {name!r}, expected zeros.")
    return content["header"], arrays


def _check_prefix(prefix: bytes, length: int) -> int:
    """The length of the header, if the beginning of the file is in order."""
    if not prefix.startswith(MAGIC):
        raise FileFormatError("it is not an rprnmf file, or was changed at its beginning.")
    if len(prefix) < PREFIX.size:
        raise FileFormatError(f"it is cut short after {len(prefix)} bytes.")
    _, version, text_length, stated = PREFIX.unpack(prefix)
    if version != VERSION:
        raise FileFormatError(
            f"it has the format version {version}, this rprnmf reads version {VERSION}; "
            "a newer rprnmf may read it."
        )
    if stated != length:
        how = "cut short" if length < stated else "followed by something else"
        raise FileFormatError(f"{stated} bytes were written, found {length}: it is {how}.")
    if text_length > min(MOST_HEADER, length - PREFIX.size - CHECKSUM):
        raise FileFormatError(f"its header cannot have {text_length} bytes.")
    return text_length


def _check_checksum(file: BinaryIO, length: int) -> None:
    file.seek(0)
    checksum, left = hashlib.sha256(), length - CHECKSUM
    while left:
        part = _exactly(file, min(left, 1 << 20))
        checksum.update(part)
        left -= len(part)
    if _exactly(file, CHECKSUM) != checksum.digest():
        raise FileFormatError("its checksum is wrong: it was changed since it was written.")


def _exactly(file: BinaryIO, n: int) -> bytes:
    found = file.read(n)
    if len(found) < n:
        raise FileFormatError("it became shorter while it was read.")
    return found


def _parsed(text: bytes) -> Any:
    """JSON without repeated keys, NaN or numbers out of range."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a key occurs twice")
        return found

    def number(digits: str) -> float:
        if not math.isfinite(float(digits)):
            raise ValueError(f"{digits[:40]} is not a finite number")
        return float(digits)

    try:
        found = json.loads(
            text.decode(), object_pairs_hook=unique, parse_float=number, parse_constant=number
        )
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise FileFormatError(f"its header is not in order: {why}.") from None
    _check_depth(found)
    return found


def _check_depth(content: Any) -> None:
    """A header that readers can walk with functions that call themselves."""
    level = [content] if isinstance(content, dict | list) else []
    for _ in range(DEEPEST):
        parts = [each.values() if isinstance(each, dict) else each for each in level]
        level = [part for each in parts for part in each if isinstance(part, dict | list)]
        if not level:
            return
    raise FileFormatError(f"its header is not in order: nested more than {DEEPEST} deep.")


Listed = tuple[np.dtype, tuple[int, ...], Any, int]


def _check_list(listed: list[Any]) -> dict[str, Listed]:
    """dtype, shape, order and number of bytes of each array."""
    found: dict[str, Listed] = {}
    for number, entry in enumerate(listed):
        if not isinstance(entry, dict) or set(entry) != {"name", "dtype", "shape", "order"}:
            raise FileFormatError(f"array {number} must have a name, dtype, shape and order.")
        name, dtype, shape, order = (entry[key] for key in ("name", "dtype", "shape", "order"))
        if not isinstance(name, str) or not NAME.fullmatch(name) or name in found:
            raise FileFormatError(f"array {number} has no name of its own: {str(name)[:40]!r}.")
        if not isinstance(dtype, str) or dtype not in DTYPES:
            raise FileFormatError(
                f"the array {name!r} has the dtype {str(dtype)[:40]!r}, expected one of "
                f"{', '.join(DTYPES)}."
            )
        if order not in ("C", "F"):
            raise FileFormatError(f"the order of the array {name!r} must be 'C' or 'F'.")
        nbytes = n_entries(shape) * DTYPES[dtype].itemsize
        found[name] = DTYPES[dtype], tuple(shape), order, nbytes
    return found


def _array(file: BinaryIO, dtype: np.dtype, shape: tuple[int, ...], order: Any) -> np.ndarray:
    array = np.empty(shape, dtype, order=order)
    raw = array.ravel(order="K").view(np.uint8)
    if file.readinto(raw.data) < raw.size:  # type: ignore[attr-defined]
        raise FileFormatError("it became shorter while it was read.")
    if dtype.kind == "b" and raw.max(initial=0) > 1:
        raise FileFormatError("an array of bools has other values than 0 and 1.")
    return array.byteswap(inplace=True) if sys.byteorder == "big" else array
