"""Rows in files: one file for each block, in a folder beside the file that names them."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rprnmf.array_file import FileFormatError, read_arrays, write_arrays

KIND = "rows"


def folder_of(path: Any) -> Path:
    """The folder for the shards of a file."""
    path = Path(path)
    return path.with_name(path.name + ".rows")


def write_shards(folder: Path, blocks: Iterable[np.ndarray]) -> dict[str, Any]:
    """Write blocks one after the other; what `read_shard` must be told of them."""
    folder.mkdir(exist_ok=True)
    name, sizes = uuid.uuid4().hex, []
    width: tuple[int, ...] = ()
    dtype = ""
    for number, block in enumerate(blocks):
        at = {"shards": name, "number": number}
        write_arrays(folder / f"{name}-{number:06d}", at, {"rows": block}, kind=KIND)
        sizes.append(len(block))
        width, dtype = block.shape[1:], block.dtype.name
    return {"name": name, "sizes": sizes, "width": list(width), "dtype": dtype}


def read_shard(folder: Path, about: dict[str, Any], number: int) -> np.ndarray:
    """One block."""
    path = folder / f"{about['name']}-{number:06d}"
    header, arrays = read_arrays(path, kind=KIND)
    rows = arrays.get("rows")
    expected = (about["sizes"][number], *about["width"])
    if (
        header != {"shards": about["name"], "number": number}
        or rows is None
        or (rows.shape, rows.dtype.name) != (expected, about["dtype"])
    ):
        raise FileFormatError(f"{path} does not hold the rows that the file beside it names.")
    return rows


def check_about(about: Any) -> dict[str, Any]:
    """What a file says of its shards, checked."""
    match about:
        case {"name": str(name), "sizes": list(sizes), "width": list(width), "dtype": str(dtype)}:
            numbers = [*sizes, *width]
            plain = len(name) == 32 and all(c in "0123456789abcdef" for c in name)
            whole = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers)
            if plain and whole and sizes and dtype in ("float32", "float64"):
                return {"name": name, "sizes": sizes, "width": width, "dtype": dtype}
    raise FileFormatError(f"what it says of its rows is not in order: {str(about)[:80]}.")


def shards_of(array: Any, folder: Path) -> dict[str, Any] | None:
    """What is said of the shards in a folder that a Dask array reads, if it does so."""
    task = array.dask.get((array.name,) + (0,) * array.ndim)
    if type(task) is not tuple or task[:2] != (read_shard, folder.absolute()):
        return None
    about: dict[str, Any] = task[2]
    paths = (folder / f"{about['name']}-{number:06d}" for number in range(len(about["sizes"])))
    return about if all(path.exists() for path in paths) else None


def remove_shards(folder: Path, kept: set[str]) -> None:
    """Remove the files of shards that nothing names any more."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.name.partition("-")[0] not in kept and len(path.name) == 39:
            path.unlink(missing_ok=True)
    if not kept and not any(folder.iterdir()):
        folder.rmdir()


def shards_as_dask(folder: Path, about: dict[str, Any]) -> Any:
    """A Dask array that reads its blocks when they are used."""
    from rprnmf.remote.placing import require_dask

    require_dask("the rows of this model lie in files of their own, and to read them")
    import dask.array as da

    name, rest = f"shards-{about['name']}", (0,) * len(about["width"])
    folder = folder.absolute()
    graph = {
        (name, number, *rest): (read_shard, folder, about, number)
        for number in range(len(about["sizes"]))
    }
    chunks = (tuple(about["sizes"]), *((width,) for width in about["width"]))
    return da.Array(graph, name, chunks=chunks, dtype=np.dtype(about["dtype"]))
