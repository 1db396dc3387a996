"""Whether two values are the same to the last bit, memory order included."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp


def bits(value: Any) -> Any:
    """Something that is equal for values that are the same."""
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return kind, value.shape, [bits(item) for item in value.ravel()]
        order = value.flags.f_contiguous and not value.flags.c_contiguous
        return kind, str(value.dtype), value.shape, order, value.tobytes()
    if isinstance(value, np.generic):
        return kind, str(value.dtype), value.tobytes()
    if sp.issparse(value):
        parts = (value.row, value.col) if value.format == "coo" else (value.indices, value.indptr)
        return kind, value.shape, [bits(part) for part in (value.data, *parts)]
    if isinstance(value, pd.DataFrame | pd.Series | pd.Index):
        return frame_bits(value)
    if isinstance(value, np.random.RandomState):
        return kind, bits(value.get_state())
    if isinstance(value, dict):
        return kind, [(bits(key), bits(part)) for key, part in value.items()]
    if isinstance(value, set | frozenset):
        return kind, sorted(map(repr, value))
    if isinstance(value, list | tuple):
        return kind, [bits(part) for part in value]
    if isinstance(value, float) and math.isnan(value):
        return kind, "nan"
    if hasattr(value, "_serialize"):  # requests of metadata
        return kind, bits(value._serialize())
    if type(value).__module__.startswith("rprnmf"):
        return kind, bits(vars(value))
    return kind, repr(value)


def frame_bits(value: Any) -> Any:
    """Labels, dtypes and values."""
    if isinstance(value, pd.Index):
        return type(value).__name__, bits(list(value.names)), str(value.dtype), bits(list(value))
    if isinstance(value, pd.Series):
        return bits(value.index), str(value.dtype), repr(value.dtype), bits(value.tolist())
    columns = [bits(value.iloc[:, place]) for place in range(value.shape[1])]
    return bits(value.columns), bits(value.index), columns
