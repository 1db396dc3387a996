"""Points in time: numpy's and pandas', as whole numbers of their unit."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from rprnmf.persistence.pool import Pool

TIMES = ("datetime64", "timedelta64")
UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns")
#: Europe/Berlin, Etc/GMT+2, UTC+02:00. Other spellings pandas takes for files
ZONE = re.compile(
    r"(?!dateutil|tzlocal)[A-Za-z][A-Za-z0-9_+\-]*(/[A-Za-z0-9_+\-]+){0,2}"
    r"|UTC[+\-][0-9]{2}:[0-9]{2}"
)
MISSING = {"NaTType": "NaT", "NAType": "NA"}


def time_unit(dtype: np.dtype) -> str | None:
    """ "ns", "D", ...; None for a unit that cannot be saved, such as 10 days."""
    unit, count = np.datetime_data(dtype)
    return unit if unit in UNITS and count == 1 else None


def timestamp_kind(value: Any) -> str | None:
    """The column of a pandas Timestamp, Timedelta, NaT or NA; None for all else."""
    kind = type(value)
    if kind.__module__.partition(".")[0] != "pandas":
        return None
    if kind.__name__ in MISSING:
        return f"pandas_missing[{MISSING[kind.__name__]}]"
    if kind.__name__ == "Timedelta":
        return f"timedelta[{value.unit}]"
    if kind.__name__ != "Timestamp":
        return None
    if value.tzinfo is None:
        return f"timestamp[{value.unit}]"
    zone = str(value.tz)
    return f"timestamp[{value.unit},{zone}]" if ZONE.fullmatch(zone) else None


def pack_times(values: list[Any], unit: str, pool: Pool) -> int:
    """numpy times as int64."""
    return pool.put(np.array(values).view(np.int64))


def unpack_times(name: str) -> Callable[[Any, str, int, Pool], list[Any]]:
    """For ``datetime64`` or ``timedelta64``."""
    return lambda column, unit, n, pool: list(
        pool.take(column, "int64", n).view(time_dtype(name, unit))
    )


def time_dtype(name: Any, unit: Any) -> np.dtype:
    """The dtype of these two."""
    if name not in TIMES or unit not in UNITS:
        raise ValueError(f"times of the kind {str(name)[:20]}[{str(unit)[:20]}] are not known.")
    return np.dtype(f"{name}[{unit}]")


def pack_timestamps(values: list[Any], argument: str, pool: Pool) -> int:
    """pandas times as int64, those with a zone in UTC."""
    if "," in argument:
        values = [value.tz_convert("UTC").tz_localize(None) for value in values]
    return pool.put(np.array([value.asm8 for value in values]).view(np.int64))


def unpack_timestamps(column: Any, argument: str, n: int, pool: Pool) -> list[Any]:
    """pandas times again."""
    unit, comma, zone = argument.partition(",")
    pd = pandas("times of pandas")
    times = pool.take(column, "int64", n).view(time_dtype("datetime64", unit))
    found = [pd.Timestamp(time) for time in times]
    return [in_zone(time, zone) for time in found] if comma else found


def in_zone(times: Any, zone: Any) -> Any:
    """Times of UTC, with their zone."""
    if not isinstance(zone, str) or not ZONE.fullmatch(zone):
        raise ValueError(f"the time zone {str(zone)[:40]!r} is not known.")
    try:
        return times.tz_localize("UTC").tz_convert(zone)
    except (KeyError, OSError) as error:  # zoneinfo's error is a KeyError
        raise ValueError(f"the time zone {zone!r} is not known here.") from error


def unpack_timedeltas(column: Any, unit: str, n: int, pool: Pool) -> list[Any]:
    """Spans of pandas again."""
    times = pool.take(column, "int64", n).view(time_dtype("timedelta64", unit))
    pd = pandas("times of pandas")
    return [pd.Timedelta(time) for time in times]


def pandas_missing(name: str) -> Any:
    """pandas' NaT or NA."""
    if name not in MISSING.values():
        raise ValueError(f"values of the kind {name[:40]!r} are not known.")
    return getattr(pandas("a missing value of pandas"), name)


def pandas(what: str) -> Any:
    """The package, which is needed for a part of a file."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            f'the file holds {what}, which need pandas: pip install "rprnmf[data]".'
        ) from error
    return pd
