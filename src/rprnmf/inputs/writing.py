"""`write_matrix`: factors and labels to a file, with names, whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.atomic_file import atomic_file
from rprnmf.inputs.errors import need

BLOCK = 1 << 12  # rows at a time
GROUP = 1 << 20  # rows of a row group
AT_ONCE = 16  # blocks of a Dask array that are computed together
INDEX = "name"  # the column with the names of rows
DELIMITER = {".csv": ",", ".tsv": "\t"}
NAMES = ("row_names", "column_names")


def write_matrix(path: Any, array: Any, row_names: Any = None, column_names: Any = None) -> None:
    """Write a matrix, or a list of labels, so that `read_matrix` finds the same with its names.

    The file appears whole or not at all. Numbers keep all their digits. Only a text file whose
    column names are all numbers, without names of rows, must be read with
    ``Options(header=True)``.

    Parameters
    ----------
    path : path-like
        Its suffix says how: .csv, .tsv, .csv.gz, .tsv.gz, .npy (no names), .npz or .parquet.
    array : ndarray, sparse or dask array, of shape (n_rows, n_columns) or (n_rows,)
        Numbers; in text files and Parquet files texts too, as labels may be. Of a Dask array, cut
        by rows, some blocks at a time are in memory.
    row_names, column_names : list, default=None
        One name per row (column).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from rprnmf.inputs import read_matrix, write_matrix
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "W.csv"
    ...     write_matrix(path, np.eye(2), ["Ann", "Bob"], ["taste 1", "taste 2"])
    ...     print(path.read_text())
    ...     read_matrix(path).row_names.tolist()
    name,taste 1,taste 2
    Ann,1.0,0.0
    Bob,0.0,1.0
    <BLANKLINE>
    ['Ann', 'Bob']
    """
    place = Path(path)
    suffix = place.suffix.lower()
    packed = suffix == ".gz"
    if packed:
        suffix = Path(place.stem).suffix.lower()
    if suffix not in WRITERS or (packed and suffix not in DELIMITER):
        expected = ", ".join([*WRITERS, *(f"{text}.gz" for text in DELIMITER)])
        raise ValueError(f"{path}: the suffix must be one of {expected}, got {place.suffix!r}.")
    if not (sp.issparse(array) or _is_dask(array)):
        array = np.asarray(array)
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise ValueError(f"{path}: expected a matrix or a list, got shape {array.shape}.")
    if array.dtype.kind not in "biufUO":
        raise ValueError(f"{path}: expected numbers or texts, got {array.dtype}.")
    names = [
        _checked_names(path, names, n, what)
        for names, n, what in zip((row_names, column_names), array.shape, NAMES, strict=True)
    ]
    with atomic_file(place) as part:
        WRITERS[suffix](part, array, names, suffix + (".gz" if packed else ""))


def _checked_names(path: Any, names: Any, n: int, what: str) -> list | None:
    if names is None:
        return None
    found = names.tolist() if isinstance(names, np.ndarray) else list(names)
    if len(found) != n:
        raise ValueError(f"{path}: {what} has {len(found)} names, expected {n}.")
    return found


def _is_dask(array: Any) -> bool:
    return hasattr(array, "__dask_graph__")


def _row_blocks(array: Any, size: int) -> Iterator[tuple[int, Any]]:
    """Blocks of whole rows with the number of their first row."""
    if not _is_dask(array):
        for start in range(0, max(_n_rows(array), 1), size):
            yield start, array[start : start + size]
        return
    import dask

    array, start = array.rechunk({1: -1}), 0
    for first in range(0, array.numblocks[0], AT_ONCE):
        last = min(first + AT_ONCE, array.numblocks[0])
        for block in dask.compute(*(array.blocks[number] for number in range(first, last))):
            yield start, block
            start += block.shape[0]


def _n_rows(array: Any) -> int:
    """The number of rows."""
    return int(array.shape[0])


def _write_text(path: Path, array: Any, names: list, suffix: str) -> None:
    opener: Any = gzip.open if suffix.endswith(".gz") else open
    with opener(path, "wb") as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=DELIMITER[suffix[:4]], lineterminator="\n")
        rows, columns = names
        corner = [] if rows is None else [INDEX]
        if columns is not None:
            writer.writerow([*corner, *columns])
        elif rows is not None:
            writer.writerow([*corner, *(f"column {k + 1}" for k in range(array.shape[1]))])
        for start, block in _row_blocks(array, BLOCK):
            cells = (block.toarray() if sp.issparse(block) else block).tolist()
            if rows is not None:
                cells = [[rows[start + k], *row] for k, row in enumerate(cells)]
            writer.writerows(cells)


def _write_npy(path: Path, array: Any, names: list, suffix: str) -> None:
    if names != [None, None]:
        raise ValueError("an .npy file has no place for names; write .npz, .csv or .parquet.")
    with path.open("wb") as file:
        _stream(file, _numbers(array, suffix))


def _stream(file: Any, array: Any) -> None:
    """An array in the format .npy, block by block."""
    if not _is_dask(array):
        np.lib.format.write_array(file, array, allow_pickle=False)
        return
    descr = np.lib.format.dtype_to_descr(array.dtype)
    about = {"descr": descr, "fortran_order": False, "shape": array.shape}
    np.lib.format.write_array_header_1_0(file, about)
    for _, block in _row_blocks(array, BLOCK):
        file.write(np.ascontiguousarray(block, dtype=array.dtype).tobytes())


def _write_npz(path: Path, array: Any, names: list, suffix: str) -> None:
    found = {n: _name_array(known) for n, known in zip(NAMES, names, strict=True) if known}
    if sp.issparse(array):
        X = array.tocsr()
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        parts |= {"shape": np.array(X.shape), "format": np.array(b"csr")}
    else:
        parts = {"X": _numbers(array, suffix)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in {**parts, **found}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                _stream(file, part)


def _name_array(names: list) -> np.ndarray:
    array = np.asarray(names)
    return array if array.dtype.kind in "iu" else np.array([str(name) for name in names])


def _numbers(array: Any, suffix: str) -> np.ndarray:
    if sp.issparse(array) or array.dtype.kind not in "biuf":
        raise ValueError(f"a {suffix} file takes dense numbers, got {array.dtype}; write .csv.")
    return array


def _write_parquet(path: Path, array: Any, names: list, suffix: str) -> None:
    arrow = need("pyarrow", path, "pyarrow", "data")
    parquet = need("pyarrow.parquet", path, "pyarrow", "data")
    rows, columns = names
    columns = [f"column {k + 1}" for k in range(array.shape[1])] if columns is None else columns
    labels = [*([] if rows is None else [INDEX]), *map(str, columns)]
    writer = None
    try:
        for start, block in _row_blocks(array, GROUP):
            found = [] if rows is None else [arrow.array(rows[start : start + _n_rows(block)])]
            for k in range(block.shape[1]):
                column = block[:, [k]].toarray().ravel() if sp.issparse(block) else block[:, k]
                found.append(arrow.array(column.tolist() if column.dtype.kind in "UO" else column))
            table = arrow.Table.from_arrays(found, names=labels)
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


WRITERS: dict[str, Callable[[Path, Any, list, str], None]] = {
    ".csv": _write_text,
    ".tsv": _write_text,
    ".npy": _write_npy,
    ".npz": _write_npz,
    ".parquet": _write_parquet,
}
