"""A table of numbers: one line per row, with or without names."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from rprnmf.inputs.blocks import map_lines
from rprnmf.inputs.layout import Layout
from rprnmf.inputs.matrix import Matrix
from rprnmf.inputs.names import as_names
from rprnmf.inputs.source import Source
from rprnmf.inputs.text import FALLBACK, Sample, all_rows, number, with_fallback
from rprnmf.kernels.decimals import powers
from rprnmf.kernels.delimited import Form
from rprnmf.kernels.delimited import table as parse_table

Found = tuple[np.ndarray, Any, str]  # X, names of rows or None, encoding


def read_table(source: Source, sample: Sample, layout: Layout) -> Matrix:
    """Read a table of numbers from a text file."""
    found = _fast(source, sample, layout) or _general(source, sample, layout)
    X, names, encoding = found
    rows = None if names is None else as_names(names)
    columns = None
    if layout.header is not None:
        columns = as_names([layout.header[k] for k in layout.roles])
    missing = bool(np.isnan(X).any())
    note = f"{source.title}: a table of {X.shape[0]} rows x {X.shape[1]} columns"
    note += ", no header" if layout.header is None else ", with a header"
    if layout.index is not None:
        label = layout.label(layout.index)
        where = f"column {label}" if isinstance(label, int) else repr(label)
        note += f", names of rows in {where}"
    if sample.decimal == ",":
        note += ", decimal commas"
    if missing:
        note += f", {int(np.isnan(X).sum())} entries are missing"
    if encoding == FALLBACK:
        note += ", read as Latin-1 since it is not UTF-8"
    return Matrix(X, rows, columns, "nan" if missing else None, "csv", note + ".")


def _fast(source: Source, sample: Sample, layout: Layout) -> Found | None:
    """Compiled; None if the file has something odd, which the general reader then finds."""
    offset = sample.offset(layout.first)
    if offset is None:
        return None
    role = np.full(layout.n_cells, -1, dtype=np.int64)
    role[list(layout.roles)] = np.arange(len(layout.roles))
    if layout.index is not None:
        role[layout.index] = -2
    delimiter = sample.delimiter.encode()
    form = Form(delimiter[0], len(delimiter), ord(sample.decimal), role, powers())
    named = layout.index is not None
    parts: list[np.ndarray] = []
    names: list[bytes] = []

    def work(buffer: np.ndarray) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
        n_lines = int(np.count_nonzero(buffer == 10))
        out = np.empty((min(n_lines, 1 + len(buffer) // layout.n_cells), len(layout.roles)))
        begin = np.empty(n_lines if named else 0, dtype=np.int64)
        length = np.empty(n_lines if named else 0, dtype=np.int64)
        return parse_table(buffer, len(buffer), form, out, begin, length), out, begin, length

    def after(buffer: np.ndarray, result: Any) -> bool:
        n, out, begin, length = result
        if n < 0:
            return False
        parts.append(out[:n])
        if named:
            data = buffer.tobytes()
            places = zip(begin[:n].tolist(), length[:n].tolist(), strict=True)
            names.extend(data[b : b + size] for b, size in places)
        return True

    if not map_lines(source, offset, work, after) or not parts:
        return None
    X = np.concatenate(parts) if len(parts) > 1 else parts[0]
    if not named:
        return X, None, sample.encoding
    return with_fallback(
        source, sample.encoding, lambda code: (X, [name.decode(code) for name in names], code)
    )


def _general(source: Source, sample: Sample, layout: Layout) -> Found:
    """Any CSV file, cell by cell; every error with its line."""
    return with_fallback(
        source, sample.encoding, lambda name: _cell_by_cell(source, sample, layout, name)
    )


def _cell_by_cell(source: Source, sample: Sample, layout: Layout, encoding: str) -> Found:
    values = array("d")
    names: list[str] = []
    for n, (line, row) in enumerate(all_rows(source, sample, encoding)):
        if n < layout.first:
            continue
        if len(row) != layout.n_cells:
            raise source.fail(f"has {len(row)} cells, expected {layout.n_cells}.", line)
        if layout.index is not None:
            name = row[layout.index].strip()
            if not name:
                label = layout.label(layout.index)
                raise source.fail("expected the name of the row, found nothing.", line, label)
            names.append(name)
        for place in layout.roles:
            value = number(row[place], sample.decimal)
            if value is None or value < 0 or value == np.inf:
                raise _odd_cell(source, line, layout, place, row[place])
            values.append(value)
    if not values:
        raise source.fail("has no rows; expected at least one.")
    X = np.frombuffer(values, dtype=np.float64).reshape(-1, len(layout.roles))
    return X, names if layout.index is not None else None, encoding


def _odd_cell(source: Source, line: int, layout: Layout, place: int, found: str) -> Exception:
    hint = ""
    if number(found) is None:
        hint = " Leave columns of text out (drop), or name the one with texts or row names."
    found = found if len(found) < 60 else found[:57] + "..."
    return source.fail(
        f"expected a number of at least 0, found {found!r}.{hint}", line, layout.label(place)
    )
