"""Many small values, such as names, as a few arrays: one column per type.

A million names would be a huge header. So values are sorted by type, and those of a type are one
array: numbers as they are, text as UTF-8 bytes and where each ends, lists as their lengths and all
their entries. Types are told by exact class: a name that was a number does not come back as text.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np

from rprnmf.array_file.layout import DTYPES
from rprnmf.persistence.pool import DEEPEST, Pool, fields
from rprnmf.persistence.texts import pack_bytes, pack_text, unpack_bytes, unpack_text
from rprnmf.persistence.times import (
    TIMES,
    pack_times,
    pack_timestamps,
    pandas,
    pandas_missing,
    time_unit,
    timestamp_kind,
    unpack_timedeltas,
    unpack_times,
    unpack_timestamps,
)

LARGEST = 1 << 63
SEQUENCES: dict[str, type] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
PLAIN: dict[type, str] = {
    type(None): "none",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    bytes: "bytes",
    np.str_: "numpy_str",
    np.bytes_: "numpy_bytes",
    date: "date",
    datetime: "datetime",
    **{kind: name for name, kind in SEQUENCES.items()},
}
EXPECTED = "text, bytes, numbers, bools, None, dates and times, and lists, tuples and sets of these"


def kind_of(value: Any) -> str | None:
    """The column that a value belongs to; None if it cannot be saved."""
    kind = PLAIN.get(type(value))
    if kind == "int" and not -LARGEST <= value < LARGEST:
        return "long_int"
    if kind == "datetime" and value.tzinfo is not None:
        return None
    if kind is not None:
        return kind
    if isinstance(value, np.datetime64 | np.timedelta64):
        unit = time_unit(value.dtype)
        return unit and f"{type(value).__name__}[{unit}]"
    if isinstance(value, np.generic) and type(value) is value.dtype.type:
        return f"numpy[{value.dtype.name}]" if value.dtype.name in DTYPES else None
    if type(value).__module__.partition(".")[0] == "pandas" and type(value).__name__ == "Interval":
        return f"interval[{value.closed}]"
    return timestamp_kind(value)


def pack(values: list[Any], pool: Pool, where: str, depth: int = 0) -> dict[str, Any]:
    """The values as a node of the header and arrays in the pool.

    Raises
    ------
    TypeError
        For values that cannot be saved.
    """
    kinds = [kind_of(value) for value in values]
    if depth > DEEPEST:
        raise TypeError(f"{where} cannot be saved: it has more than {DEEPEST} lists in lists.")
    if None in kinds:
        place = kinds.index(None)
        raise TypeError(
            f"{where} cannot be saved: entry {place} is of the type "
            f"{type(values[place]).__name__}; {EXPECTED} can be saved."
        )
    present = list(dict.fromkeys(kinds))
    node: dict[str, Any] = {"n": len(values), "kinds": present, "codes": None, "columns": []}
    if len(present) > 1:
        number = {kind: code for code, kind in enumerate(present)}
        codes = np.array([number[kind] for kind in kinds], dtype=np.int16)
        node["codes"] = pool.put(codes)
    for kind in present:
        part = values if len(present) == 1 else _of_kind(values, kinds, kind)
        name, argument = _split(kind)
        if name in SEQUENCES:
            lengths = pool.put(np.array([len(value) for value in part], dtype=np.int64))
            inner = pack([item for value in part for item in value], pool, where, depth + 1)
            node["columns"].append([lengths, inner])
        else:
            node["columns"].append(COLUMNS[name].pack(part, argument, pool))
    return node


def unpack(node: Any, pool: Pool, depth: int = 0) -> list[Any]:
    """The values of a node."""
    n, kinds, codes, columns = fields(node, ("n", "kinds", "codes", "columns"), "a list of values")
    if depth > DEEPEST:
        raise ValueError(f"there are more than {DEEPEST} lists in lists.")
    if type(n) is not int or n < 0 or not isinstance(kinds, list) or not isinstance(columns, list):
        raise ValueError("a list of values must have a length, kinds and columns.")
    if len(kinds) != len(columns) or (codes is None) != (len(kinds) < 2) or (n and not kinds):
        raise ValueError("a list of values must have one column per kind.")
    if codes is None:
        return _column(kinds[0], columns[0], n, pool, depth) if kinds else []
    places = pool.take(codes, "int16", n)
    if places.min(initial=0) < 0 or places.max(initial=0) >= len(kinds):
        raise ValueError("a list of values has entries of no kind.")
    both = zip(kinds, columns, np.bincount(places, minlength=len(kinds)).tolist(), strict=True)
    parts = [iter(_column(kind, column, size, pool, depth)) for kind, column, size in both]
    return [next(parts[code]) for code in places.tolist()]


def _column(kind: Any, column: Any, n: int, pool: Pool, depth: int) -> list[Any]:
    name, argument = _split(kind) if isinstance(kind, str) else ("", "")
    if name in SEQUENCES and not argument:
        if not isinstance(column, list) or len(column) != 2:
            raise ValueError(f"a column of {name}s must have lengths and entries.")
        lengths = pool.take(column[0], "int64", n)
        items = unpack(column[1], pool, depth + 1)
        # a sum could overflow: a length is held to the number of entries first
        if ((lengths < 0) | (lengths > len(items))).any() or sum(lengths.tolist()) != len(items):
            raise ValueError(f"the lengths of {name}s do not add up to {len(items)} entries.")
        ends = np.cumsum(lengths).tolist()
        both = zip([0, *ends], ends, strict=False)
        return [SEQUENCES[name](items[start:end]) for start, end in both]
    if name not in COLUMNS:
        raise ValueError(f"values of the kind {str(kind)[:40]!r} are not known.")
    found = COLUMNS[name].unpack(column, argument, n, pool)
    if len(found) != n:
        raise ValueError(f"a column must have {n} values, got {len(found)}.")
    return found


def _of_kind(values: list[Any], kinds: list[str | None], kind: str | None) -> list[Any]:
    return [value for value, its in zip(values, kinds, strict=True) if its == kind]


def _split(kind: str | None) -> tuple[str, str]:
    """datetime64[ns] -> datetime64, ns."""
    name, _, rest = (kind or "").partition("[")
    return name, rest.removesuffix("]")


class Column(NamedTuple):
    """How the values of one type are stored, and made again."""

    pack: Callable[[list[Any], str, Pool], Any]
    unpack: Callable[[Any, str, int, Pool], list[Any]]


def _numbers(dtype: str) -> Column:
    return Column(
        lambda values, _, pool: pool.put(np.array(values, dtype=dtype)),
        lambda column, _, n, pool: pool.take(column, dtype, n).tolist(),
    )


def _text(make: Callable[[str], Any], show: Callable[[Any], str] = str) -> Column:
    return Column(
        lambda values, _, pool: pack_text([show(value) for value in values], pool),
        lambda column, _, n, pool: [make(text) for text in unpack_text(column, n, pool)],
    )


def _bytes(make: Callable[[bytes], Any]) -> Column:
    return Column(
        lambda values, _, pool: pack_bytes(values, pool),
        lambda column, _, n, pool: [make(part) for part in unpack_bytes(column, n, pool)],
    )


def _pack_intervals(values: list[Any], closed: str, pool: Pool) -> dict[str, Any]:
    ends = [end for value in values for end in (value.left, value.right)]
    return pack(ends, pool, "the ends of intervals")


def _unpack_intervals(column: Any, closed: str, n: int, pool: Pool) -> list[Any]:
    ends, kind = unpack(column, pool), pandas("intervals of pandas").Interval
    return [kind(*both, closed=closed) for both in zip(ends[::2], ends[1::2], strict=True)]


def _unpack_numpy(column: Any, dtype: str, n: int, pool: Pool) -> list[Any]:
    if dtype not in DTYPES:
        raise ValueError(f"numbers of the kind {dtype[:40]!r} are not known.")
    return list(pool.take(column, dtype, n))


COLUMNS: dict[str, Column] = {
    # None has no array: so many Nones must not cost more memory than the file has bytes
    "none": Column(
        lambda values, _, pool: pool.put(np.zeros(len(values), dtype=np.uint8)),
        lambda column, _, n, pool: [None] * len(pool.take(column, "uint8", n)),
    ),
    "bool": _numbers("bool"),
    "int": _numbers("int64"),
    "float": _numbers("float64"),
    "long_int": _text(int),
    "str": _text(str),
    "numpy_str": _text(np.str_),
    "bytes": _bytes(bytes),
    "numpy_bytes": _bytes(np.bytes_),
    "date": _text(date.fromisoformat, date.isoformat),
    "datetime": _text(datetime.fromisoformat, datetime.isoformat),
    "numpy": Column(
        lambda values, dtype, pool: pool.put(np.array(values, dtype=dtype)), _unpack_numpy
    ),
    **{name: Column(pack_times, unpack_times(name)) for name in TIMES},
    "timestamp": Column(pack_timestamps, unpack_timestamps),
    "timedelta": Column(pack_timestamps, unpack_timedeltas),
    "interval": Column(_pack_intervals, _unpack_intervals),
    "pandas_missing": Column(
        lambda values, _, pool: pool.put(np.zeros(len(values), dtype=np.uint8)),
        lambda column, name, n, pool: [pandas_missing(name)] * len(pool.take(column, "uint8", n)),
    ),
}
