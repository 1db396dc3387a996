"""`read_blocks`: one matrix from files whose rows are read when they are used, as a Dask array."""

from __future__ import annotations

import glob
import os
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.inputs.errors import InputError, need
from rprnmf.inputs.formats import FORMATS, detect
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.names import first_repeated
from rprnmf.inputs.reading import read_matrix
from rprnmf.inputs.rows import Rows, is_zarr, whole_file
from rprnmf.inputs.source import STDIN, open_source

BYTES = 1 << 26  # of a block
LEAST = 1000  # rows of a block
PARTS = 16  # that work is shared out in, if blocks may be smaller
KINDS = {".pq": ".parquet", ".tsv": ".csv"}  # suffixes of one kind
SHARDS = (".parquet", ".npz", ".npy", ".csv", ".zarr")


def read_blocks(
    paths: Any,
    *,
    rows: int | None = None,
    format: str | None = None,  # noqa: A002 - as in read_matrix
    options: Options | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Matrix:
    """Open files as one matrix in blocks of whole rows, which are read when they are used.

    Zarr arrays, .npy (mapped into memory), Parquet and .npz files are opened: only their shapes,
    names and first rows are read. Other files have no such list of contents and are read through
    once, if there are several of them, to count their rows. One file that has no parts is read at
    once, as by `read_matrix`, and cut. Numbers in single precision stay so in files that are
    opened. Files must be found under the same paths where the blocks are used.

    Parameters
    ----------
    paths : path-like or list of path-like
        Zarr arrays, files, patterns as ``folder/*.parquet``, or folders with files of one kind, in
        the order of their names. The rows of one come after those of the other.
    rows : int, default=None
        Rows of a block. Zarr arrays and Parquet files are cut between their chunks and row groups
        only, .npz files not at all. None: blocks of up to 64 MB, at least 16 where they have a
        thousand rows.
    format : str, default=None
        As in `read_matrix`.
    options : Options, default=None
        As in `read_matrix`.
    n_jobs : int, default=None
        Threads that read what is read here.
    verbose : int, default=0
        1: show a bar.

    Returns
    -------
    matrix : Matrix
        ``X`` is a Dask array; sparse blocks are CSR arrays.

    Raises
    ------
    InputError
        If a file is not as expected, or not like the first one: it says which, what was expected
        and what was found. What is wrong inside shows when it is read.
    ImportError
        Without Dask.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from rprnmf.inputs import read_blocks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for number in range(3):
    ...         np.save(pathlib.Path(folder) / f"part-{number}.npy", np.full((4, 2), number))
    ...     found = read_blocks(folder + "/*.npy")
    ...     total = float(found.X.sum())
    >>> found.X.chunks, total
    (((4, 4, 4), (2,)), 24.0)
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}.")
    if rows is not None and rows < 1:
        raise ValueError(f"rows must be at least 1, got {rows}.")
    options = options or Options()
    files = expanded(paths)
    need("dask.array", files[0], "Dask", "dask")
    several = len(files) > 1
    if several and STDIN in files:
        raise InputError("stdin", "cannot be one of several files; give it alone.")
    if several and options.transpose:
        raise InputError(files[0], "rows of several files cannot be transposed; give one file.")
    opened: list[Rows | None] = [None]  # standard input is read once
    if files != [STDIN]:
        opened = [open_rows(path, format, options, several) for path in files]
    first, *others = opened
    if first is None or (not several and (first.whole or options.transpose)):
        return cut(
            read_matrix(files[0], format=format, options=options, n_jobs=n_jobs, verbose=verbose),
            rows,
        )
    parts = [first]
    for part in others:
        assert part is not None
        check_alike(first, part)
        parts.append(part)
    names = names_of(parts) if options.names else None
    columns = first.column_names if options.names else None
    check_once(parts, columns, "column")
    X = assembled(parts, rows)
    missing = "nan" if any(part.missing == "nan" for part in parts) else None
    return Matrix(X, names, columns, missing, first.format, note_of(files, X, first.sparse))


def expanded(paths: Any) -> list[str]:
    """The files that are meant, in order; a folder of texts or images is one of them."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise ValueError("paths must name at least one file, got none.")
    found: list[str] = []
    for path in (os.fspath(each) for each in given):
        if os.path.isdir(path) and not is_zarr(Path(path)):
            found += shards_in(path) or [path]
        elif path != STDIN and not os.path.exists(path) and glob.has_magic(path):
            matches = sorted(glob.glob(path, recursive=True))
            if not matches:
                raise InputError(path, "there is no file with such a name.")
            found += matches
        else:
            found.append(path)
    return found


def in_several(paths: Sequence[str]) -> bool:
    """Whether these are files that are to be taken as blocks of one matrix."""
    if len(paths) != 1 or (glob.has_magic(paths[0]) and not os.path.exists(paths[0])):
        return True
    path = Path(paths[0])
    return path.is_dir() and (is_zarr(path) or bool(shards_in(paths[0])))


def shards_in(folder: str) -> list[str]:
    """The files with rows below a folder, which must be of one kind; none: it has others."""
    found: list[str] = []
    for place, folders, files in os.walk(folder):
        arrays = [name for name in folders if is_zarr(Path(place, name))]
        folders[:] = sorted(n for n in folders if n not in arrays and not n.startswith((".", "_")))
        named = [name for name in [*files, *arrays] if not name.startswith((".", "_"))]
        found += [os.path.join(place, name) for name in sorted(named) if kind_of(name) in SHARDS]
    kinds = Counter(kind_of(path) for path in found)
    if len(kinds) > 1:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        raise InputError(
            folder,
            f"has files of several kinds ({counts}); expected one, or a pattern as "
            f"{os.path.join(folder, '*' + min(kinds))}.",
        )
    return found


def kind_of(path: str) -> str:
    """The suffix of a file, without that of gzip."""
    base = path.removesuffix(".gz")
    suffix = os.path.splitext(base)[1].lower()
    return KINDS.get(suffix, suffix)


def open_rows(path: str, kind: str | None, options: Options, several: bool) -> Rows | None:
    """The rows of a file; None if it is one that must be read at once."""
    with open_source(path, 0, None) as source:
        name = kind or detect(source)
        found = FORMATS[name].open(source, options) if name is not None else None
        if found is not None or not several:
            return found
        if name in ("ratings", "texts", "images"):
            raise source.fail(f"is {FORMATS[name].text}; {ROWS_WANTED}")
        matrix = read_matrix(path, format=kind, options=options)
        if matrix.format in ("ratings", "texts"):
            raise source.fail(f"has {FORMATS[matrix.format].text}; {ROWS_WANTED}")
        load = partial(whole_file, str(source.path.absolute()), source.name, kind, options)
        edges = np.array([0, matrix.X.shape[0]])
        return Rows(
            *(source.name, matrix.X.shape, matrix.X.dtype, load, edges, sp.issparse(matrix.X)),
            *(matrix.row_names, matrix.column_names, matrix.missing, matrix.format),
        )


ROWS_WANTED = (
    "expected rows of X, since several files are one matrix: give it alone, or write it as tables."
)


def check_alike(first: Rows, part: Rows) -> None:
    """The columns of a file must be those of the first one."""
    m, k = first.shape[1], part.shape[1]
    if k != m:
        raise InputError(part.name, f"expected {m} columns as in {first.name}, found {k}.")
    if first.sparse != part.sparse:
        words = ("dense", "sparse")
        raise InputError(
            part.name,
            f"expected {words[first.sparse]} rows as in {first.name}, "
            f"found {words[part.sparse]} ones.",
        )
    for side in ("row", "column"):
        one, other = (getattr(each, f"{side}_names") is not None for each in (first, part))
        if one != other:
            words = (f"no names of {side}s", f"names of {side}s")
            raise InputError(
                part.name, f"expected {words[one]} as in {first.name}, found {words[other]}."
            )
    if first.column_names is not None and part.column_names is not None:
        pairs = zip(first.column_names.tolist(), part.column_names.tolist(), strict=True)
        for place, (one, other) in enumerate(pairs):
            if one != other:
                raise InputError(
                    part.name,
                    f"expected the columns of {first.name} in their order: column {place + 1} is "
                    f"{one!r} there, found {other!r}.",
                )


def names_of(parts: list[Rows]) -> np.ndarray | None:
    """The names of all rows, each once; numbers if all are."""
    if parts[0].row_names is None:
        return None
    found = [part.row_names for part in parts if part.row_names is not None]
    if any(names.dtype == object for names in found):
        found = [names if names.dtype == object else names.astype(str) for names in found]
        found = [names.astype(object) for names in found]
    names = np.concatenate(found)
    check_once(parts, names, "row")
    return names


def check_once(parts: list[Rows], names: np.ndarray | None, side: str) -> None:
    """Every name must occur once."""
    repeated = first_repeated(names)
    if repeated is None:
        return
    name, one, other = repeated
    where = [parts[0], parts[0]]
    if side == "row":
        ends = np.cumsum([part.shape[0] for part in parts])
        where = [parts[int(np.searchsorted(ends, place, side="right"))] for place in (one, other)]
    files = where[0].name if where[0] is where[1] else f"{where[0].name} and {where[1].name}"
    raise InputError(
        files,
        f"the {side} name {name!r} occurs twice, at {side}s {one + 1} and {other + 1} of all; "
        "expected every name once, or the option names=False to leave them out.",
    )


def rows_of_block(n_rows: int, bytes_of_row: float) -> int:
    """How many rows a block has if nobody says so."""
    largest = max(int(BYTES / max(bytes_of_row, 1e-9)), 1)
    return min(max(-(-n_rows // PARTS), LEAST), largest)


def cuts(part: Rows, rows: int) -> list[tuple[int, int]]:
    """The blocks of a file: so many rows, or as many as lie together."""
    n = part.shape[0]
    if part.edges is None:
        marks = [*range(0, n, rows), n]
        return list(pairwise(marks))
    found, begin = [0], 0
    for edge, following in pairwise(part.edges.tolist()[1:]):
        if following - begin > rows:
            found.append(edge)
            begin = edge
    return list(pairwise([*found, n]))


def assembled(parts: list[Rows], rows: int | None) -> Any:
    """The Dask array of all rows."""
    total = sum(part.shape[0] for part in parts)
    bytes_of_row = 0.0 if parts[0].sparse else parts[0].shape[1] * parts[0].dtype.itemsize
    wanted = rows or rows_of_block(total, bytes_of_row)
    dtype = np.result_type(*(part.dtype for part in parts))
    tasks, sizes = [], []
    for part in parts:
        for start, stop in cuts(part, wanted):
            tasks.append((load_block, part.load, start, stop, (part.name, part.shape[1]), dtype))
            sizes.append(stop - start)
    return dask_array(tasks, sizes, parts[0].shape[1], dtype, parts[0].sparse)


def dask_array(blocks: list[Any], sizes: list[int], m: int, dtype: Any, sparse: bool) -> Any:
    """A Dask array of blocks, or of the tasks that give them."""
    import dask.array as da

    name = f"rows-{uuid.uuid4().hex}"
    meta = sp.csr_array((0, m), dtype=dtype) if sparse else np.empty((0, m), dtype)
    graph = {(name, number, 0): block for number, block in enumerate(blocks)}
    return da.Array(graph, name, chunks=(tuple(sizes), (m,)), meta=meta, dtype=dtype)


def load_block(load: Any, start: int, stop: int, about: tuple[str, int], dtype: Any) -> Any:
    """Some rows, which must be as many as there were."""
    X = load(start, stop)
    if X.shape != (stop - start, about[1]):
        raise InputError(
            about[0], f"has changed: expected {stop - start} x {about[1]} entries, found {X.shape}."
        )
    return X.astype(dtype, copy=False)


def cut(matrix: Matrix, rows: int | None) -> Matrix:
    """A matrix that is here, in blocks."""
    X = matrix.X
    n, m = X.shape
    sparse = sp.issparse(X)
    n_bytes = 12 * X.nnz / n if sparse else X.nbytes / n
    wanted = rows or rows_of_block(n, n_bytes)
    edges = [*range(0, n, wanted), n]
    blocks = [X[a:b] for a, b in pairwise(edges)]
    found = dask_array(blocks, np.diff(edges).tolist(), m, X.dtype, sparse)
    return replace(matrix, X=found, note=f"{matrix.note[:-1]}, in {blocks_text(found)}.")


def blocks_text(X: Any) -> str:
    """How many blocks of how many rows."""
    sizes = X.chunks[0]
    if len(sizes) == 1:
        return "1 block"
    least, most = min(sizes), max(sizes)
    return f"{len(sizes)} blocks of {most if least == most else f'{least} to {most}'} rows"


def note_of(files: list[str], X: Any, sparse: bool) -> str:
    """What was understood."""
    title = os.path.basename(files[0].rstrip("/\\"))
    if len(files) > 1:
        title = f"{len(files)} files ({title}, ...)"
    kind = "sparse " if sparse else ""
    return f"{title}: {X.shape[0]} {kind}rows x {X.shape[1]} columns, in {blocks_text(X)}."
