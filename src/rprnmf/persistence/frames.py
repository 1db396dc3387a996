"""DataFrames and Series of pandas, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.array_file.layout import DTYPES
from rprnmf.persistence.pool import fields, parts_of
from rprnmf.persistence.times import ZONE, in_zone, pandas

#: dtypes of pandas whose values are kept one by one
TYPED = (
    *("str", "string", "boolean", "Float32", "Float64"),
    *(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)),
)


def is_pandas(value: Any) -> bool:
    """Whether it is a DataFrame or a Series, without importing pandas."""
    kind = type(value)
    known = kind.__module__.partition(".")[0] == "pandas"
    return known and kind.__name__ in ("DataFrame", "Series")


def frame_node(frame: Any, writer: Any, where: str, depth: int) -> dict[str, Any]:
    """The parts of a DataFrame, or of a Series."""
    if type(frame).__name__ == "Series":
        columns, labels = [frame], None
        name = writer.node(frame.name, f"{where}.name", depth + 1)
    else:
        columns = [frame.iloc[:, place] for place in range(frame.shape[1])]
        labels, name = index_node(frame.columns, writer, f"{where}.columns", depth + 1), None
    return {
        "columns": labels,
        "index": index_node(frame.index, writer, f"{where}.index", depth + 1),
        "name": name,
        "data": [
            column_node(column, writer, f"{where}[{column.name!r}]", depth + 1)
            for column in columns
        ],
    }


def read_frame(node: Any, reader: Any, depth: int) -> Any:
    """A DataFrame or a Series."""
    pd = pandas("a table of pandas")
    labels, rows, name, data = fields(node, ("columns", "index", "name", "data"), "a table")
    if not isinstance(data, list):
        raise ValueError("the columns of a table must be a list.")
    index = read_index(rows, reader, depth + 1)
    columns = [read_column(column, reader, depth + 1) for column in data]
    if any(len(column) != len(index) for column in columns):
        raise ValueError(f"the columns of a table must have {len(index)} entries.")
    series = [pd.Series(column, index=index, dtype=column.dtype) for column in columns]
    if labels is None:
        if len(series) != 1:
            raise ValueError("a table without names must be one column.")
        return series[0].rename(reader.value(name, depth + 1))
    names = read_index(labels, reader, depth + 1)
    if len(names) != len(series):
        raise ValueError(f"a table must have names for {len(series)} columns, got {len(names)}.")
    frame = pd.DataFrame(dict(enumerate(series)), index=index)
    frame.columns = names
    return frame


def column_node(values: Any, writer: Any, where: str, depth: int) -> dict[str, Any]:
    """The values of a Series or an Index, with their dtype."""
    dtype, values = values.dtype, values.array
    if isinstance(dtype, np.dtype) and (dtype.kind in "mMO" or dtype.name in DTYPES):
        return {"type": None, "values": writer.node(values.to_numpy(), where, depth)}
    name = type(dtype).__name__
    if name == "CategoricalDtype":
        categories = index_node(values.categories, writer, f"{where}.categories", depth + 1)
        codes = writer.node(np.asarray(values.codes), where, depth)
        return {"type": "category", "values": [codes, categories, bool(values.ordered)]}
    if name == "DatetimeTZDtype" and ZONE.fullmatch(str(dtype.tz)):
        times = values.tz_convert("UTC").tz_localize(None).to_numpy()
        return {"type": "times", "values": [writer.node(times, where, depth), str(dtype.tz)]}
    if name == "IntervalDtype":
        items = writer.node([values.left.to_numpy(), values.right.to_numpy()], where, depth)
        return {"type": "intervals", "values": [items, values.closed]}
    if str(dtype) in TYPED:
        items = [
            None if missing else value
            for missing, value in zip(values.isna().tolist(), values.tolist(), strict=True)
        ]
        return {"type": str(dtype), "values": writer.node(items, where, depth)}
    raise TypeError(f"{where} cannot be saved: columns of the dtype {dtype} are not known.")


def read_column(node: Any, reader: Any, depth: int) -> Any:
    """The values of a column."""
    pd = pandas("a table of pandas")
    kind, inner = fields(node, ("type", "values"), "a column")
    if kind == "category":
        node, labels, ordered = parts_of(inner, 3, "a column of categories")
        codes, categories = reader.value(node, depth + 1), read_index(labels, reader, depth + 1)
        if type(codes) is not np.ndarray or codes.dtype.kind != "i" or type(ordered) is not bool:
            raise ValueError("a column of categories must have codes and an order.")
        return pd.Categorical.from_codes(codes, categories, ordered=ordered)
    if kind in ("times", "intervals"):
        node, argument = parts_of(inner, 2, "a column of times or intervals")
        values = reader.value(node, depth + 1)
        if kind == "times":
            return in_zone(pd.DatetimeIndex(values), argument).array
        left, right = parts_of(values, 2, "a column of intervals")
        return pd.arrays.IntervalArray.from_arrays(left, right, closed=argument)
    values = reader.value(inner, depth + 1)
    if kind is None and type(values) is np.ndarray and values.ndim == 1:
        return values
    if not isinstance(values, list):
        raise ValueError("the values of a column must be a list.")
    if kind not in TYPED:
        raise ValueError(f"columns of the kind {str(kind)[:40]!r} are not known.")
    dtype = pd.api.types.pandas_dtype(kind)
    if "Int" in kind:
        hold_whole_numbers(values, np.iinfo(dtype.numpy_dtype), kind)
    if isinstance(dtype, np.dtype):  # before pandas 3 there is no "str", and text is objects
        return np.fromiter(values, dtype=object, count=len(values))
    return pd.array(values, dtype=dtype)


def hold_whole_numbers(values: list[Any], limits: Any, kind: str) -> None:
    """Raise if a value is no whole number of the kind: pandas may let it overflow."""
    for value in values:
        if value is not None and (type(value) is not int or not limits.min <= value <= limits.max):
            raise ValueError(f"a column of the kind {kind} has the entry {str(value)[:40]}.")


def index_node(index: Any, writer: Any, where: str, depth: int) -> dict[str, Any]:
    """Labels of rows or columns."""
    kind = type(index).__name__
    names = writer.node(list(index.names), f"{where}.names", depth)
    if kind == "RangeIndex":
        return {"type": "range", "names": names, "values": [index.start, index.stop, index.step]}
    if kind == "MultiIndex":
        values: Any = writer.node(list(index), where, depth)
        return {"type": "multi", "names": names, "values": values}
    return {
        "type": "plain",
        "names": names,
        "values": column_node(index, writer, where, depth),
    }


def read_index(node: Any, reader: Any, depth: int) -> Any:
    """Labels of rows or columns."""
    pd = pandas("labels of pandas")
    kind, names, inner = fields(node, ("type", "names", "values"), "labels")
    names = reader.value(names, depth + 1)
    if not isinstance(names, list) or (kind != "multi" and len(names) != 1):
        raise ValueError("labels must have a name, or None.")
    if kind == "range":
        if not isinstance(inner, list) or len(inner) != 3 or any(type(n) is not int for n in inner):
            raise ValueError("a range of labels must have three whole numbers.")
        return pd.RangeIndex(*inner, name=names[0])
    if kind == "multi":
        values = reader.value(inner, depth + 1)
        if not isinstance(values, list) or any(
            type(value) is not tuple or len(value) != len(names) for value in values
        ):
            raise ValueError("labels of several levels must be tuples of one length.")
        return pd.MultiIndex.from_tuples(values, names=names)
    if kind != "plain":
        raise ValueError(f"labels of the kind {str(kind)[:40]!r} are not known.")
    values = read_column(inner, reader, depth + 1)
    return pd.Index(values, name=names[0], dtype=values.dtype)
