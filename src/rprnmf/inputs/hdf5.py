"""HDF5, which .h5ad files and new .mat files are, read with care.

A data set may claim any size without storing it, and may have its data in other files: both are
refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rprnmf.inputs.errors import need
from rprnmf.inputs.source import Source

MAGIC = b"\x89HDF\r\n\x1a\n"
EXTRA = "anndata"


@contextmanager
def open_hdf5(source: Source) -> Iterator[Any]:
    """The file, opened by h5py."""
    h5py = need("h5py", source.name, "h5py", EXTRA)
    with source.unpacked() as path:
        with source.guard("an HDF5 file"):
            file = h5py.File(path, "r")
        with file:
            yield file


def child(source: Source, group: Any, name: str) -> Any:
    """A member of a group that is in the same file; None if there is none."""
    h5py = need("h5py", source.name, "h5py", EXTRA)
    with source.guard("an HDF5 file"):
        if not isinstance(group, h5py.Group) or name not in group:
            return None
        link = group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            raise source.fail(f"{name!r} is a link; expected data in the file itself.")
        return group[name]


def is_group(thing: Any) -> bool:
    """Whether it is a group and not a data set."""
    return thing is not None and not hasattr(thing, "dtype")


def array(source: Source, data: Any, what: str) -> np.ndarray:
    """The numbers or texts of a data set."""
    if data is None or is_group(data):
        raise source.fail(f"has no data set {what!r}; expected one.")
    with source.guard("an HDF5 file"):
        if data.is_virtual or data.external:
            raise source.fail(f"{what!r} has its data in other files; expected them in this one.")
        size = data.size or 0
        stored = data.id.get_storage_size()
        source.check_size(size * max(data.dtype.itemsize, 1), repr(what))
        if size and not stored:
            raise source.fail(f"{what!r} claims {size} numbers and stores none.")
        if data.dtype.kind in "OS":
            return np.asarray(data.asstr()[()], dtype=object)
        return np.asarray(data[()])
