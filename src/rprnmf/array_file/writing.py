"""To a file."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from rprnmf.array_file.layout import (
    ALIGNED,
    CHECKSUM,
    DTYPES,
    MAGIC,
    MOST_DIMENSIONS,
    MOST_HEADER,
    NAME,
    PREFIX,
    VERSION,
    padded,
)
from rprnmf.atomic_file import atomic_file


def write_arrays(
    path: Any, header: dict[str, Any], arrays: dict[str, np.ndarray], *, kind: str
) -> None:
    """Write a file that `read_arrays` gives back; a file that is there is replaced at once.

    Parameters
    ----------
    path : path-like
        In a folder that exists.
    header : dict
        Of what JSON can hold; no NaN or infinity.
    arrays : dict of ndarray
        Of bools, integers or floats. Names are of letters, digits and ``_ . -``. Arrays in
        Fortran order come back in Fortran order, all others in C order.
    kind : str
        What the file holds, such as "model".
    """
    stored = {name: _little_endian(name, array) for name, array in arrays.items()}
    listed = [
        {
            "name": name,
            "dtype": array.dtype.name,
            "shape": list(array.shape),
            "order": "C" if array.flags.c_contiguous else "F",
        }
        for name, array in stored.items()
    ]
    content = {"kind": kind, "header": header, "arrays": listed}
    text = json.dumps(content, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-(PREFIX.size + len(text)) % ALIGNED)
    if len(text) > MOST_HEADER:
        raise ValueError(
            f"the header of {path} would have {len(text)} bytes, at most {MOST_HEADER} are read; "
            "put long lists into arrays."
        )
    sizes = [array.nbytes for array in stored.values()]
    length = PREFIX.size + len(text) + sum(map(padded, sizes)) + CHECKSUM
    checksum = hashlib.sha256()
    with atomic_file(Path(path)) as part, part.open("wb") as file:

        def write(data: Any) -> None:
            checksum.update(data)
            file.write(data)

        write(PREFIX.pack(MAGIC, VERSION, len(text), length) + text)
        for array in stored.values():
            write(array.ravel(order="K").view(np.uint8).data)
            write(b"\0" * (padded(array.nbytes) - array.nbytes))
        file.write(checksum.digest())


def _little_endian(name: str, array: Any) -> np.ndarray:
    """As it is stored: contiguous, of an allowed dtype."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(f"an array's name is of letters, digits and _ . -, got {name!r}.")
    array = np.asarray(array)
    if array.dtype.name not in DTYPES or array.ndim > MOST_DIMENSIONS:
        raise TypeError(
            f"the array {name!r} cannot be written: it has {array.ndim} dimensions and the dtype "
            f"{array.dtype}, expected at most {MOST_DIMENSIONS} and one of {', '.join(DTYPES)}."
        )
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    found = np.asarray(array, DTYPES[array.dtype.name], order="F" if fortran else "C")
    return found.byteswap() if sys.byteorder == "big" else found
