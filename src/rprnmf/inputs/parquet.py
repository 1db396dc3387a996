"""`.parquet`: a table of numbers, ratings in long form, or texts; columns with types."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rprnmf.inputs.arrays import checked
from rprnmf.inputs.entries import Entries
from rprnmf.inputs.errors import need
from rprnmf.inputs.layout import Layout, find_layout
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.names import as_names
from rprnmf.inputs.ratings import Found, to_matrix
from rprnmf.inputs.rows import Rows
from rprnmf.inputs.source import Source
from rprnmf.inputs.text import ROWS
from rprnmf.inputs.texts import count_words

MAGIC = b"PAR1"
EXTRA = "data"


def read_parquet(source: Source, options: Options, kind: str | None = None) -> Matrix:
    """Read a Parquet file.

    Parameters
    ----------
    source : Source
    options : Options
    kind : {"table", "ratings", "texts"} or None
        What its columns are; None: look.
    """
    parquet = need("pyarrow.parquet", source.name, "pyarrow", EXTRA)
    with source.unpacked() as path:
        with source.guard("a Parquet file"):
            file = parquet.ParquetFile(path)
            n_rows, n_columns = file.metadata.num_rows, file.metadata.num_columns
        if n_rows < 1 or n_columns < 1:
            raise source.fail(f"has {n_rows} rows and {n_columns} columns; expected at least one.")
        source.check_size(8 * n_rows * n_columns, "the table")
        with source.guard("a Parquet file"):
            table = file.read(use_threads=source.n_jobs != 1)
            table.validate(full=True)
    layout = find_layout(_as_text(table), ".", _with_index(table, options), kind, source.fail)
    if layout.kind == "ratings":
        return _ratings(source, table, layout)
    if layout.kind == "texts":
        names = None if layout.index is None else table.column(layout.index).to_pylist()
        with source.guard("a column of texts"):
            texts = [str(text or "") for text in table.column(layout.roles[0]).to_pylist()]
        return count_words(source, texts, names, options)
    return _table(source, table, layout)


def open_parquet(source: Source, options: Options, kind: str | None = None) -> Rows | None:
    """The rows of a table; blocks are whole row groups. None: it is no table of numbers."""
    parquet = need("pyarrow.parquet", source.name, "pyarrow", EXTRA)
    if source.packed:
        return None
    with source.guard("a Parquet file"), parquet.ParquetFile(source.path) as file:
        about = file.metadata
        sizes = [about.row_group(k).num_rows for k in range(about.num_row_groups)]
        if sum(sizes) < 1 or about.num_columns < 1:
            raise source.fail(
                f"has {sum(sizes)} rows and {about.num_columns} columns; expected at least one."
            )
        head = next(file.iter_batches(batch_size=ROWS, use_threads=False))
        table = need("pyarrow", source.name, "pyarrow", EXTRA).Table.from_batches([head])
        layout = find_layout(_as_text(table), ".", _with_index(table, options), kind, source.fail)
        if layout.kind != "table":
            return None
        kinds = [str(table.schema.field(place).type) for place in layout.roles]
        for place in layout.roles:
            _numbers(source, table, layout, place)
        names = None
        if layout.index is not None:
            column = file.read(columns=[table.column_names[layout.index]], use_threads=False)
            names = _names(source, column, replace(layout, header=column.column_names), 0)
    header = [(layout.header or [])[place] for place in layout.roles]
    single = all(each in ("float", "halffloat") for each in kinds)
    dtype = np.dtype(np.float32 if single else np.float64)
    edges = np.concatenate(([0], np.cumsum([size for size in sizes if size])))
    load = partial(_load, str(source.path.absolute()), source.name, layout, dtype)
    shape = int(edges[-1]), len(header)
    missing = None if all("int" in each or each == "bool" for each in kinds) else "nan"
    return Rows(
        *(source.name, shape, dtype, load, edges, False, names, as_names(header)),
        missing=missing,
        format="parquet",
    )


def _load(path: str, name: str, layout: Layout, dtype: Any, start: int, stop: int) -> np.ndarray:
    """Some row groups as numbers."""
    source = Source(Path(path), name)
    parquet = need("pyarrow.parquet", name, "pyarrow", EXTRA)
    with source.guard("a Parquet file"), parquet.ParquetFile(path) as file:
        about = file.metadata
        ends = np.cumsum([about.row_group(k).num_rows for k in range(about.num_row_groups)])
        wanted = np.flatnonzero((ends > start) & (ends <= stop)).tolist()
        header = layout.header or []
        columns = None
        if len(set(header)) == len(header):
            columns = [header[place] for place in layout.roles]
        table = file.read_row_groups(wanted, columns=columns, use_threads=False)
        table.validate(full=True)
    if columns is not None:
        layout = replace(layout, header=columns, roles=tuple(range(len(columns))))
    numbers = [_numbers(source, table, layout, place) for place in layout.roles]
    return checked(source, np.column_stack(numbers), "the table", dtype, start)[0]


def _as_text(table: Any) -> list[list[str]]:
    """Header and first rows as texts, to be looked at."""
    rows = table.slice(0, ROWS).to_pydict()
    columns = [["" if cell is None else str(cell) for cell in column] for column in rows.values()]
    if len(columns) != table.num_columns:  # a name occurs twice
        columns = [
            [
                "" if cell is None else str(cell)
                for cell in table.column(k).slice(0, ROWS).to_pylist()
            ]
            for k in range(table.num_columns)
        ]
    return [list(table.column_names), *map(list, zip(*columns, strict=True))]


def _with_index(table: Any, options: Options) -> Options:
    """The header is there, and pandas says which column has names."""
    index = options.index
    stated = (table.schema.metadata or {}).get(b"pandas")
    if index is None and stated:
        try:
            found = json.loads(stated).get("index_columns", [])
        except (ValueError, AttributeError):
            found = []
        if len(found) == 1 and isinstance(found[0], str) and found[0] in table.column_names:
            index = table.column_names.index(found[0])
    return replace(options, header=True, index=index)


def _numbers(source: Source, table: Any, layout: Layout, place: int) -> np.ndarray:
    """A column of numbers, with NaN where it has none."""
    column = table.column(place)
    if not _is_numeric(column.type):
        raise source.fail(
            f"holds {column.type}; expected numbers. Leave columns of text out (drop), or name "
            "the one with texts or row names.",
            column=layout.label(place),
        )
    with source.guard("a column of numbers"):
        return column.cast("float64").to_numpy(zero_copy_only=False)


def _is_numeric(kind: Any) -> bool:
    import pyarrow.types as types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)


def _table(source: Source, table: Any, layout: Layout) -> Matrix:
    columns = [_numbers(source, table, layout, place) for place in layout.roles]
    X, missing = checked(source, np.column_stack(columns), "the table")
    names = None
    note = f"{source.title}: a table of {X.shape[0]} rows x {X.shape[1]} columns"
    if layout.index is not None:
        names = _names(source, table, layout, layout.index)
        note += f", names of rows in {layout.label(layout.index)!r}"
    header = [(layout.header or [])[place] for place in layout.roles]
    return Matrix(X, names, as_names(header), missing, "parquet", note + ".")


def _names(source: Source, table: Any, layout: Layout, place: int) -> np.ndarray:
    column = table.column(place)
    if column.null_count:
        raise source.fail(
            "has rows without a name; expected one for each.", None, layout.label(place)
        )
    return as_names(column.to_pylist())


def _ratings(source: Source, table: Any, layout: Layout) -> Matrix:
    """Ratings in long form, their names coded by pyarrow."""
    names, codes = [], []
    for place in layout.roles[:2]:
        column = table.column(place)
        if column.null_count:
            raise source.fail("expected a name, found nothing.", None, layout.label(place))
        with source.guard("a column of names"):
            coded = column.combine_chunks().dictionary_encode()
            names.append(as_names(coded.dictionary.to_pylist()))
            codes.append(coded.indices.to_numpy(zero_copy_only=False).astype(np.int32))
    values = _numbers(source, table, layout, layout.roles[2])
    bad = ~(values >= 0) | np.isinf(values)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise source.fail(
            f"expected a rating, a number of at least 0, found {values[row]:g}.",
            row + 1,
            layout.label(layout.roles[2]),
        )
    same = [np.arange(len(known), dtype=np.int32) for known in names]
    block = Entries(codes[0], codes[1], values, *same)
    return to_matrix(source, Found([block], names, "utf-8"))
