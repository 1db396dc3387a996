"""Files about the rows or columns of X: labels, graphs, tables of features.

They speak of a row by its name; if X has no names, by its position, counted from 0. A file without
names has one row per row of X, in the same order.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from rprnmf.cli.choices import GRAPHS
from rprnmf.cli.tables import TextTable, read_table

LABEL = ("label", "class", "cluster")  # what a column of labels may be called
UNKNOWN = ("", "-1", "?", "nan", "none")


def places(names: Sequence[Any] | None, n: int) -> dict[str, int]:
    """The position of each row by what files call it."""
    known = range(n) if names is None else names
    return {str(name): place for place, name in enumerate(known)}


def label_column(table: TextTable, wanted: str | None = None) -> str:
    """The column with labels: as asked for, or called so, or the last."""
    if wanted is not None:
        table.column(wanted)
        return wanted
    called = [name for name in table.columns if name.lower() in LABEL]
    return called[0] if called else list(table.columns)[-1]


def labels_of(path: str, n: int, names: Sequence[Any] | None, wanted: str | None = None) -> Any:
    """One label for each of n rows (columns) of X; -1 where the file has none.

    Parameters
    ----------
    path : str
        CSV with a column of names, unless it has a row for each row of X, and one of labels.
    n : int
    names : sequence or None
        What the rows are called.
    wanted : str, default=None
        The column with labels.
    """
    table = read_table(path)
    column = label_column(table, wanted)
    labels = [None if text.strip().lower() in UNKNOWN else text for text in table.column(column)]
    called = table.names(None, [column])
    if called is None:
        if len(labels) != n:
            raise ValueError(
                f"{table.path} has {len(labels)} labels without names; X has {n}, so that names "
                "must say which are meant."
            )
        return [-1 if label is None else label for label in labels]
    place = places(names, n)
    found: list[Any] = [-1] * n
    for row, (name, label) in enumerate(zip(called, labels, strict=True), start=1):
        if name not in place:
            raise ValueError(
                f"{table.path}, row {row}: {name!r} is not one of the {n} names of X"
                + (" (it has none: positions from 0 are meant)." if names is None else ".")
            )
        if label is not None:
            found[place[name]] = label
    return found


def graph_of(given: str, matrix: Any, side: str) -> Any:
    """A name of a graph, or the weights of a file.

    The file is a square matrix, or a list of edges with the columns a, b and weight.
    """
    if given in GRAPHS:
        return given
    import numpy as np
    import scipy.sparse as sp

    from rprnmf.inputs import read_matrix

    found = read_matrix(given)
    n = matrix.X.shape[0 if side == "row" else 1]
    weights = sp.coo_array(found.X)
    if found.row_names is None or found.column_names is None:
        return weights.tocsr()  # the estimator checks its shape
    place = places(matrix.row_names if side == "row" else matrix.column_names, n)
    ends = []
    for names, index in zip((found.row_names, found.column_names), weights.coords, strict=True):
        unknown = [str(name) for name in names if str(name) not in place]
        if unknown:
            raise ValueError(f"{given}: {unknown[0]!r} is not one of the {n} {side} names of X.")
        ends.append(np.array([place[str(name)] for name in names], dtype=np.int64)[index])
    S = sp.csr_array((weights.data, tuple(ends)), shape=(n, n))
    return sp.csr_array(S.maximum(S.T))


def prior_of(given: Sequence[str], matrix: Any, side: str) -> Any:
    """What is said of a prior, as the parameter of an estimator."""
    parts = [
        None
        if each == "none"
        else each
        if each in ("auto", "mean", "data")
        else table_of(each, matrix, side)
        for each in given
    ]
    return parts[0] if len(parts) == 1 else parts


def table_of(path: str, matrix: Any, side: str) -> Any:
    """A table of features with one row per row (column) of X, as a DataFrame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            f'{path}: tables of features need pandas: pip install "rprnmf[data]".'
        ) from error
    n = matrix.X.shape[0 if side == "row" else 1]
    names = matrix.row_names if side == "row" else matrix.column_names
    table = read_table(path)
    place = places(names, n)
    columns = dict(table.columns)
    for name, values in table.columns.items():  # the first column that names the rows
        if set(place) <= set(values) and len(set(values)) == len(values):
            order = {value: row for row, value in enumerate(values)}
            rows = [order[key] for key in place]
            del columns[name]
            break
    else:
        if len(table) != n:
            raise ValueError(
                f"{path} must have a row for each of the {n} {side}s of X, in their order or with "
                f"a column of their names; found {len(table)} rows, and no such column."
            )
        rows = list(range(n))
    found = {name: numbers([values[row] for row in rows]) for name, values in columns.items()}
    return pd.DataFrame({name: found[name] for name in telling(found, path)})


def telling(columns: dict[str, list[Any]], path: str) -> list[str]:
    """The columns that can say something: not texts that are another one in every row."""
    kept = []
    for name, values in columns.items():
        text = not all(isinstance(value, float) for value in values)
        if text and len(values) > 1 and len(set(values)) == len(values):
            warnings.warn(
                f"{path}: the column {name!r} differs in every row and was left out.", stacklevel=2
            )
        else:
            kept.append(name)
    if not kept:
        raise ValueError(f"{path} has no column that could be a feature.")
    return kept


def numbers(cells: list[str]) -> list[Any]:
    """A column as numbers if all cells are, empty ones not known; else as text."""
    try:
        return [float(cell) if cell.strip() else float("nan") for cell in cells]
    except ValueError:
        return [cell if cell.strip() else None for cell in cells]
