"""The arrays of a file, by number: each is put in once, and taken out once.

A file in which many values point to the same array could ask for much more memory than it has
bytes. So an array that was taken is gone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rprnmf.remote.shards import check_about, shards_as_dask, shards_of, write_shards

DEEPEST = 24  # values in values
FACTORS = ("float32", "float64")


class Pool:
    """Arrays beside a tree of values.

    Parameters
    ----------
    arrays : dict of ndarray, default=None
        Those of a file that is read.
    folder : Path, default=None
        For arrays whose rows lie in blocks: a file for each.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.persistence.pool import Pool
    >>> pool = Pool()
    >>> number = pool.put(np.arange(2))
    >>> pool.take(number, "int64")
    array([0, 1])
    >>> pool.take(number)
    Traceback (most recent call last):
        ...
    ValueError: there is no array 0, or it is used twice.
    """

    def __init__(self, arrays: dict[str, np.ndarray] | None = None, folder: Path | None = None):
        self.folder = folder
        self.shards: set[str] = set()  # their names
        self.arrays = {} if arrays is None else dict(arrays)

    def put(self, array: np.ndarray) -> int:
        """The number that the array is found by."""
        number = len(self.arrays)
        self.arrays[str(number)] = array
        return number

    def take(self, number: Any, dtype: str | None = None, n: int | None = None) -> np.ndarray:
        """An array; with ``dtype`` a list of these, with ``n`` so many."""
        if type(number) is not int or str(number) not in self.arrays:
            raise ValueError(f"there is no array {str(number)[:20]}, or it is used twice.")
        found = self.arrays.pop(str(number))
        if dtype is not None and (found.dtype.name != dtype or found.ndim != 1):
            raise ValueError(
                f"array {number} must be a list of {dtype}, but it has the dtype {found.dtype} and "
                f"the shape {found.shape}."
            )
        if n is not None and len(found) != n:
            raise ValueError(f"array {number} must have {n} entries, got {len(found)}.")
        return found

    def put_rows(self, array: Any, where: str) -> dict[str, Any]:
        """Write a Dask array, block by block; what it is found by."""
        if self.folder is None or array.dtype.name not in FACTORS:
            raise TypeError(f"{where} cannot be saved: it is a Dask array of {array.dtype}.")
        about = shards_of(array, self.folder)  # a model that is saved where it was loaded from
        if about is None:
            blocks = (np.asarray(array.blocks[number]) for number in range(array.numblocks[0]))
            about = write_shards(self.folder, blocks)
        self.shards.add(about["name"])
        return about

    def take_rows(self, about: Any) -> Any:
        """A Dask array that reads its blocks when they are used."""
        if self.folder is None:
            raise ValueError("rows in blocks cannot be here.")
        return shards_as_dask(self.folder, check_about(about))

    def check_empty(self) -> None:
        """Every array must have been used."""
        if self.arrays:
            raise ValueError(f"nothing uses its array {next(iter(self.arrays))}.")


def fields(node: Any, names: tuple[str, ...], what: str) -> list[Any]:
    """The values of a JSON object that must have these names and no others."""
    if not isinstance(node, dict) or set(node) != set(names):
        raise ValueError(f"{what} must have the parts {', '.join(names)}.")
    return [node[name] for name in names]


def parts_of(node: Any, n: int, what: str) -> list[Any]:
    """A JSON list that must have so many entries."""
    if not isinstance(node, list) or len(node) != n:
        raise ValueError(f"{what} must have {n} parts.")
    return node
