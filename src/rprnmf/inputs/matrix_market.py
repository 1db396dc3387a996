"""Matrix Market: `.mtx`, dense or sparse."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import numpy as np

from rprnmf.inputs.arrays import check_claim, checked, size_text
from rprnmf.inputs.blocks import map_lines
from rprnmf.inputs.entries import Entries, sparse_from_entries
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.source import DAMAGES, Source
from rprnmf.inputs.text import number
from rprnmf.kernels.decimals import powers
from rprnmf.kernels.delimited import Form, coordinates, table

MAGIC = "%%matrixmarket"
FIELDS = ("real", "integer", "pattern", "double")
SHORTEST = {"coordinate": 4, "array": 2}  # bytes of an entry: "1 1\n" or "1\n"
DENSEST = 1100  # times that gzip can make a file smaller
MOST_DIGITS = 15  # of a size


class Header(NamedTuple):
    """What the first lines say, and where the entries begin."""

    sparse: bool
    pattern: bool  # entries have no value, they are 1
    symmetric: bool  # half of them is written
    shape: tuple[int, int]
    n_entries: int
    offset: int
    line: int  # of the first entry


def read_matrix_market(source: Source, options: Options) -> Matrix:
    """Read a Matrix Market file, in one pass.

    scipy's reader is not used: it writes beyond its array if a file has more numbers than it
    claims.
    """
    header = _read_header(source)
    X = _sparse(source, header) if header.sparse else _dense(source, header)
    X, missing = checked(source, X, "the matrix")
    return Matrix(X, None, None, missing, "mtx", f"{source.title}: {size_text(X)}.")


def _sparse(source: Source, header: Header) -> Any:
    blocks = _fast(source, header) or [_line_by_line(source, header, 2 + (not header.pattern))]
    _check_count(source, header, sum(len(block.values) for block in blocks))
    if header.symmetric:
        blocks += [mirrored(block) for block in blocks]
    return sparse_from_entries(blocks, header.shape, source.n_jobs, mean=False)[0]


def _fast(source: Source, header: Header) -> list[Entries] | None:
    """Entries, compiled; None if the file has something odd, which `_line_by_line` then finds."""
    role = np.array([*header.shape, not header.pattern], dtype=np.int64)
    form = Form(ord(" "), 1, ord("."), role, powers())
    kind = np.int32 if max(header.shape) < 2**31 else np.int64
    same = [np.arange(n, dtype=kind) for n in header.shape]
    blocks: list[Entries] = []

    def work(buffer: np.ndarray) -> tuple[int, Entries]:
        n_lines = int(np.count_nonzero(buffer == 10))
        rows, columns = np.empty(n_lines, dtype=kind), np.empty(n_lines, dtype=kind)
        values = np.empty(n_lines)
        n = coordinates(buffer, len(buffer), form, rows, columns, values)
        return n, Entries(rows[:n], columns[:n], values[:n], same[0], same[1])

    def after(buffer: np.ndarray, result: tuple[int, Entries]) -> bool:
        blocks.append(result[1])
        return result[0] >= 0

    return blocks if map_lines(source, header.offset, work, after) else None


def _check_count(source: Source, header: Header, found: int) -> None:
    if found != header.n_entries:
        raise source.fail(f"has {found} entries, expected the {header.n_entries} that it claims.")


def mirrored(block: Entries) -> Entries:
    """The other half of a symmetric matrix."""
    rows, columns = block.row_of[block.rows], block.column_of[block.columns]
    off = rows != columns
    rows, columns = rows[off], columns[off]
    top = int(max(rows.max(initial=0), columns.max(initial=0)))
    same = np.arange(top + 1)
    return Entries(columns, rows, block.values[off], same, same)


def _dense(source: Source, header: Header) -> np.ndarray:
    values = _fast_column(source, header)
    if values is None:
        values = _line_by_line(source, header, 1).values
    _check_count(source, header, len(values))
    if not header.symmetric:
        return values.reshape(header.shape, order="F")
    X = np.zeros(header.shape)
    columns, rows = np.triu_indices(header.shape[0])
    X[rows, columns] = X[columns, rows] = values
    return X


def _fast_column(source: Source, header: Header) -> np.ndarray | None:
    """The numbers of a dense matrix, compiled; None as in `_fast`."""
    form = Form(ord(" "), 1, ord("."), np.zeros(1, dtype=np.int64), powers())
    parts: list[np.ndarray] = []
    none = np.empty(0, dtype=np.int64)

    def work(buffer: np.ndarray) -> np.ndarray | None:
        values = np.empty((int(np.count_nonzero(buffer == 10)), 1))
        n = table(buffer, len(buffer), form, values, none, none)
        return values[:n, 0] if n >= 0 else None

    def after(buffer: np.ndarray, values: np.ndarray | None) -> bool:
        if values is None or sum(map(len, parts)) > header.n_entries:
            return False
        parts.append(values)
        return True

    finished = map_lines(source, header.offset, work, after)
    return np.concatenate(parts) if finished and parts else None


def _line_by_line(source: Source, header: Header, n_cells: int) -> Entries:
    """Any file; every error with its line."""
    places: tuple[list[int], list[int]] = ([], [])
    values: list[float] = []
    n_places = 2 if header.sparse else 0
    with source.open() as file:
        file.seek(header.offset)
        text = io.TextIOWrapper(file, encoding="latin-1")
        try:
            for line, words in enumerate(map(str.split, text), start=header.line):
                if not words:
                    continue
                if len(words) != n_cells:
                    raise source.fail(f"has {len(words)} numbers, expected {n_cells}.", line)
                for side in range(n_places):
                    places[side].append(_index(source, words[side], header.shape[side], line, side))
                value = 1.0 if n_places == n_cells else number(words[-1])
                if value is None:
                    raise source.fail(f"expected a number, found {words[-1][:60]!r}.", line)
                if value < 0 or value == np.inf:
                    raise source.fail(
                        f"expected a number of at least 0, found {words[-1][:60]!r}.", line
                    )
                values.append(value)
                if len(values) > header.n_entries:
                    raise source.fail(f"expected the end after {header.n_entries} entries.", line)
        except DAMAGES as error:
            raise source.damaged(error) from None
    same = [np.arange(n) for n in header.shape] if header.sparse else [np.arange(0)] * 2
    rows, columns = (np.array(found, dtype=np.int64) for found in places)
    return Entries(rows, columns, np.array(values), same[0], same[1])


def _index(source: Source, word: str, n: int, line: int, side: int) -> int:
    if not (
        word.isdecimal() and word.isascii() and len(word) <= MOST_DIGITS and 1 <= int(word) <= n
    ):
        what = ("row", "column")[side]
        raise source.fail(f"expected a {what} of 1 to {n}, found {word[:60]!r}.", line)
    return int(word) - 1


def _read_header(source: Source) -> Header:
    """What the file claims must fit into its bytes, before there is space for it."""
    lines = source.head.split(b"\n")
    words = lines[0].decode("latin-1").lower().split()
    if len(words) < 5 or words[0] != MAGIC or words[1] != "matrix" or words[2] not in SHORTEST:
        found = lines[0][:60].decode("latin-1")
        raise source.fail(f"expected '%%MatrixMarket matrix ...', found {found!r}.", 1)
    layout, field, symmetry = words[2:5]
    if field not in FIELDS or symmetry not in ("general", "symmetric"):
        raise source.fail(
            f"is {field} and {symmetry}; expected real or integer, general or symmetric.", 1
        )
    shown = [k for k, text in enumerate(lines) if text.strip() and not text.startswith(b"%")]
    if not shown or shown[0] == len(lines) - 1:
        raise source.fail("expected a line with the size of the matrix, and entries.")
    line = shown[0] + 1
    sizes = lines[shown[0]].split()
    if len(sizes) != (3 if layout == "coordinate" else 2) or not all(
        word.isdigit() and len(word) <= MOST_DIGITS for word in sizes
    ):
        found = lines[shown[0]][:60].decode("latin-1")
        raise source.fail(f"expected rows, columns and entries, found {found!r}.", line)
    rows, columns = int(sizes[0]), int(sizes[1])
    symmetric = symmetry == "symmetric"
    if symmetric and rows != columns:
        raise source.fail(f"is symmetric, with {rows} rows and {columns} columns.", line)
    entries = rows * (rows + 1) // 2 if symmetric else rows * columns
    entries = int(sizes[2]) if layout == "coordinate" else entries
    if entries * SHORTEST[layout] > source.size * (DENSEST if source.packed else 1) + 4:
        raise source.fail(
            f"claims {entries} entries, which its {source.size} bytes cannot hold.", line
        )
    sparse = layout == "coordinate"
    if sparse:
        check_claim(source, (rows, columns), entries, "the matrix")
    offset = sum(len(text) + 1 for text in lines[:line])
    return Header(sparse, field == "pattern", symmetric, (rows, columns), entries, offset, line + 1)
